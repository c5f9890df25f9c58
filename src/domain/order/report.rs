//! What a printer reports of an attempt to its order.

use crate::domain::printer_status::PrintEnd;
use crate::domain::time::Timestamp;

/// How far a printer came with an attempt. The printer repeats its latest report until the order has answered.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// The printer accepted the attempt and uploads its file.
    Uploading,
    /// The start is stored and about to be sent.
    StartSent,
    /// The printer shows the file as printing.
    Printing,
    /// The printer shows the file as paused.
    Paused,
    /// It is unknown whether the print began or, if it was seen before, how it ended; with the reason in words for
    /// people.
    Unverified(String),
    /// The print began and is over.
    Ended {
        /// How the print ended.
        end: PrintEnd,
        /// Filament used in millimetres; `None` if the printer does not tell.
        filament_mm: Option<f64>,
        /// How far the print came, 0 to 1.
        progress: f64,
        /// The printer's own words on the end, if it gave any.
        reason: Option<String>,
        /// When the printer was first seen printing it; `None` if it never was.
        began_at: Option<Timestamp>,
        /// Nobody knows when it ended, because the printer was out of sight then.
        unseen: bool,
        /// The spools on which the printer itself booked it in the system that knows spools.
        booked_on: Vec<i64>,
    },
    /// The attempt certainly printed nothing and cannot start later: it was refused, its upload failed, or its file
    /// was removed.
    NotStarted {
        /// Whether a start had been sent; `false` means that nothing was tried at the machine.
        start_sent: bool,
        /// Whether it counts as a refusal of the job by this printer, rather than as an accident in between.
        counts: bool,
        /// Why, in words for people.
        reason: String,
    },
    /// An emergency stop came before the print was seen: nothing is printed, and the job is not tried again without a
    /// person.
    Stopped {
        /// Why, in words for people.
        reason: String,
    },
    /// Cancelled before anything began, or the printer never had the attempt.
    CancelledBeforeStart,
}
