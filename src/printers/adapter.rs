//! Printer adapter contract: the operations that the server uses on printers of every brand.
//!
//! An adapter sends a command to the printer and returns the printer's response unchanged. It makes no decisions, keeps
//! no durable state, never retries a command, and never starts a file that it uploads.

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
pub use super::operation::Operation;
pub use super::requested_slots::RequestedSlots;
pub use super::telemetry::{Telemetry, Temperatures};

/// Local file to upload. It is streamed, never held in memory as a whole.
#[derive(Clone, Debug)]
pub struct Source {
    /// Local file path.
    pub path: PathBuf,
    /// Size in bytes; must equal the file's length.
    pub size: u64,
    /// Line of text, without a line break, to send before the file's own bytes; `None` for formats that are not text.
    pub first_line: Option<String>,
}

impl Source {
    /// Builds the upload source for a stored file whose content is at `path`.
    pub fn of(file: &File, path: PathBuf) -> Self {
        Self { path, size: file.size.unsigned_abs(), first_line: None }
    }

    /// Adds a first line that names the print if the file is plain-text G-code, so that the copy on the printer
    /// identifies the print that it was sent for.
    pub fn marked(mut self, print: Id, form: Option<GcodeForm>) -> Self {
        self.first_line = (form == Some(GcodeForm::Text)).then(|| format!("; printfloor print {print}"));
        self
    }

    /// Returns the bytes to send before the file's own bytes.
    pub(super) fn head(&self) -> Vec<u8> {
        self.first_line.as_ref().map(|line| format!("{line}\n").into_bytes()).unwrap_or_default()
    }

    /// Returns the total number of bytes to send.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.size + self.head().len() as u64
    }
}

/// Plate of an uploaded file to print, and the slots to feed it from. For printer types whose files contain a single
/// print from a single spool, only the name matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Name that the printer gave the file.
    pub name: String,
    /// ID of the attempt or manual print. Printers that identify prints by number get a number derived from it.
    pub print: Id,
    /// Plate number in the file, starting at 1.
    pub plate: u32,
    /// Slot that feeds each filament of the file; `None` for a filament that the plate does not use. Empty if no slots
    /// were chosen. Types that do not map slots ignore this list: the slots chosen for them already match, with
    /// filament n in slot n.
    pub slots: Vec<Option<FilamentSlot>>,
}

/// State of a push connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PushState {
    /// `true` if the connection is open and pushes changes, so the printer does not need to be polled.
    pub open: bool,
    /// Time at which the printer last sent something over the connection, even if the connection is closed now.
    pub last_heard: Option<Instant>,
}

/// Result of a file deletion. A file in use is reported as `Err(InUse)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deleted {
    /// The file existed and has been deleted.
    Gone,
    /// The file did not exist; the caller decides whether that is a failure.
    NotFound,
}

/// File stored on a printer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteFile {
    /// Path relative to the upload root.
    pub path: String,
    /// Size in bytes; `None` if the printer does not report it.
    pub size: Option<u64>,
    /// Time of the last modification; `None` if the printer does not report it.
    pub modified_at: Option<Timestamp>,
}

/// Camera that shows the printer. URLs are absolute.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webcam {
    /// Name reported by the printer.
    pub name: String,
    /// URL of the live stream, if the camera has one.
    pub stream_url: Option<String>,
    /// URL of the current image, if the camera provides one.
    pub snapshot_url: Option<String>,
    /// `true` if the camera is switched on.
    pub enabled: bool,
}

