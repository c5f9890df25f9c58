//! The printer adapter contract: what every brand of printer can be asked.
//!
//! An adapter carries a command to the printer and tells truthfully what came back. It decides nothing, remembers
//! nothing durable, never retries a command, and never starts what it uploads.

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use reqwest::{Response, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::domain::file::{File, GcodeForm};
use crate::domain::id::Id;
use crate::domain::launch::FilamentSlot;
use crate::domain::printer_status::{Connection, PastPrint, ServerRun, Status};
use crate::domain::time::Timestamp;
use crate::printers::PrinterType;

pub use super::error::PrinterError;
pub use super::slots_wanted::SlotsWanted;
pub use super::telemetry::{Telemetry, Temperatures};

/// What an adapter may or may not be able to do; the operations of the contract proper are supported by every type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Looking up past prints, [`Adapter::history`].
    History,
    /// Deleting a file on the printer, [`Adapter::delete_file`].
    DeleteFile,
    /// Listing the files on the printer, [`Adapter::list_files`].
    ListFiles,
    /// Running single lines of G-code, [`Adapter::run_gcode`].
    RunGcode,
    /// Restarting the firmware after a shutdown, [`Adapter::restart_firmware`].
    RestartFirmware,
    /// Moving all axes to their end stops, [`Adapter::home`].
    Home,
    /// Reading what the printer's server says of itself, [`Adapter::server_info`].
    ServerInfo,
    /// Reading what the printer says of its firmware, [`Adapter::printer_info`].
    PrinterInfo,
    /// Listing the cameras, [`Adapter::webcams`].
    Webcams,
    /// Reading what computer the printer's server runs on, [`Adapter::system_info`].
    SystemInfo,
    /// Cutting motors and heaters at once, [`Adapter::emergency_stop`].
    EmergencyStop,
}

impl Operation {
    /// All operations that a type may lack.
    pub const ALL: [Self; 11] = [
        Self::History,
        Self::DeleteFile,
        Self::ListFiles,
        Self::RunGcode,
        Self::RestartFirmware,
        Self::Home,
        Self::ServerInfo,
        Self::PrinterInfo,
        Self::Webcams,
        Self::SystemInfo,
        Self::EmergencyStop,
    ];
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::History => "print history",
            Self::DeleteFile => "deleting files",
            Self::ListFiles => "listing files",
            Self::RunGcode => "running g-code",
            Self::RestartFirmware => "restarting the firmware",
            Self::Home => "homing",
            Self::ServerInfo => "server info",
            Self::PrinterInfo => "printer info",
            Self::Webcams => "webcams",
            Self::SystemInfo => "system info",
            Self::EmergencyStop => "emergency stops",
        })
    }
}

/// A local file to upload; streamed, never held in memory.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where the file is on this computer.
    pub path: PathBuf,
    /// Bytes; must be the file's length.
    pub size: u64,
    /// A line of text to send before the file's own bytes, without its line break; `None` for forms that are not text.
    pub first_line: Option<String>,
}

impl Source {
    /// A stored file, whose content is at this path.
    pub fn of(file: &File, path: PathBuf) -> Self {
        Self { path, size: file.size.unsigned_abs(), first_line: None }
    }

    /// With a first line that names the print, where the file is G-code as text: what the printer holds then shows
    /// which print it was sent for.
    pub fn marked(mut self, print: Id, form: Option<GcodeForm>) -> Self {
        self.first_line = (form == Some(GcodeForm::Text)).then(|| format!("; printfloor print {print}"));
        self
    }

    /// Bytes that come before the file's own.
    pub(super) fn head(&self) -> Vec<u8> {
        self.first_line.as_ref().map(|line| format!("{line}\n").into_bytes()).unwrap_or_default()
    }

    /// Bytes that are sent in all.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.size + self.head().len() as u64
    }
}

/// What is to be printed of an uploaded file, and from what. Types whose files are one print from one spool need no
/// more than the name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The name that the printer gave to the file.
    pub name: String,
    /// The attempt or manual print, by which a printer that knows prints by numbers tells it from others.
    pub print: Id,
    /// Number of the plate in the file, from 1.
    pub plate: u32,
    /// For each filament of the file the slot that it comes from; `None` for one that the plate does not use. Empty if
    /// nobody chose. Types that do not map slots pass over it: it was chosen so that each filament is in the slot of
    /// its own number.
    pub slots: Vec<Option<FilamentSlot>>,
}

