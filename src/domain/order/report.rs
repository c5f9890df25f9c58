//! Report from a printer about an attempt, sent to its order.

use crate::printer_status::PrintEnd;
use crate::time::Timestamp;

/// Progress of an attempt on a printer. The printer repeats its latest report until the order has acknowledged it.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// The printer accepted the attempt and is uploading its file.
    Uploading,
    /// The start is recorded and about to be sent.
    StartSent,
    /// The printer reports the file as printing.
    Printing,
    /// The printer reports the file as paused.
    Paused,
    /// It is unknown whether the print started or, if it was observed before, how it ended; with the human-readable
    /// reason.
    Unverified(String),
    /// The print started and is over.
    Ended {
        /// Outcome of the print.
        end: PrintEnd,
        /// Filament used in millimetres; `None` if the printer does not report it.
        filament_mm: Option<f64>,
        /// Final progress of the print, 0 to 1.
        progress: f64,
        /// Printer's own message about the end, if any.
        reason: Option<String>,
        /// Time at which the printer was first observed printing the file; `None` if it never was.
        began_at: Option<Timestamp>,
        /// `true` if the time of the end is unknown because the printer was unreachable at that time.
        unseen: bool,
        /// Spools in the external spool inventory from which the printer itself deducted the consumption.
        booked_on: Vec<i64>,
    },
    /// The attempt certainly printed nothing and cannot start later: it was rejected, its upload failed, or its file
    /// was removed.
    NotStarted {
        /// `true` if a start was sent; `false` if nothing was sent to the machine.
        start_sent: bool,
        /// `true` if this counts as a refusal of the job by the printer, rather than as an incidental failure.
        counts: bool,
        /// Human-readable reason.
        reason: String,
    },
    /// An emergency stop occurred before the print was observed: nothing is being printed, and the job is not retried
    /// without an operator.
    Stopped {
        /// Human-readable reason.
        reason: String,
    },
    /// Cancelled before anything started, or unknown to the printer.
    CancelledBeforeStart,
}
