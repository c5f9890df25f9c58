//! Report from a printer about an attempt, sent to its order.

use crate::printer_status::PrintEnd;
use crate::time::Timestamp;

/// Progress of an attempt on a printer. The printer resends its latest report until the order has acknowledged it.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// The printer accepted the attempt and is uploading its file.
    Uploading,
    /// The start is recorded and about to be sent.
    StartSent,
    /// The printer reports that the file is printing.
    Printing,
    /// The printer reports that the file is paused.
    Paused,
    /// It is unknown whether the print started or, if it was observed before, how it ended. Contains the human-readable
    /// reason.
    Unverified(String),
    /// The print started and is over.
    Ended {
        /// Outcome of the print.
        end: PrintEnd,
        /// Filament used, in millimetres, if the printer reports it.
        filament_mm: Option<f64>,
        /// Final progress of the print, from 0 to 1.
        progress: f64,
        /// The printer's own message about the end, if any.
        reason: Option<String>,
        /// Time at which the printer was first observed printing the file, if it ever was.
        began_at: Option<Timestamp>,
        /// `true` if the time of the end is unknown because the printer was unreachable at the time.
        unseen: bool,
        /// Spools in the external spool inventory from which the printer itself deducted the consumption.
        booked_on: Vec<i64>,
    },
    /// The attempt definitely printed nothing and cannot start later: it was rejected, its upload failed, or its file
    /// was removed.
    NotStarted {
        /// `true` if a start was sent; `false` if nothing was sent to the machine.
        start_sent: bool,
        /// `true` if this is a rejection of the job by the printer, rather than an incidental failure.
        counts: bool,
        /// The printer's [`crate::printer::Printer::pardons`] when it accepted the attempt; `None` if it did not.
        pardons: Option<u32>,
        /// Human-readable reason.
        reason: String,
    },
    /// An emergency stop occurred before the print was observed: nothing is being printed, and the job is not retried
    /// without an operator.
    Stopped {
        /// Human-readable reason.
        reason: String,
    },
    /// The attempt was cancelled before anything started, or is unknown to the printer.
    CancelledBeforeStart,
}
