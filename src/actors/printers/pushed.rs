//! What a printer pushes between two looks: how far its print is and how warm it is. Changes of state are only hints,
//! on which the watch looks.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{PrinterEffects, tell};
use crate::actors::kernel::handle::Handle;
use crate::domain::printer::{Printer, PrinterCommand};
use crate::domain::printer_status::{Activity, Connection, Status};
use crate::domain::time::Timestamp;
use crate::printers::connections::PrinterConnection;

/// How often what was pushed is taken over.
const TAKE_OVER_INTERVAL: Duration = Duration::from_secs(1);
/// While the push connection is open, only one of this many polls looks at the printer.
const POLLS_PER_LOOK: u32 = 10;

/// The pause until the next look at a printer that answered. A server without its printer pushes nothing of it. A start
/// that is not confirmed is looked for at every poll: what is pushed is no look, and the verdict on the start asks for
/// how long nobody looked.
pub(super) fn pause(of: &Handle<Printer>, connection: &PrinterConnection, poll: Duration) -> Duration {
    let connected = connection.status.borrow().connection == Connection::Connected;
    let awaited = of.read().state.as_ref().is_some_and(Printer::awaits_start);
    if connected && connection.adapter.push().open && !awaited { poll * POLLS_PER_LOOK } else { poll }
}

/// When the printer was heard last: in a look, or on its push connection.
pub(super) fn heard(connection: &PrinterConnection, looked: Instant) -> Instant {
    connection.adapter.push().heard.map_or(looked, |pushed| pushed.max(looked))
}

/// Takes over what is pushed. Returns when the push connection is open and has been silent for so long that the printer
/// must be looked at, to know in time whether it is offline.
pub(super) async fn take_over(with: &PrinterEffects, of: &Handle<Printer>, connection: &PrinterConnection) {
    let patience = with.settings.offline * 2 / 3;
    loop {
        sleep(TAKE_OVER_INTERVAL.min(patience)).await;
        if let Some(telemetry) = connection.adapter.telemetry()
            && !connection.is_stopping()
        {
            // In turn with the looks, so that the state of an older one is never told after a newer one.
            let _turn = connection.looking.lock().await;
            let now = with.environment.now();
            connection.pushed(now);
            connection.status.send_modify(|status| telemetry.update(status));
            let status = connection.status.borrow().clone();
            with.connections.temperatures.note(of.id(), now, &status.heaters);
            if of.read().state.as_ref().is_some_and(|printer| counts(printer, &status, now)) {
                tell(of, PrinterCommand::Seen(Box::new(status))).await;
            }
        }
        let push = connection.adapter.push();
        if push.open && push.heard.is_none_or(|heard| heard.elapsed() > patience) {
            return;
        }
    }
}

/// Whether the rules should hear of the progress of a print. Its state is that of the last look, which must not be
/// older than what the rules know of an emergency stop.
fn counts(printer: &Printer, status: &Status, now: Timestamp) -> bool {
    let on = matches!(status.state, Activity::Printing | Activity::Paused);
    on && printer.stopped_at.is_none_or(|at| status.updated_at > at || at > now) && printer.matters(status, now)
}
