//! The messages of a printer: commands, answers, and the effects by which it works with the machine and with orders.

use serde::{Deserialize, Serialize};

use super::{ActRecord, Printer, PrinterFields, Spool, SpoolBinding, SpoolLeft, StartFailure};
use crate::domain::id::Id;
use crate::domain::launch::{FilamentSlot, KnownTypes, LaunchNeeds};
use crate::domain::maintenance::{CareCommand, MaintenanceEntry, Odometer, Reminder};
use crate::domain::order::Resolution;
use crate::domain::printer_status::{Connection, PastPrint, ReportedSlot, ServerRun, Status};
use crate::domain::sign_off::Inspection;
use crate::domain::time::Timestamp;

/// What was found out about a start that was not confirmed in time: from the printer's status, from its history, and
/// from deleting the uploaded file.
#[derive(Clone, PartialEq, Debug)]
pub enum Evidence {
    /// The printer's status names the file.
    Shows(Status),
    /// The printer's history contains the file.
    Remembers(PastPrint),
    /// The history was read and does not contain the file, or the printer keeps none. Gathered for prints that were
    /// seen and are gone; nothing is deleted for it.
    Forgets {
        /// Whether the printer's server was restarted since the start.
        server: ServerRun,
        /// Whether the printer shows that the print did not come to its end: it still names the file, it was watched
        /// falling into an error, or its server's record of the file has no end.
        stopped: bool,
        /// The time since the print was last seen, in milliseconds; `None` if it was not seen over this connection.
        unseen_ms: Option<i64>,
    },
    /// The printer's firmware has been away from its server for so long that the printer counts as offline, and the
    /// history does not tell how the print ended. Gathered for prints that were seen.
    Away,
    /// The printer is reachable, neither status nor history has the file, and the file is deleted or was not there: a
    /// start that arrives late finds nothing. Whether the print ran and ended unseen is another question, which the
    /// members answer.
    Revoked {
        /// Whether the history covers the time since the start was sent.
        server: ServerRun,
        /// The longest time without a look at the printer since the start was sent, in milliseconds; `None` if unknown.
        unwatched_ms: Option<i64>,
    },
    /// The printer keeps no history, and names the file as that of its last print. Such a print may have run and ended
    /// unseen, or the name was taken over before the start took effect. Nothing is deleted for it.
    NamesLast,
    /// Anything else; with the reason in words for people.
    Unclear(String),
}

impl Evidence {
    /// With every number within the bounds of what is stored.
    #[must_use]
    pub(super) fn bounded(self) -> Self {
        match self {
            Self::Shows(status) => Self::Shows(status.bounded()),
            Self::Remembers(past) => Self::Remembers(past.bounded()),
            other => other,
        }
    }
}

