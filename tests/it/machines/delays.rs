//! What printers put off: it happens when the test says so, however busy the machine is.

use simulator::faults::Delay;
use simulator::printer::Machine;

use super::Floor;
use crate::support::until;

/// As long as the test likes, until [`Floor::end_delays`].
pub const HELD: Option<Delay> = Some(Delay { after_ms: 600_000 });

impl Floor {
    /// Waits until a start has arrived at a printer that carries it out later or never. On a busy machine the printer
    /// may have carried it out before the test looks.
    pub async fn start_arrived(&self, printer: usize) {
        until("the start to arrive", || async {
            self.sim(printer).handle.with(|machine| machine.withheld_starts() > 0).then_some(())
        })
        .await;
    }

    /// Ends the rest of a printer after a start that came to nothing, as a person does who looked after it.
    pub async fn end_rest(&self, printer: usize) {
        self.app.act(&self.path(printer, "/clear-attention")).await.expect(200);
    }

    /// Lets a printer carry out now what its faults delay, and delay nothing any more.
    pub fn end_delays(&self, printer: usize) {
        self.faults(printer, |faults| (faults.start_late, faults.slow_commands) = (None, None));
        self.sim(printer).handle.with(Machine::end_delays);
    }
}
