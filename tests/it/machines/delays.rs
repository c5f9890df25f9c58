//! Delayed actions of printers: they happen when the test triggers them, however busy the machine is.

use simulator::faults::Delay;
use simulator::printer::Machine;

use super::Floor;
use crate::support::until;

/// Delay that lasts until [`Floor::end_delays`].
pub const HELD: Option<Delay> = Some(Delay { after_ms: 600_000 });

impl Floor {
    /// Waits until a start command has reached a printer that executes it later or never. On a busy machine the printer
    /// may already have executed it.
    pub async fn start_arrived(&self, printer: usize) {
        until("the start to arrive", || async {
            self.sim(printer).handle.with(|machine| machine.withheld_starts() > 0).then_some(())
        })
        .await;
    }

    /// Ends a printer's rest after a start without effect, as a person does after inspecting the printer.
    pub async fn end_rest(&self, printer: usize) {
        self.app.act(&self.path(printer, "/clear-attention")).await.expect(200);
    }

    /// Makes a printer execute now whatever its faults delay, and removes those faults.
    pub fn end_delays(&self, printer: usize) {
        self.faults(printer, |faults| (faults.start_late, faults.slow_commands) = (None, None));
        self.sim(printer).handle.with(Machine::end_delays);
    }
}
