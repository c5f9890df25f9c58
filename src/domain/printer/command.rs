//! Commands for a printer, with their responses and rows.

use serde::{Deserialize, Serialize};

use super::{ActRecord, Printer, PrinterFields, SlotReport, Spool, SpoolBalance, SpoolBinding, StartFailure};
use crate::id::Id;
use crate::launch::{FilamentSlot, KnownTypes, LaunchNeeds};
use crate::maintenance::{EntryFields, MaintenanceEntry, Odometer, Reminder, ReminderFields};
use crate::order::Resolution;
use crate::printer_status::{Connection, PastPrint, ReportedSlot, ServerRun, Status};
use crate::sign_off::Inspection;
use crate::time::Timestamp;

/// Evidence about a start that was not confirmed in time: from the printer's status, from its history, and from
/// deleting the uploaded file.
#[derive(Clone, PartialEq, Debug)]
pub enum Evidence {
    /// The printer's status contains the file.
    Shows(Status),
    /// The printer's history contains the file.
    Remembers(PastPrint),
    /// The history was read and does not contain the file, or the printer keeps no history. Collected for prints that
    /// were observed and have vanished; no file is deleted to collect this evidence.
    Forgets {
        /// Evidence about whether the printer's server has been restarted since the start.
        server: ServerRun,
        /// `true` if the printer indicates that the print did not finish: its status still contains the file, it was
        /// observed entering an error state, or its server's record of the file has no end.
        stopped: bool,
        /// Time since the print was last observed, in milliseconds; `None` if it was not observed over this connection.
        unseen_ms: Option<i64>,
    },
    /// The printer's firmware has been disconnected from its server for so long that the printer is considered offline,
    /// and the history does not show how the print ended. Collected for prints that were observed.
    Away,
    /// The printer is reachable, neither its status nor its history contains the file, and the file was deleted or not
    /// present: a start that arrives late will find no file. The fields help decide whether the print ran and ended
    /// unobserved.
    Revoked {
        /// Evidence about whether the history covers the time since the start was sent.
        server: ServerRun,
        /// Longest time without an observation of the printer since the start was sent, in milliseconds, if known.
        unwatched_ms: Option<i64>,
    },
    /// The printer keeps no history, and reports the file as its last print. The print may have run and ended
    /// unobserved, or the printer may have adopted the name before the start took effect. No file is deleted to collect
    /// this evidence.
    NamesLast,
    /// The evidence is inconclusive, for the given human-readable reason.
    Unclear(String),
}

impl Evidence {
    /// Limits every number to the range of stored values.
    #[must_use]
    pub(super) fn bounded(self) -> Self {
        match self {
            Self::Shows(status) => Self::Shows(status.bounded()),
            Self::Remembers(past) => Self::Remembers(past.bounded()),
            other => other,
        }
    }
}

/// Command that an operator uses to change a printer; returns the printer.
#[derive(Clone, Debug)]
pub enum PrinterCommand {
    /// Registers a new printer.
    Create(Box<PrinterFields>),
    /// Replaces the registration. `kind` and `base_url` must not change while an attempt or a manual print is in hand
    /// (409).
    Update {
        /// Version that the caller read; rejected with 412 if the printer has changed since.
        if_version: Option<i64>,
        /// Complete new registration.
        fields: Box<PrinterFields>,
    },
    /// Deletes the printer; rejected with 409 while an attempt or a manual print is in hand.
    Archive,
    /// Connects (`true`) or disconnects (`false`) the printer at an operator's request.
    Connect(bool),
    /// Sets the content of a slot as entered by an operator.
    LoadSlot {
        /// Number of the slot, starting at 0.
        slot: u32,
        /// Content of the slot.
        spool: Spool,
        /// Spool displayed to the operator for the slot, which the printer must still report; `None` to skip the check.
        expected: Option<SlotReport>,
    },
    /// Removes a slot that the printer does not have, at an operator's request.
    RemoveSlot(u32),
    /// Records an emergency stop after it was sent, because nothing may delay the stop.
    EmergencyStopped,
    /// Marks the bed as clear at an operator's request, and signs off the parts of the last print if this has not been
    /// done yet.
    BedCleared(Inspection),
    /// Acknowledges a firmware error or rejected starts after an operator has inspected the printer; rejected with 409
    /// while the firmware still reports an error, and if anything has come since those with the given mark
    /// ([`Printer::trouble_mark`]). `None` if the operator does not say which ones were inspected.
    ClearAttention(Option<String>),
    /// Records that all axes were homed at the server's command.
    Homed,
    /// Takes the printer out of service or returns it to service, at an operator's request.
    Maintenance {
        /// `true` to take the printer out of service.
        on: bool,
        /// Human-readable reason; ignored when the printer returns to service.
        note: Option<String>,
    },
    /// Deletes a reminder. The maintenance log remains.
    ForgetReminder(Id),
}