/// What can be asked of a printer.
#[derive(Clone, Debug)]
pub enum PrinterCommand {
    /// Registers a new printer.
    Create(Box<PrinterFields>),
    /// Replaces the registration. `kind` and `base_url` must not change while an attempt or a manual print is in hand
    /// (409).
    Update {
        /// The version that the caller read; refused with 412 if the printer has changed since.
        if_version: Option<i64>,
        /// The whole new registration.
        fields: Box<PrinterFields>,
    },
    /// Deletes the printer; refused with 409 while an attempt or a manual print is in hand.
    Archive,
    /// An operator connects (`true`) or disconnects (`false`) the printer.
    Connect(bool),
    /// The monitor got a status that changes what is recorded: state, connection, file, end of a print, homed,
    /// progress by tenths.
    Seen(Box<Status>),
    /// The printer has not answered for too long: its connection, the reason in words for people, and when it last
    /// answered.
    Silent(Connection, String, Option<Timestamp>),
    /// An operator says what is in a slot.
    LoadSlot {
        /// Number of the slot, from 0.
        slot: u32,
        /// What is in it.
        spool: Spool,
    },
    /// An operator takes a slot away that the printer does not have.
    RemoveSlot(u32),
    /// The system that knows spools says what is left on the one in a slot.
    SpoolLeft(SpoolLeft),
    /// The printer reported the spools in its slots.
    SlotsReported {
        /// All that it reported.
        slots: Vec<ReportedSlot>,
        /// To which materials such spools belong: the printer's own bindings first, then those from elsewhere in the
        /// shop. Of deleted materials there are none.
        known: Vec<SpoolBinding>,
    },
    /// The printer proved by the key with this digest, in hexadecimal digits, who it is.
    KeyShown(String),
    /// An order offers an attempt. A printer that cannot take it answers `NotTaken` with the reason, and will never
    /// accept it later.
    Take {
        /// Which try of a job is meant.
        attempt: Id,
        /// The job that is attempted.
        job: Id,
        /// The order of the job.
        order: Id,
        /// The G-code file to upload.
        file_id: Id,
        /// The unique name to give the file on the printer.
        file_name: String,
        /// When the order claimed the printer. An emergency stop since then also stops this job.
        claimed_at: Timestamp,
        /// What the printer must have.
        needs: Box<LaunchNeeds>,
        /// What printers of each type print, and from where.
        types: KnownTypes,
        /// Length of filament of the plate in millimetres, as the file states it.
        stated_mm: Option<f64>,
        /// Print time of the file in seconds, as the file states it.
        estimated_seconds: Option<i64>,
    },
    /// The upload is finished. The caller sends the start only if the answer is [`PrinterAnswer::Go`].
    Uploaded {
        /// The attempt that was uploaded.
        attempt: Id,
        /// The name that the printer gave to the file.
        remote_name: String,
        /// A token of the run of the printer's server, if it gives one (see [`super::InHand::server_mark`]).
        server_mark: Option<String>,
    },
    /// The upload failed for good, failed too often, or never began.
    UploadFailed {
        /// The attempt that was to be uploaded.
        attempt: Id,
        /// Whose fault it is.
        why: StartFailure,
        /// Why, in words for people.
        reason: String,
    },
    /// The printer certainly refused the start.
    StartRefused {
        /// The attempt that was to be started.
        attempt: Id,
        /// The printer's own words.
        reason: String,
    },
    /// The latest progress of an attempt's print, 0 to 1, as last seen. Sent before what ends the print is told,
    /// because many printers reset their progress at the end.
    Progressed {
        /// The attempt that prints.
        attempt: Id,
        /// How far the print was.
        progress: f64,
    },
    /// Evidence on a start that was not confirmed, or on a print that is gone.
    Judged {
        /// The attempt that was started.
        attempt: Id,
        /// What was found out.
        evidence: Box<Evidence>,
    },
    /// The order asks to cancel this attempt.
    CancelAttempt(Id),
    /// An operator's decision on an attempt, passed on by the order.
    Resolved {
        /// The attempt that was decided.
        attempt: Id,
        /// What became of the print, as the operator has seen it.
        outcome: Resolution,
    },
    /// The order has processed a report.
    Heard {
        /// The attempt reported on.
        attempt: Id,
        /// The step that was reported.
        step: u32,
        /// Whether the order still wants the attempt; `false` ends it here.
        wanted: bool,
    },
    /// An operator prints a file that is no job; refused with 409 unless the printer could take a job.
    PrintManually {
        /// Identifier that the edge made for this print.
        id: Id,
        /// The file to upload; `None` if it is on the printer already.
        file_id: Option<Id>,
        /// Name of the file on the printer.
        file_name: String,
        /// For each filament of the file the slot that it comes from; empty where the printer has none to choose.
        slots: Vec<Option<FilamentSlot>>,
    },
    /// The file of a manual print is on the printer; answered like `Uploaded`.
    ManualUploaded {
        /// Id of the manual print.
        id: Id,
        /// The name that the printer gave to the file.
        remote_name: String,
    },
    /// The printer took the start of a manual print, or it certainly did not begin.
    ManualOver {
        /// Id of the manual print.
        id: Id,
        /// Why it did not begin, in words for people; `None` if the printer took the start.
        error: Option<String>,
    },
    /// The start of this manual print was not confirmed in time.
    ManualUnclear(Id),
    /// An emergency stop was sent. Recorded after it was sent, because nothing may delay the stop.
    EmergencyStopped,
    /// An operator has cleared the bed, and so signed off the parts of the last print, if they were not yet.
    BedCleared(Inspection),
    /// The order has heard how the parts of this attempt were signed off.
    SignedOff(Id),
    /// The picture of this attempt's end is taken and its order has it, or it was given up.
    PhotoOver(Id),
    /// Whether the printer has a camera of which pictures can be taken, as it tells.
    CameraTold(bool),
    /// A person had the printer do something, past its jobs; it is recorded with what came of it.
    Acted(Box<ActRecord>),
    /// The pictures of an attempt's print look like a failure.
    FailureSuspected {
        /// The attempt that prints.
        attempt: Id,
        /// How sure the detector is, over several pictures.
        percent: u8,
        /// Whether the print was paused; `None` where it was not to be.
        paused: Option<bool>,
    },
    /// A person has looked at a printer with a firmware fault or refused starts; refused with 409 while its firmware
    /// is still in error.
    ClearAttention,
    /// All axes were homed on our command.
    Homed,
    /// An operator takes the printer out of service, or puts it back.
    Maintenance {
        /// `true` takes it out of service.
        on: bool,
        /// The reason, for people; ignored when it is put back.
        note: Option<String>,
    },
    /// Something about its reminders and its maintenance log.
    Care(Box<CareCommand>),
}