/// How a push connection stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PushState {
    /// Whether it is open and pushes what changes, so that the printer need not be polled.
    pub open: bool,
    /// When the printer was heard on it last, also if it is closed now.
    pub heard: Option<Instant>,
}

/// What deleting a file came to. A file in use is `Err(InUse)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deleted {
    /// It was there and is gone.
    Gone,
    /// It was not there; whether that counts is the caller's to say.
    NotFound,
}

/// A file on the printer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteFile {
    /// Path relative to the upload root.
    pub path: String,
    /// Size in bytes; `None` where the printer does not tell it.
    pub size: Option<u64>,
    /// When it last changed, where told.
    pub modified_at: Option<Timestamp>,
}

/// A camera that looks at the printer; URLs are absolute.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webcam {
    /// The printer's name for it.
    pub name: String,
    /// Address of a live picture; `None` where there is none.
    pub stream_url: Option<String>,
    /// Address of a single picture; `None` where there is none.
    pub snapshot_url: Option<String>,
    /// Whether the camera is switched on.
    pub enabled: bool,
}

/// One printer, spoken to in its own protocol.
///
/// Names of files are paths relative to the printer's upload root, `/` between folders. Every call has its own time
/// limit. Commands that run macros on the printer wait for them; [`PrinterError::Timeout`] then says nothing about
/// whether it happened.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// The declaration of the printer's type.
    fn declared(&self) -> &'static PrinterType;
    /// Whether this type can do it; if not, the operation answers [`PrinterError::Unsupported`].
    fn supports(&self, operation: Operation) -> bool {
        !self.declared().lacks.contains(&operation)
    }

    /// Digest of the key by which the printer has proved who it is, in hexadecimal digits; `None` for types that do not
    /// encrypt, and before the first connection.
    fn shown_key(&self) -> Option<String> {
        None
    }

    /// Refuses an address where a program of another type answers that pretends to be that of this type
    /// ([`PrinterError::WrongType`]). Types that cannot be mistaken ask nothing.
    async fn recognise(&self) -> Result<(), PrinterError> {
        Ok(())
    }
    /// Makes the printer ready to be commanded where its server has such a step (serial port), and proves that it
    /// answers and takes our key.
    async fn connect(&self) -> Result<(), PrinterError>;
    /// Lets go of the printer. Refused with [`PrinterError::InUse`] where that would end a print.
    async fn disconnect(&self) -> Result<(), PrinterError>;
    /// The printer and its firmware answer, and we have not let go of it.
    async fn is_connected(&self) -> bool;
    /// One look, taken at `at`. A firmware that does not answer is a status, not an error.
    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError>;
    /// Measured temperatures of nozzle and bed in °C, from a new look at the printer.
    async fn temperatures(&self) -> Result<Temperatures, PrinterError> {
        let Status { nozzle, bed, .. } = self.connected_status().await?;
        Ok(Temperatures { nozzle, bed })
    }
    /// How far the print is, 0 to 100.
    async fn progress(&self) -> Result<f64, PrinterError> {
        Ok(self.connected_status().await?.progress)
    }
    /// The status of a printer whose firmware must answer.
    async fn connected_status(&self) -> Result<Status, PrinterError> {
        let status = self.status(Timestamp::default()).await?;
        if status.connection == Connection::Connected {
            return Ok(status);
        }
        Err(PrinterError::FirmwareDisconnected(status.message.unwrap_or_default()))
    }
    /// Stores a file without starting it, and where the printer's server lets us, reads back that it stored what was
    /// sent; the name the printer really gave it. The time limit grows with the size.
    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError>;
    /// Prints an uploaded file. Ask [`PrinterError::certainly_not_done`] of a failure.
    async fn start(&self, name: &str) -> Result<(), PrinterError>;
    /// As [`Adapter::start`], for a certain plate from certain slots. A type that says that it maps slots
    /// ([`PrinterType::maps_slots`]) obeys them, or refuses.
    async fn launch(&self, launch: &Launch) -> Result<(), PrinterError> {
        self.start(&launch.name).await
    }
    /// From which slots a print by hand would take its filaments: what [`Launch::slots`] is to be. Nothing is sent for
    /// it. Types that do not map slots choose none. [`PrinterError::Invalid`] where a person has to say.
    async fn choose_slots(&self, _wanted: &SlotsWanted) -> Result<Vec<Option<FilamentSlot>>, PrinterError> {
        Ok(Vec::new())
    }
    /// Pauses whatever the printer prints.
    async fn pause(&self) -> Result<(), PrinterError>;
    /// Goes on with a paused print.
    async fn resume(&self) -> Result<(), PrinterError>;
    /// Ends whatever the printer prints; the caller has looked which file that is.
    async fn cancel(&self) -> Result<(), PrinterError>;
    /// Cuts motors and heaters at once, past everything queued, on a connection of its own. A type without it ends the
    /// print that is on by the fastest way it has, and says [`PrinterError::Unsupported`] where none is.
    async fn emergency_stop(&self) -> Result<(), PrinterError>;

    /// What the printer remembers of prints of this file, newest first; empty: nothing.
    async fn history(&self, _name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::History))
    }
    /// Returns whether the printer's server still has a record of this file in which it notes each end of a print.
    async fn keeps_record(&self, _name: &str) -> Result<bool, PrinterError> {
        Ok(false)
    }
    /// A token of the present run of the printer's server, for [`Adapter::server_ran_since`]; `None` where the type or
    /// this server gives none.
    async fn server_mark(&self) -> Result<Option<String>, PrinterError> {
        Ok(None)
    }
    /// Whether the printer's server has run without a restart since the token was taken, so that it remembers every
    /// print since.
    async fn server_ran_since(&self, _mark: &str) -> Result<ServerRun, PrinterError> {
        Ok(ServerRun::Unknown)
    }
    /// Deletes a file; [`PrinterError::InUse`] while it is printing or paused.
    async fn delete_file(&self, _name: &str) -> Result<Deleted, PrinterError> {
        Err(PrinterError::Unsupported(Operation::DeleteFile))
    }
    /// All files of the upload root.
    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::ListFiles))
    }
    /// Runs commands in turn; waits for them where the printer tells when they are done. What the printer's console
    /// said meanwhile, as far as it was heard; a command that the printer does not know is no error to it.
    async fn run_gcode(&self, _commands: &[String]) -> Result<Vec<String>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::RunGcode))
    }
    /// Restarts the firmware; the way out of a shutdown.
    async fn restart_firmware(&self) -> Result<(), PrinterError> {
        Err(PrinterError::Unsupported(Operation::RestartFirmware))
    }
    /// Moves all axes to their end stops.
    async fn home(&self) -> Result<(), PrinterError> {
        Err(PrinterError::Unsupported(Operation::Home))
    }
    /// What the printer's server says of itself.
    async fn server_info(&self) -> Result<Value, PrinterError> {
        Err(PrinterError::Unsupported(Operation::ServerInfo))
    }
    /// What the printer says of its firmware and connection.
    async fn printer_info(&self) -> Result<Value, PrinterError> {
        Err(PrinterError::Unsupported(Operation::PrinterInfo))
    }
    /// The cameras that look at the printer.
    async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::Webcams))
    }
    /// Opens the answer with the picture of one of its cameras, for types whose cameras ask for the printer's key
    /// ([`PrinterType::guards_camera`]).
    async fn open_camera(&self, _url: &Url) -> Result<Response, PrinterError> {
        Err(PrinterError::Unsupported(Operation::Webcams))
    }
    /// The computer and operating system that it runs on.
    async fn system_info(&self) -> Result<Value, PrinterError> {
        Err(PrinterError::Unsupported(Operation::SystemInfo))
    }

    /// Resolves when the printer pushed something worth a look; for one waiter. Pushes while nobody waits are kept as
    /// one. The first wait opens the connection. It is a hint only, so look at the printer then, and every now and
    /// then: a type without push never resolves it.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    /// How the push connection stands.
    fn push(&self) -> PushState {
        PushState::default()
    }
    /// What was pushed since the last call, beside what [`Adapter::changed`] tells.
    fn telemetry(&self) -> Option<Telemetry> {
        None
    }

    /// [`Adapter::status`], with a failure told as a printer that is unavailable.
    async fn look(&self, at: Timestamp) -> Status {
        match self.status(at).await {
            Ok(status) => status,
            Err(error) => Status::unavailable(error.connection(), error.to_string(), at),
        }
    }
}
