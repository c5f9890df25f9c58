//! Printer adapter contract: the operations that every brand of printer is offered.
//!
//! An adapter carries a command to the printer and reports faithfully what came back. It makes no decisions, keeps no
//! durable state, never retries a command, and never starts a file that it uploads.

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use reqwest::{Response, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::PrinterType;
use domain::file::{File, GcodeForm};
use domain::id::Id;
use domain::launch::FilamentSlot;
use domain::printer_status::{Connection, PastPrint, ServerRun, Status};
use domain::time::Timestamp;

pub use super::error::PrinterError;
pub use super::requested_slots::RequestedSlots;
pub use super::telemetry::{Telemetry, Temperatures};

/// Optional operation of an adapter. Operations that are not listed here are supported by every printer type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Lookup of past prints, [`Adapter::history`].
    History,
    /// Deletion of a file on the printer, [`Adapter::delete_file`].
    DeleteFile,
    /// Listing of the files on the printer, [`Adapter::list_files`].
    ListFiles,
    /// Execution of single lines of G-code, [`Adapter::run_gcode`].
    RunGcode,
    /// Restart of the firmware after a shutdown, [`Adapter::restart_firmware`].
    RestartFirmware,
    /// Homing of all axes, [`Adapter::home`].
    Home,
    /// Query of the printer's server, [`Adapter::server_info`].
    ServerInfo,
    /// Query of the firmware, [`Adapter::printer_info`].
    PrinterInfo,
    /// Listing of the cameras, [`Adapter::webcams`].
    Webcams,
    /// Query of the computer that the printer's server runs on, [`Adapter::system_info`].
    SystemInfo,
    /// Immediate power cut to motors and heaters, [`Adapter::emergency_stop`].
    EmergencyStop,
}

impl Operation {
    /// All optional operations.
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
            Self::RunGcode => "running G-code",
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

/// A local file to upload. It is streamed, never held in memory as a whole.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path of the file on this computer.
    pub path: PathBuf,
    /// Size in bytes; must equal the file's length.
    pub size: u64,
    /// Line of text to send before the file's own bytes, without its line break; `None` for formats that are not text.
    pub first_line: Option<String>,
}

impl Source {
    /// Builds the source of a stored file whose content is at `path`.
    pub fn of(file: &File, path: PathBuf) -> Self {
        Self { path, size: file.size.unsigned_abs(), first_line: None }
    }

    /// Adds a first line that names the print if the file is plain-text G-code, so that the copy on the printer shows
    /// which print it was sent for.
    pub fn marked(mut self, print: Id, form: Option<GcodeForm>) -> Self {
        self.first_line = (form == Some(GcodeForm::Text)).then(|| format!("; printfloor print {print}"));
        self
    }

    /// Returns the bytes to send before the file's own.
    pub(super) fn head(&self) -> Vec<u8> {
        self.first_line.as_ref().map(|line| format!("{line}\n").into_bytes()).unwrap_or_default()
    }

    /// Returns the total number of bytes to send.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.size + self.head().len() as u64
    }
}

/// The plate of an uploaded file to print, and the slots to feed it from. Printer types whose files hold one print from
/// one spool need only the name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Name that the printer gave to the file.
    pub name: String,
    /// Id of the attempt or manual print. A printer that identifies prints by number derives the number from it.
    pub print: Id,
    /// Number of the plate in the file, starting at 1.
    pub plate: u32,
    /// Slot that feeds each filament of the file; `None` for a filament that the plate does not use. Empty if no slots
    /// were chosen. Types that do not map slots ignore it: for them, slots were chosen so that each filament is in the
    /// slot of its own number.
    pub slots: Vec<Option<FilamentSlot>>,
}

/// State of a push connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PushState {
    /// `true` if the connection is open and pushes changes, so that the printer need not be polled.
    pub open: bool,
    /// Time at which the printer last sent something on the connection, even if it is closed now.
    pub last_heard: Option<Instant>,
}

/// Outcome of deleting a file. A file in use is reported as `Err(InUse)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deleted {
    /// The file existed and was deleted.
    Gone,
    /// The file did not exist; the caller decides whether that is a failure.
    NotFound,
}

