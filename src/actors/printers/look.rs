//! Status poll of a printer: the status is read, published on the connection and, if it is relevant to the rules,
//! passed to the printer's actor.
//!
//! Polls of a printer run one at a time, and each status is reported before the next poll starts. The actor therefore
//! receives statuses in order, and no clock is needed to detect late ones.

use std::time::Duration;

use tokio::time::Instant;

use super::{PrinterEffects, tell};
use domain::printer::{Printer, PrinterNews};
use domain::printer_status::{Activity, Connection, Status};
use kernel::handle::Handle;
use printers::adapter::PrinterError;
use printers::connections::PrinterConnection;

/// Polls the printer's status; fails if the response takes longer than `patience`.
pub(super) async fn look(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    connection: &PrinterConnection,
    patience: Duration,
) -> Result<Status, PrinterError> {
    let _turn = connection.looking.lock().await;
    let (stops, began) = (connection.stops(), Instant::now());
    let answered = tokio::time::timeout(patience, connection.adapter.status(with.environment.now())).await;
    let mut status = answered.unwrap_or(Err(PrinterError::Timeout))?;
    status.drop_false_end();
    if status.connection == Connection::Connected {
        connection.looked(began);
    }
    with.connections.temperatures.note(of.id(), status.updated_at, &status.heaters);
    let before = connection.status.borrow().clone();
    connection.status.send_replace(status_to_show(&before, status.clone()));
    // What an emergency stop causes must not be taken for anything else; once it is recorded, the status is read anew.
    if connection.is_stopping() || connection.stops() != stops {
        return Ok(status);
    }
    let state = of.read();
    sight(connection, state.state.as_ref(), &status, began);
    let Some(printer) = state.state.as_ref().filter(|printer| printer.matters(&status, with.environment.now())) else {
        return Ok(status);
    };
    // Printers reset their progress when a print ends: what was seen of it before is told first.
    if let Some(progressed) = progressed(printer, &before) {
        tell(of, progressed).await;
    }
    tell(of, PrinterNews::Seen(Box::new(status.clone()))).await;
    Ok(status)
}

/// Records on the connection that the current attempt was observed, if the given status, requested at `at`, shows that
/// its print is in progress.
pub(super) fn sight(connection: &PrinterConnection, printer: Option<&Printer>, status: &Status, at: Instant) {
    if let Some(in_hand) = printer.and_then(|printer| printer.in_hand.as_ref())
        && Printer::shows_attempt(in_hand, status)
    {
        connection.sight(in_hand.attempt, at);
    }
}

/// Returns the message that records the current attempt's progress according to the given status; `None` if it does not
/// exceed the recorded progress.
pub(super) fn progressed(printer: &Printer, latest: &Status) -> Option<PrinterNews> {
    let in_hand = printer.in_hand.as_ref()?;
    let progress = printer.progress_of(in_hand.job, Some(latest))?;
    (progress > in_hand.progress).then_some(PrinterNews::Progressed { attempt: in_hand.attempt, progress })
}

/// Returns the status to display. If the printer no longer reports its print, the returned status includes the last
/// observed file and progress.
pub(super) fn status_to_show(before: &Status, status: Status) -> Status {
    let active = matches!(status.state, Activity::Printing | Activity::Paused);
    let silent = status.connection != Connection::Connected && status.file.is_none();
    let over = !active && status.file == before.file && status.progress < before.progress;
    if silent || over {
        return Status { file: before.file.clone(), progress: before.progress, ..status };
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;

    fn printing(progress: f64) -> Status {
        let (state, connection, file) = (Activity::Printing, Connection::Connected, Some("part.gcode".to_owned()));
        Status { state, connection, file, progress, ..Status::default() }
    }

    #[test]
    fn the_latest_progress_stays_shown_while_the_printer_is_away_and_after_the_end() {
        let unavailable = Status::unavailable(Connection::Unreachable, "no answer", Timestamp(1));
        let still = status_to_show(&printing(47.0), unavailable.clone());
        let percent = |status: Status| format!("{:.1}", status.progress);
        assert_eq!((still.file.as_deref(), percent(still.clone()).as_str()), (Some("part.gcode"), "47.0"));
        assert_eq!((still.state, still.connection), (Activity::Offline, Connection::Unreachable));
        assert_eq!(percent(status_to_show(&still, unavailable)), "47.0", "also at the second look");
        let cancelled = Status { state: Activity::Idle, ..printing(0.0) };
        assert_eq!(percent(status_to_show(&printing(47.0), cancelled.clone())), "47.0");
        let other = Status { file: Some("other.gcode".to_owned()), ..cancelled };
        assert_eq!(percent(status_to_show(&printing(47.0), other)), "0.0");
        assert_eq!(percent(status_to_show(&printing(47.0), printing(1.0))), "1.0", "it prints again");
    }
}
