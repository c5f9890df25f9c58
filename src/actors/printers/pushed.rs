//! Values that a printer pushes between polls: the progress and temperatures of its print. Pushed state changes are
//! only hints that trigger a poll.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::look::sight;
use super::{PrinterEffects, tell};
use domain::printer::{PollReasons, PollSettings, Printer, PrinterNews};
use domain::printer_status::{Activity, Connection, Status};
use domain::time::Timestamp;
use kernel::handle::Handle;
use printers::connections::PrinterConnection;

/// Time for which pushed values are collected before they are applied.
const TAKE_OVER_INTERVAL: Duration = Duration::from_secs(1);
/// Number of times that a silent push connection is checked before its silence calls for a poll.
const SILENCE_CHECKS: u32 = 4;
/// Maximum time for which a printer is polled often because its print is about to end, because some printers report the
/// last percent, or no remaining time, for hours.
const MAX_END_LOOKS: Duration = Duration::from_secs(300);

/// Tracker for how long the current print has been about to end or its end has been unknown.
#[derive(Default)]
struct EndTracker {
    since: Option<Instant>,
    /// `true` once the printer has reported that the print is about to end.
    is_end_near: bool,
}

impl EndTracker {
    /// Returns whether the reported end is so near that the printer should be polled often. Also returns `true` while
    /// the printer has not yet reported when a new print will end.
    fn near(&mut self, status: &Status, now: Instant) -> bool {
        let ends_soon = status.ends_soon();
        if !ends_soon && !status.is_new_print() {
            *self = Self::default();
            return false;
        }
        if ends_soon && !self.is_end_near {
            // For as long as the end was not known it may have been looked for already.
            *self = Self { since: Some(now), is_end_near: true };
        }
        now.duration_since(*self.since.get_or_insert(now)) < MAX_END_LOOKS
    }
}

/// Timer for polls of a responding printer.
#[derive(Default)]
pub(super) struct PollTimer {
    end: EndTracker,
    /// Time since which the printer has been at rest; `None` while it is in use.
    rests_since: Option<Instant>,
}

impl PollTimer {
    /// Returns the pause before the next poll.
    pub(super) fn pause(
        &mut self,
        with: &PrinterEffects,
        of: &Handle<Printer>,
        connection: &PrinterConnection,
    ) -> Duration {
        let (poll, offline) = (with.settings.poll, with.settings.offline);
        let (now, state) = (Instant::now(), of.read());
        let printer = state.state.as_ref();
        let status = connection.status.borrow();
        let rests = printer.is_some_and(|printer| printer.is_at_rest(&status));
        self.rests_since = rests.then(|| self.rests_since.unwrap_or(now));
        let reasons = PollReasons {
            // While the printer is disconnected from its own server, nothing is pushed.
            pushes: status.connection == Connection::Connected && connection.adapter.push().open,
            awaits_start: printer.is_some_and(Printer::awaits_start),
            ends: self.end.near(&status, now),
            rested: self.rests_since.map(|since| now.duration_since(since)),
        };
        drop(status);
        PollSettings { poll, offline }.interval(reasons, with.environment.chance())
    }
}

/// Returns when the printer last communicated, by responding to a poll or through the push connection.
pub(super) fn last_heard(connection: &PrinterConnection, looked: Instant) -> Instant {
    connection.adapter.push().last_heard.map_or(looked, |pushed| pushed.max(looked))
}

/// Applies pushed values. Returns when the push connection is open but has been silent for so long that the printer
/// must be polled to detect in time that it is offline.
pub(super) async fn take_over(with: &PrinterEffects, of: &Handle<Printer>, connection: &PrinterConnection) {
    let patience = with.settings.offline * 2 / 3;
    loop {
        tokio::select! {
            biased; // what was pushed comes before silence
            () = connection.adapter.telemetry_pushed() => sleep(TAKE_OVER_INTERVAL.min(patience)).await,
            () = sleep(patience / SILENCE_CHECKS) => {}
        }
        if let Some(telemetry) = connection.adapter.telemetry()
            && !connection.is_stopping()
        {
            // In turn with the looks, so that the state of an older one is never told after a newer one.
            let _turn = connection.looking.lock().await;
            let now = with.environment.now();
            connection.pushed(now);
            connection.status.send_if_modified(|status| {
                telemetry.update(status);
                // Nobody waits for the temperatures of a printer at rest.
                !status.is_at_rest()
            });
            let status = connection.status.borrow().clone();
            // Progress is pushed of a print that is on; when it ends a look follows.
            if telemetry.progress.is_some() {
                sight(connection, of.read().state.as_ref(), &status, Instant::now());
            }
            with.connections.temperatures.note(of.id(), now, &status.heaters);
            if of.read().state.as_ref().is_some_and(|printer| counts(printer, &status, now)) {
                tell(of, PrinterNews::Seen(Box::new(status))).await;
            }
        }
        let push = connection.adapter.push();
        if push.open && push.last_heard.is_none_or(|last_heard| last_heard.elapsed() > patience) {
            return;
        }
    }
}

/// Returns whether to pass the pushed progress of a print to the rules. The state is taken from the last poll, which
/// must not be older than an emergency stop recorded by the rules.
fn counts(printer: &Printer, status: &Status, now: Timestamp) -> bool {
    let on = matches!(status.state, Activity::Printing | Activity::Paused);
    on && printer.stopped_at.is_none_or(|at| status.updated_at > at || at > now) && printer.matters(status, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printing(remaining_seconds: Option<i64>) -> Status {
        Status { state: Activity::Printing, remaining_seconds, ..Status::default() }
    }

    #[test]
    fn the_end_of_a_print_is_looked_for_often_and_not_for_ever() {
        let (mut end, began) = (EndTracker::default(), Instant::now());
        let mut near = |remaining, after| end.near(&printing(Some(remaining)), began + after);
        assert!(!near(600, Duration::ZERO));
        assert!(near(60, Duration::ZERO));
        assert!(near(0, MAX_END_LOOKS / 2));
        assert!(!near(0, MAX_END_LOOKS), "it says so for hours");
        assert!(!near(900, MAX_END_LOOKS * 2));
        assert!(near(60, MAX_END_LOOKS * 3), "another end");
    }

    #[test]
    fn a_print_that_never_said_how_long_it_takes_is_looked_at_often_at_its_end_again() {
        let (mut end, began) = (EndTracker::default(), Instant::now());
        let untold = |progress| Status { progress, ..printing(None) };
        assert!(end.near(&untold(0.0), began));
        assert!(end.near(&untold(50.0), began + MAX_END_LOOKS / 2));
        assert!(!end.near(&untold(94.0), began + MAX_END_LOOKS));
        // The looks between are too far apart to see it neither new nor about to end.
        assert!(end.near(&untold(99.0), began + MAX_END_LOOKS * 2));
        assert!(end.near(&untold(94.0), began + MAX_END_LOOKS * 5 / 2), "what it says goes back and forth");
        assert!(!end.near(&untold(99.0), began + MAX_END_LOOKS * 3), "and not for ever");
        assert!(!end.near(&untold(96.0), began + MAX_END_LOOKS * 3));
    }
}