/// A file on the printer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteFile {
    /// Path relative to the upload root.
    pub path: String,
    /// Size in bytes; `None` if the printer does not report it.
    pub size: Option<u64>,
    /// Time of the last change; `None` if the printer does not report it.
    pub modified_at: Option<Timestamp>,
}

/// A camera that shows the printer. URLs are absolute.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webcam {
    /// Name that the printer gives the camera.
    pub name: String,
    /// URL of a live picture; `None` if there is none.
    pub stream_url: Option<String>,
    /// URL of a single picture; `None` if there is none.
    pub snapshot_url: Option<String>,
    /// `true` if the camera is switched on.
    pub enabled: bool,
}

/// One printer, addressed in its own protocol.
///
/// File names are paths relative to the printer's upload root, with `/` between folders. Every call has its own time
/// limit. Commands that run macros on the printer wait for them to finish; after a [`PrinterError::Timeout`] the
/// command may or may not have been carried out.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// Returns the declaration of the printer's type.
    fn declared(&self) -> &'static PrinterType;
    /// Returns whether this printer supports an optional operation. If not, the operation fails with
    /// [`PrinterError::Unsupported`].
    fn supports(&self, operation: Operation) -> bool {
        !self.declared().lacks.contains(&operation)
    }

    /// Returns the hexadecimal digest of the key with which the printer proved its identity; `None` for types that do
    /// not encrypt, and before the first connection.
    fn shown_key(&self) -> Option<String> {
        None
    }

    /// Rejects an address at which a program of another type imitates this one ([`PrinterError::WrongType`]). Types
    /// that cannot be confused send nothing.
    async fn recognise(&self) -> Result<(), PrinterError> {
        Ok(())
    }
    /// Makes the printer ready for commands if its server has such a step (such as opening a serial port), and verifies
    /// that it answers and accepts the API key.
    async fn connect(&self) -> Result<(), PrinterError>;
    /// Disconnects from the printer. Fails with [`PrinterError::InUse`] if that would end a print.
    async fn disconnect(&self) -> Result<(), PrinterError>;
    /// Returns whether the printer and its firmware answer and no operator disconnected it.
    async fn is_connected(&self) -> bool;
    /// Reads the printer's status; `at` becomes the time of the status. A firmware that does not answer is a status,
    /// not an error.
    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError>;
    /// Reads the measured temperatures of nozzle and bed in °C from a new status.
    async fn temperatures(&self) -> Result<Temperatures, PrinterError> {
        let Status { nozzle, bed, .. } = self.connected_status().await?;
        Ok(Temperatures { nozzle, bed })
    }
    /// Reads the progress of the print, from 0 to 100.
    async fn progress(&self) -> Result<f64, PrinterError> {
        Ok(self.connected_status().await?.progress)
    }
    /// Reads the status and fails unless the firmware answers.
    async fn connected_status(&self) -> Result<Status, PrinterError> {
        let status = self.status(Timestamp::default()).await?;
        if status.connection == Connection::Connected {
            return Ok(status);
        }
        Err(PrinterError::FirmwareDisconnected(status.message.unwrap_or_default()))
    }
    /// Stores a file without starting it, verifies the stored copy where the printer's server allows reading it back,
    /// and returns the name that the printer gave it. The time limit grows with the size.
    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError>;
    /// Starts printing an uploaded file. After a failure, [`PrinterError::certainly_not_done`] tells whether the print
    /// may have begun.
    async fn start(&self, name: &str) -> Result<(), PrinterError>;
    /// Starts a print like [`Adapter::start`], for a certain plate and certain slots. A type that declares that it maps
    /// slots ([`PrinterType::maps_slots`]) uses exactly these slots or fails.
    async fn launch(&self, launch: &Launch) -> Result<(), PrinterError> {
        self.start(&launch.name).await
    }
    /// Chooses the slots that feed a manual print, in the form of [`Launch::slots`]. Sends nothing to the printer.
    /// Types that do not map slots choose none. Fails with [`PrinterError::Invalid`] if an operator has to choose.
    async fn choose_slots(&self, _wanted: &RequestedSlots) -> Result<Vec<Option<FilamentSlot>>, PrinterError> {
        Ok(Vec::new())
    }
    /// Pauses the current print, whatever it is.
    async fn pause(&self) -> Result<(), PrinterError>;
    /// Resumes a paused print.
    async fn resume(&self) -> Result<(), PrinterError>;
    /// Cancels the current print, whatever it is; the caller has already checked which file that is.
    async fn cancel(&self) -> Result<(), PrinterError>;
    /// Cuts power to motors and heaters immediately, bypassing all queued work, on a connection of its own. A type
    /// without an emergency stop ends the current print in the fastest way it has and, where there is no way, fails
    /// with [`PrinterError::Unsupported`].
    async fn emergency_stop(&self) -> Result<(), PrinterError>;

    /// Returns the past prints of this file that the printer remembers, newest first; empty if it remembers none.
    async fn history(&self, _name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::History))
    }
    /// Returns whether the printer's server still has a record of this file in which it registers the end of each
    /// print.
    async fn keeps_record(&self, _name: &str) -> Result<bool, PrinterError> {
        Ok(false)
    }
    /// Returns a token that identifies the current run of the printer's server, for [`Adapter::server_ran_since`];
    /// `None` if the type or this server provides none.
    async fn server_mark(&self) -> Result<Option<String>, PrinterError> {
        Ok(None)
    }
    /// Checks whether the printer's server has run without a restart since the token was issued, so that it remembers
    /// every print since.
    async fn server_ran_since(&self, _mark: &str) -> Result<ServerRun, PrinterError> {
        Ok(ServerRun::Unknown)
    }
    /// Deletes a file; fails with [`PrinterError::InUse`] while the file is printing or paused.
    async fn delete_file(&self, _name: &str) -> Result<Deleted, PrinterError> {
        Err(PrinterError::Unsupported(Operation::DeleteFile))
    }
    /// Lists all files below the upload root.
    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::ListFiles))
    }
    /// Runs the commands one after the other, waiting for them if the printer reports when they are done. Returns the
    /// lines that the printer's console printed in the meantime, as far as they were received. A command unknown to the
    /// printer is not an error.
    async fn run_gcode(&self, _commands: &[String]) -> Result<Vec<String>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::RunGcode))
    }
    /// Restarts the firmware, which is the way out of a firmware shutdown.
    async fn restart_firmware(&self) -> Result<(), PrinterError> {
        Err(PrinterError::Unsupported(Operation::RestartFirmware))
    }
    /// Homes all axes.
    async fn home(&self) -> Result<(), PrinterError> {
        Err(PrinterError::Unsupported(Operation::Home))
    }
    /// Reads the description that the printer's server gives of itself.
    async fn server_info(&self) -> Result<Value, PrinterError> {
        Err(PrinterError::Unsupported(Operation::ServerInfo))
    }
    /// Reads the printer's description of its firmware and connection.
    async fn printer_info(&self) -> Result<Value, PrinterError> {
        Err(PrinterError::Unsupported(Operation::PrinterInfo))
    }
    /// Lists the cameras that show the printer.
    async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::Webcams))
    }
    /// Opens the response with a picture of one of the printer's cameras, for types whose cameras require the printer's
    /// API key ([`PrinterType::guards_camera`]).
    async fn open_camera(&self, _url: &Url) -> Result<Response, PrinterError> {
        Err(PrinterError::Unsupported(Operation::Webcams))
    }
    /// Reads a description of the computer and operating system that the printer's server runs on.
    async fn system_info(&self) -> Result<Value, PrinterError> {
        Err(PrinterError::Unsupported(Operation::SystemInfo))
    }

    /// Resolves when the printer pushed a change worth a poll; supports one waiter. Pushes that arrive while nobody
    /// waits are merged into one. The first wait opens the connection. The push is only a hint, so callers poll the
    /// printer then, and periodically as well: a type without push never resolves.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    /// Returns the state of the push connection.
    fn push(&self) -> PushState {
        PushState::default()
    }
    /// Returns the telemetry pushed since the last call, apart from the changes that [`Adapter::changed`] signals.
    fn telemetry(&self) -> Option<Telemetry> {
        None
    }

    /// Returns the same as [`Adapter::status`], with a failure turned into the status of an unavailable printer.
    async fn look(&self, at: Timestamp) -> Status {
        match self.status(at).await {
            Ok(status) => status,
            Err(error) => Status::unavailable(error.connection(), error.to_string(), at),
        }
    }
}
