//! Status poll of a printer: the status is read, published on the connection and, if it is relevant to the rules,
//! passed to the printer's actor.
//!
//! Polls of a printer run one at a time, and each status is reported before the next poll starts. The actor therefore
//! receives statuses in order, and no clock is needed to detect late ones. A poll sends a second request if the first
//! one is not answered in half of its time limit: the first may be lost, or only slow, so both are waited for.

use std::pin::pin;
use std::time::Duration;

use futures::future::select;
use tokio::time::{Instant, timeout, timeout_at};

use super::{PrinterEffects, tell};
use domain::printer::{Printer, PrinterNews};
use domain::printer_status::{Activity, Connection, Status};
use kernel::handle::Handle;
use printers::adapter::PrinterError;
use printers::connections::PrinterConnection;

/// Error of a failed poll, with the number of requests that it sent.
#[derive(Debug)]
pub(super) struct FailedPoll {
    /// Reason why there is no status.
    pub(super) error: PrinterError,
    /// Number of requests, none of which was answered with a status.
    pub(super) requests: u32,
}

/// Polls the printer's status; fails if the response takes longer than `patience`.
pub(super) async fn look(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    connection: &PrinterConnection,
    patience: Duration,
) -> Result<Status, PrinterError> {
    poll(with, of, connection, patience).await.map_err(|failed| failed.error)
}

/// Polls the printer's status as [`look`] does, and counts the requests in a failed poll.
pub(super) async fn poll(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    connection: &PrinterConnection,
    patience: Duration,
) -> Result<Status, FailedPoll> {
    let _turn = connection.looking.lock().await;
    let (stops, began) = (connection.stops(), Instant::now());
    let mut status = ask_twice(|| connection.adapter.status(with.environment.now()), patience).await?;
    status.drop_false_end();
    if status.connection == Connection::Connected {
        connection.record_poll(began);
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

/// Sends a request, and once more if it is not answered in half of the time limit. Returns the first good answer to
/// either; an error within the first half is returned at once, because the printer is not silent then.
async fn ask_twice<T, F>(ask: impl Fn() -> F, patience: Duration) -> Result<T, FailedPoll>
where
    F: Future<Output = Result<T, PrinterError>>,
{
    let deadline = Instant::now() + patience;
    let mut first = pin!(ask());
    if let Ok(answer) = timeout(patience / 2, &mut first).await {
        return answer.map_err(|error| FailedPoll { error, requests: 1 });
    }
    let second = pin!(ask());
    let mut earlier = None;
    let either = async {
        let (answer, other) = select(first, second).await.factor_first();
        match answer {
            Ok(_) => answer,
            Err(error) => {
                earlier = Some(error);
                other.await
            }
        }
    };
    let answer = timeout_at(deadline, either).await;
    // What the printer or its network said of one request says more than the silence after the other.
    let answer = answer.unwrap_or_else(|_| Err(earlier.unwrap_or(PrinterError::Timeout)));
    answer.map_err(|error| FailedPoll { error, requests: 2 })
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
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures::future::BoxFuture;
    use tokio::sync::Notify;

    use super::*;
    use domain::time::Timestamp;

    /// Answer to a status request in these tests.
    type Answer = Result<&'static str, PrinterError>;

    /// Polls a printer whose requests get the given answers in turn, and returns the error with its number of requests.
    async fn polled(
        answers: [fn() -> BoxFuture<'static, Answer>; 2],
        patience: Duration,
    ) -> Result<&'static str, (String, u32)> {
        let sent = AtomicU32::new(0);
        let ask = || answers[sent.fetch_add(1, Ordering::Relaxed) as usize]();
        let answer = ask_twice(ask, patience).await.map_err(|failed| (failed.error.to_string(), failed.requests));
        if let Err((_, requests)) = &answer {
            assert_eq!(sent.load(Ordering::Relaxed), *requests);
        }
        answer
    }

    fn silence() -> BoxFuture<'static, Answer> {
        Box::pin(pending())
    }

    fn idle() -> BoxFuture<'static, Answer> {
        Box::pin(ready(Ok("idle")))
    }

    fn refusal() -> BoxFuture<'static, Answer> {
        Box::pin(ready(Err(PrinterError::Unreachable("refused".to_owned()))))
    }

    #[tokio::test]
    async fn a_poll_fails_only_if_two_requests_are_lost() {
        let [short, long] = [Duration::from_millis(20), Duration::from_hours(1)];
        assert_eq!(polled([idle, silence], long).await, Ok("idle"));
        assert_eq!(polled([silence, idle], short).await, Ok("idle"), "one request is lost");
        assert_eq!(polled([silence, silence], short).await, Err((PrinterError::Timeout.to_string(), 2)));
        let words = PrinterError::Unreachable("refused".to_owned()).to_string();
        assert_eq!(polled([refusal, idle], long).await, Err((words.clone(), 1)), "the caller asks again after a pause");
        assert_eq!(polled([silence, refusal], short).await, Err((words, 2)));
    }

    #[tokio::test]
    async fn a_slow_answer_counts_although_the_request_was_repeated() {
        let (repeated, sent) = (Notify::new(), AtomicU32::new(0));
        let ask = || {
            let (is_first, repeated) = (sent.fetch_add(1, Ordering::Relaxed) == 0, &repeated);
            if !is_first {
                repeated.notify_one();
            }
            async move {
                if !is_first {
                    return Err(PrinterError::Timeout);
                }
                repeated.notified().await;
                Ok("idle")
            }
        };
        let answer = ask_twice(ask, Duration::from_millis(20)).await;
        assert_eq!(answer.map_err(|failed| failed.error.to_string()), Ok("idle"));
    }

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