/// Response to a [`PrinterCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PrinterAnswer {
    /// State of the printer after the change.
    #[serde(rename = "Printer")]
    pub printer: Box<Printer>,
}

/// Observation of a printer, or outcome of work done on it.
#[derive(Clone, Debug)]
pub enum PrinterNews {
    /// Processes a status from the monitor that changes recorded data: state, connection, file, end of a print, homing,
    /// or a tenth of progress.
    Seen(Box<Status>),
    /// Records that the printer has not responded for too long, with its connection state, the human-readable reason,
    /// and the time at which it last responded.
    Silent(Connection, String, Option<Timestamp>),
    /// Updates the remaining amount on the spool in a slot according to the spool management system.
    SpoolLeft(SpoolBalance),
    /// Processes the spools that the printer reports in its slots.
    SlotsReported {
        /// All reported slots.
        slots: Vec<ReportedSlot>,
        /// Materials assigned to spools with the same code and colour: the printer's own bindings first, then those
        /// from elsewhere in the shop. Deleted materials are excluded.
        bindings: Vec<SpoolBinding>,
    },
    /// Records the hexadecimal digest of the key with which the printer proved its identity.
    KeyShown(String),
    /// Records that the upload failed permanently, failed too often, or never started.
    UploadFailed {
        /// Attempt whose file was to be uploaded.
        attempt: Id,
        /// Cause of the failure.
        why: StartFailure,
        /// Human-readable reason.
        reason: String,
    },
    /// Records that the printer definitely rejected the start.
    StartRefused {
        /// Attempt that was to be started.
        attempt: Id,
        /// The printer's own message.
        reason: String,
    },
    /// Records the latest observed progress of an attempt's print, from 0 to 1. Sent before the end of the print is
    /// reported, because many printers reset their progress at the end.
    Progressed {
        /// Attempt being printed.
        attempt: Id,
        /// Observed progress.
        progress: f64,
    },
    /// Applies evidence about an unconfirmed start or a vanished print.
    Judged {
        /// Started attempt.
        attempt: Id,
        /// Collected evidence.
        evidence: Box<Evidence>,
    },
    /// Acknowledges a report that the order has processed.
    Heard {
        /// Reported attempt.
        attempt: Id,
        /// Reported step.
        step: u32,
        /// `false` if the order no longer needs the attempt, in which case it ends on the printer too.
        is_wanted: bool,
    },
    /// Records that the printer accepted the start of a manual print, or that the print definitely did not start.
    ManualOver {
        /// Identifier of the manual print.
        id: Id,
        /// Human-readable reason why the print did not start; `None` if the printer accepted the start.
        error: Option<String>,
    },
    /// Records that the start of the given manual print was not confirmed in time.
    ManualUnclear(Id),
    /// Records that the order has acknowledged the sign-off of the given attempt's parts.
    SignedOff(Id),
    /// Records that the photo of the end of the given attempt was delivered to its order, or that delivery was
    /// abandoned.
    PhotoOver(Id),
    /// Records whether the printer reports a camera that can take images.
    CameraTold(bool),
    /// Records an operator's direct action outside of the printer's jobs, with its outcome.
    Acted(Box<ActRecord>),
    /// Records that the camera images of an attempt's print look like a failure.
    FailureSuspected {
        /// Attempt being printed.
        attempt: Id,
        /// Confidence of the detector averaged over several images, in percent.
        percent: u8,
        /// `true` if the print was paused, `false` if pausing failed, `None` if it should not be paused.
        paused: Option<bool>,
    },
}

/// Command that offers a print attempt for an order to a printer.
#[derive(Clone, Debug)]
pub struct TakeAttempt {
    /// Identifier of the attempt.
    pub attempt: Id,
    /// Job to be printed.
    pub job: Id,
    /// Order that the job belongs to.
    pub order: Id,
    /// G-code file to upload.
    pub file_id: Id,
    /// Unique name for the file on the printer.
    pub file_name: String,
    /// Time at which the order claimed the printer. An emergency stop after that time also stops this job.
    pub claimed_at: Timestamp,
    /// Requirements that the printer must meet.
    pub needs: Box<LaunchNeeds>,
    /// File formats and slot capabilities of each printer type.
    pub types: KnownTypes,
    /// Filament length for the plate, in millimetres, as stated in the file.
    pub stated_mm: Option<f64>,
    /// Print time in seconds, as stated in the file.
    pub estimated_seconds: Option<i64>,
}