/// Client for one printer that uses the printer's own protocol.
///
/// File names are paths relative to the printer's upload root, with `/` between directories. Each call has its own time
/// limit. Commands that run macros on the printer wait for them to finish; after a [`PrinterError::Timeout`] the
/// command may or may not have been carried out.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// Returns the printer type's declaration.
    fn declared(&self) -> &'static PrinterType;
    /// Returns whether this printer supports an optional operation. If it does not, the operation fails with
    /// [`PrinterError::Unsupported`].
    fn supports(&self, operation: Operation) -> bool {
        !self.declared().lacks.contains(&operation)
    }

    /// Returns the hexadecimal digest of the key with which the printer proved its identity; `None` before the first
    /// connection, and for types that do not encrypt.
    fn shown_key(&self) -> Option<String> {
        None
    }

    /// Fails with [`PrinterError::WrongType`] if the program that responds at the address only imitates this type.
    /// Types that cannot be imitated send nothing.
    async fn recognise(&self) -> Result<(), PrinterError> {
        Ok(())
    }
    /// Makes the printer ready for commands, for example by opening its serial port if it has one, and verifies that it
    /// responds and accepts the API key.
    async fn connect(&self) -> Result<(), PrinterError>;
    /// Disconnects from the printer. Fails with [`PrinterError::InUse`] if that would end a print.
    async fn disconnect(&self) -> Result<(), PrinterError>;
    /// Returns whether the printer and its firmware respond and no operator has disconnected the printer.
    async fn is_connected(&self) -> bool;
    /// Reads the printer's status and timestamps it with `at`. If the printer's server responds but the firmware does
    /// not, returns a status rather than an error.
    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError>;
    /// Reads the printer's status and returns the nozzle and bed temperatures in °C.
    async fn temperatures(&self) -> Result<Temperatures, PrinterError> {
        let Status { nozzle, bed, .. } = self.connected_status().await?;
        Ok(Temperatures { nozzle, bed })
    }
    /// Reads the progress of the current print in percent, from 0 to 100.
    async fn progress(&self) -> Result<f64, PrinterError> {
        Ok(self.connected_status().await?.progress)
    }
    /// Reads the status; fails if the firmware does not respond.
    async fn connected_status(&self) -> Result<Status, PrinterError> {
        let status = self.status(Timestamp::default()).await?;
        if status.connection == Connection::Connected {
            return Ok(status);
        }
        Err(PrinterError::FirmwareDisconnected(status.message.unwrap_or_default()))
    }
    /// Stores a file without printing it, verifies the stored copy if the printer's server allows reading it back, and
    /// returns the name that the printer gave the file. The time limit grows with the file size.
    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError>;
    /// Starts printing an uploaded file. After a failure, [`PrinterError::certainly_not_done`] indicates whether the
    /// print may have started nevertheless.
    async fn start(&self, name: &str) -> Result<(), PrinterError>;
    /// Starts a print like [`Adapter::start`], with the given plate and slots. A type that declares that it maps slots
    /// ([`PrinterType::maps_slots`]) uses exactly these slots or fails.
    async fn launch(&self, launch: &Launch) -> Result<(), PrinterError> {
        self.start(&launch.name).await
    }
    /// Chooses the slots that feed a manual print, in the form of [`Launch::slots`]. Sends nothing to the printer.
    /// Types that do not map slots choose none. Fails with [`PrinterError::Invalid`] if an operator has to choose.
    async fn choose_slots(&self, _wanted: &RequestedSlots) -> Result<Vec<Option<FilamentSlot>>, PrinterError> {
        Ok(Vec::new())
    }
    /// Pauses the current print, regardless of its file.
    async fn pause(&self) -> Result<(), PrinterError>;
    /// Resumes a paused print.
    async fn resume(&self) -> Result<(), PrinterError>;
    /// Cancels the current print, regardless of its file; callers must first check which file is printing.
    async fn cancel(&self) -> Result<(), PrinterError>;
    /// Switches off motors and heaters immediately, bypassing all queued work, over a separate connection. A type
    /// without an emergency stop ends the current print in the fastest way available or, if there is none, fails with
    /// [`PrinterError::Unsupported`].
    async fn emergency_stop(&self) -> Result<(), PrinterError>;

    /// Returns the given file's past prints that the printer remembers, newest first.
    async fn history(&self, _name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::History))
    }
    /// Returns whether the printer's server still has its record of the given file, which includes the outcome of each
    /// print.
    async fn keeps_record(&self, _name: &str) -> Result<bool, PrinterError> {
        Ok(false)
    }
    /// Returns a token that identifies the current run of the printer's server, for [`Adapter::server_ran_since`];
    /// `None` if this type or server provides none.
    async fn server_mark(&self) -> Result<Option<String>, PrinterError> {
        Ok(None)
    }
    /// Returns whether the printer's server has been running without a restart since it issued the token `_mark`. If it
    /// has, it remembers all prints since then.
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
    /// Runs G-code commands in order, and waits until they finish if the printer reports that. Returns the console
    /// lines received in the meantime. A command that the printer does not recognise is not an error.
    async fn run_gcode(&self, _commands: &[String]) -> Result<Vec<String>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::RunGcode))
    }
    /// Restarts the firmware, which ends a firmware shutdown.
    async fn restart_firmware(&self) -> Result<(), PrinterError> {
        Err(PrinterError::Unsupported(Operation::RestartFirmware))
    }
    /// Homes all axes.
    async fn home(&self) -> Result<(), PrinterError> {
        Err(PrinterError::Unsupported(Operation::Home))
    }
    /// Reads the self-description of the printer's server.
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
    /// Requests an image from one of the printer's cameras and returns the response, for types whose cameras require
    /// the printer's API key ([`PrinterType::guards_camera`]).
    async fn open_camera(&self, _url: &Url) -> Result<Response, PrinterError> {
        Err(PrinterError::Unsupported(Operation::Webcams))
    }
    /// Reads a description of the computer and operating system that the printer's server runs on.
    async fn system_info(&self) -> Result<Value, PrinterError> {
        Err(PrinterError::Unsupported(Operation::SystemInfo))
    }

    /// Resolves when the printer has pushed a change that makes a poll worthwhile; supports one waiter. The first wait
    /// opens the connection. Pushes that arrive while nobody waits are merged into one. A push is only a hint, so
    /// callers then poll the printer. They also poll it periodically, because types without push never resolve this
    /// future.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    /// Returns the state of the push connection.
    fn push(&self) -> PushState {
        PushState::default()
    }
    /// Resolves when the printer has pushed telemetry, which [`Adapter::telemetry`] then returns; supports one waiter.
    async fn telemetry_pushed(&self) {
        std::future::pending::<()>().await;
    }
    /// Returns the telemetry pushed since the last call. It does not include the changes signalled by
    /// [`Adapter::changed`].
    fn telemetry(&self) -> Option<Telemetry> {
        None
    }

    /// Reads the printer's status like [`Adapter::status`], but if that fails, returns the status of an unavailable
    /// printer.
    async fn look(&self, at: Timestamp) -> Status {
        match self.status(at).await {
            Ok(status) => status,
            Err(error) => Status::unavailable(error.connection(), error.to_string(), at),
        }
    }
}