/// A row beside the snapshot row of a printer.
#[derive(Clone, Debug)]
pub enum PrinterRow {
    /// A reminder as it is now.
    Reminder(Box<Reminder>),
    /// A reminder that was removed.
    ReminderGone(Id),
    /// A new line of the maintenance log.
    Entry(Box<MaintenanceEntry>),
}

/// A printer's answer to a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PrinterAnswer {
    /// The printer after the change.
    Printer(Box<Printer>),
    /// To the task that uploaded: send the start now. Only the caller whose command recorded `start_sent` gets it, so
    /// the start is sent once.
    Go,
    /// To an operator: this manual print is accepted.
    Manual(Id),
    /// To an operator: the reminder as it is now, with what the printer has done.
    Reminder(Box<Reminder>, Odometer),
    /// To an operator: the new line of the maintenance log.
    Logged(Box<MaintenanceEntry>),
    /// To an order: the attempt is not accepted and never will be, with the reason in words for people.
    NotTaken(String),
    /// To an order that claimed the printer before an emergency stop: the attempt was stopped, with the reason.
    Stopped(String),
    /// To an order that cancels or resolves: the printer does not have the attempt and will never accept it.
    NotInHand,
    /// Done now, or done before.
    Done,
}

/// Work outside the printer's state that the state calls for. Each effect is repeated, also after a restart, until
/// the state no longer calls for it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PrinterEffect {
    /// Keep a connection to the printer and watch it. It differs when address or key change, so that the connection
    /// is made anew.
    Watch {
        /// Type of the adapter.
        kind: String,
        /// Address of the printer's API.
        base_url: String,
        /// The printer's API key, encrypted; empty if none.
        encrypted_api_key: String,
        /// Serial number, for adapter types that need one.
        serial: Option<String>,
    },
    /// Bring the attempt to a print or a verdict: upload in phase `Taken`, then send the start once, then find out
    /// what became of it. From the phases `StartSent` and `Unverified` on, only the latter; so also for a print that
    /// was seen and is gone. It stays the same effect through these phases, so that the task that recorded the start
    /// goes on to send it.
    Run {
        /// The attempt in hand.
        attempt: Id,
    },
    /// Bring a manual print to its start: upload, then start once. A start that was sent is only waited for.
    Manual {
        /// Id of the manual print.
        id: Id,
    },
    /// Cancel this attempt's print at the printer: look first, and only if the printer shows the attempt's file, cancel
    /// once for each look. It ends with the print, and when the printer shows anything else.
    CancelPrint {
        /// The attempt in hand.
        attempt: Id,
    },
    /// Report to the order how far the attempt is, until it has acknowledged this step.
    Report {
        /// The attempt in hand.
        attempt: Id,
        /// The step to report.
        step: u32,
    },
    /// Tell the order how the parts of this attempt were signed off, until it has acknowledged that.
    TellSignOff {
        /// The attempt, which is one of [`Printer::signed_prints`].
        attempt: Id,
    },
    /// Take a picture of this attempt's end, keep it and tell the order, or give it up.
    Photograph {
        /// The attempt of [`Printer::photo_due`].
        attempt: Id,
    },
}