/// Response to [`TakeAttempt`]. A printer that rejects the attempt will never accept it later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TakeAnswer {
    /// The printer has accepted the attempt, now or earlier, and will report on it.
    Accepted,
    /// The attempt is not accepted and never will be, for the given human-readable reason.
    NotTaken(String),
    /// The order claimed the printer before an emergency stop, so the attempt was stopped for the given reason.
    Stopped(String),
}

/// Command that reports the end of an upload. The caller sends the start only if the response is [`UploadAnswer::Go`].
#[derive(Clone, Debug)]
pub enum PrinterUpload {
    /// Records that the file of an attempt is on the printer.
    Attempt {
        /// Attempt whose file was uploaded.
        attempt: Id,
        /// Name that the printer assigned to the file.
        remote_name: String,
        /// Token that identifies the current run of the printer's server, if it provides one (see
        /// [`super::CurrentAttempt::server_mark`]).
        server_mark: Option<String>,
    },
    /// Records that the file of a manual print is on the printer.
    Manual {
        /// Identifier of the manual print.
        id: Id,
        /// Name that the printer assigned to the file.
        remote_name: String,
    },
}

/// Response to a [`PrinterUpload`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum UploadAnswer {
    /// The caller must send the start now. Only the caller whose command recorded `start_sent` receives this response,
    /// so the start is sent only once.
    Go,
    /// The upload has been recorded, now or earlier, and the caller must not send a start.
    Done,
}

/// Command by which an order decides about an attempt that it offered.
#[derive(Clone, Debug)]
pub enum AttemptCommand {
    /// Cancels the given attempt at the order's request.
    Cancel(Id),
    /// Applies an operator's resolution of an attempt, as forwarded by the order.
    Resolve {
        /// Resolved attempt.
        attempt: Id,
        /// Outcome of the print, as observed by the operator.
        outcome: Resolution,
    },
}

/// Response to an [`AttemptCommand`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AttemptAnswer {
    /// The decision has been applied, now or earlier.
    Done,
    /// The printer does not have the attempt and will never accept it.
    NotInHand,
}

/// Command that prints a file outside of any job, at an operator's request; rejected with 409 unless the printer could
/// accept a job.
#[derive(Clone, Debug)]
pub struct PrintManually {
    /// Identifier that the HTTP layer generated for the print.
    pub id: Id,
    /// File to upload; `None` if the file is already on the printer.
    pub file_id: Option<Id>,
    /// Name of the file on the printer.
    pub file_name: String,
    /// Slot for each filament of the file; empty if the printer has no slots to choose from.
    pub slots: Vec<Option<FilamentSlot>>,
}

/// Response to [`PrintManually`]: the manual print is accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ManualPrintAnswer {
    /// Identifier of the manual print.
    #[serde(rename = "Manual")]
    pub id: Id,
}

/// Command that adds or changes a printer's reminders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReminderCommand {
    /// Adds a reminder.
    Remind(ReminderFields),
    /// Changes the name, note or intervals of a reminder.
    Change {
        /// Reminder to change.
        id: Id,
        /// Printer version that the caller read; rejected with 412 if the printer has changed since.
        if_version: Option<i64>,
        /// Complete new fields.
        fields: ReminderFields,
    },
}

/// Response to a [`ReminderCommand`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReminderAnswer {
    /// Current reminder, with the printer's odometer.
    #[serde(rename = "Reminder")]
    pub reminder: (Box<Reminder>, Odometer),
}

/// Command that adds an entry for completed work to the maintenance log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogMaintenance {
    /// Details of the work.
    pub fields: EntryFields,
    /// Time at which the work was done; `None` for now.
    pub done_at: Option<Timestamp>,
    /// Reminders that the work resets.
    pub resets: Vec<Id>,
}

/// Response to [`LogMaintenance`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MaintenanceAnswer {
    /// New maintenance log entry.
    #[serde(rename = "Logged")]
    pub entry: Box<MaintenanceEntry>,
}

/// Row that a printer commit writes in addition to the snapshot row.
#[derive(Clone, Debug)]
pub enum PrinterRow {
    /// Reminder to insert or replace.
    Reminder(Box<Reminder>),
    /// Reminder to delete.
    ReminderGone(Id),
    /// Maintenance log entry to insert.
    Entry(Box<MaintenanceEntry>),
}
