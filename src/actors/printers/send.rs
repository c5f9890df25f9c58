//! Uploads a file to a printer, and aborts if the printer stops responding.

use std::array::IntoIter;
use std::time::Duration;

use domain::printer_status::Connection;
use printers::adapter::{PrinterError, Source};
use printers::connections::PrinterConnection;

/// Pauses between uploads of a file before its print is given up. The first retry is immediate, because a server that
/// returned 5xx may have recovered; in total, the pauses outlast a short outage.
const UPLOAD_PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(3)];

/// Remaining retries of an upload, or of a poll on which a start depends.
pub(super) struct UploadRetries(IntoIter<Duration, 3>);

impl UploadRetries {
    /// Allows every retry.
    pub(super) fn new() -> Self {
        Self(UPLOAD_PAUSES.into_iter())
    }

    /// Returns the pause before the next retry; `None` if the given error is not transient or all retries are used up.
    pub(super) fn pause_after(&mut self, error: &PrinterError) -> Option<Duration> {
        self.0.next().filter(|_| is_transient(error))
    }
}

fn is_transient(error: &PrinterError) -> bool {
    !error.disk_full()
        && !matches!(
            error,
            PrinterError::WrongKey(_)
                | PrinterError::Unsupported(_)
                | PrinterError::InUse(_)
                | PrinterError::Invalid(_)
                | PrinterError::Stalled(_)
                | PrinterError::Timeout
                | PrinterError::Refused { status: 413, .. }
        )
}

/// Uploads a file and returns the printer's name for it. Aborts as soon as monitoring finds that the printer has
/// stopped responding, because waiting for the buffers of a dead connection would delay the print by minutes.
pub(super) async fn send(connection: &PrinterConnection, name: &str, source: &Source) -> Result<String, PrinterError> {
    // While a stop is being recorded, nothing more is sent: once it is, the print is over.
    connection.wait_until_no_stop().await;
    let mut status = connection.status.subscribe();
    let silent = async {
        if status.wait_for(|status| status.connection == Connection::Unreachable).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let uploaded = tokio::select! {
        biased; // a file that is there counts
        uploaded = connection.adapter.upload(name, source) => uploaded,
        () = silent => Err(PrinterError::Unreachable("it stopped responding".to_owned())),
    };
    connection.wait_until_no_stop().await;
    uploaded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again_and_not_for_ever() {
        let refused = |status, message: &str| PrinterError::Refused { status, message: message.to_owned() };
        let broken = || PrinterError::Lost("broken pipe".to_owned());
        for error in [
            broken(),
            PrinterError::Unreachable("refused".to_owned()),
            PrinterError::FirmwareDisconnected("starting".to_owned()),
            refused(409, "Already in transfer process"),
            refused(500, "no"),
        ] {
            assert_eq!(UploadRetries::new().pause_after(&error), Some(Duration::ZERO), "{error}");
        }
        for error in [
            PrinterError::WrongKey("no".to_owned()),
            PrinterError::InUse("a.gcode".to_owned()),
            PrinterError::Timeout,
            refused(413, "the printer accepts at most 1000"),
            refused(507, "insufficient storage"),
            refused(500, "[Errno 28] No space left on device"),
        ] {
            assert_eq!(UploadRetries::new().pause_after(&error), None, "{error}");
        }
        let mut retries = UploadRetries::new();
        let pauses = std::iter::from_fn(|| retries.pause_after(&broken())).count();
        assert_eq!(pauses, UPLOAD_PAUSES.len());
    }
}
