//! The printer adapter contract: what every brand of printer can be asked.
//!
//! An adapter carries a wish to the wire and tells truthfully what came back. It decides nothing, remembers nothing durable, never retries a command, and never starts what
//! it uploads.

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::printer_status::{PastPrint, Status};
use crate::domain::time::Timestamp;

pub use super::error::PrinterError;

/// What an adapter may or may not be able to do; the operations of the contract proper are supported by every type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// [`Adapter::history`].
    History,
    /// [`Adapter::delete_file`].
    DeleteFile,
    /// [`Adapter::list_files`] and [`Adapter::file_exists`].
    ListFiles,
    /// [`Adapter::run_gcode`].
    RunGcode,
    /// [`Adapter::restart_firmware`].
    RestartFirmware,
    /// [`Adapter::home`].
    Home,
    /// [`Adapter::server_info`].
    ServerInfo,
    /// [`Adapter::printer_info`].
    PrinterInfo,
    /// [`Adapter::webcams`].
    Webcams,
    /// [`Adapter::system_info`].
    SystemInfo,
    /// [`Adapter::changed`] resolves.
    Push,
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
            Self::Push => "push updates",
        })
    }
}

/// A local file to upload; streamed, never held in memory.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes; must be the file's length.
    pub size: u64,
    /// Lower-case hex, where known; computed where a printer's protocol wants it and it is not.
    pub sha256: Option<String>,
}

/// Degrees Celsius; 0 when unknown.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Temperatures {
    /// First nozzle.
    pub nozzle: f64,
    /// What the first nozzle is to reach.
    pub nozzle_target: f64,
    /// Heated bed.
    pub bed: f64,
    /// What the bed is to reach.
    pub bed_target: f64,
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
    /// Bytes, where told.
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
    /// A live picture.
    pub stream_url: Option<String>,
    /// A single picture.
    pub snapshot_url: Option<String>,
    /// Switched on.
    pub enabled: bool,
}

/// One printer, spoken to in its own protocol.
///
/// Names of files are paths relative to the printer's upload root, `/` between folders. Every call has its own time limit. Commands that run macros on the printer wait for
/// them; [`PrinterError::Timeout`] then says nothing about whether it happened.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// Whether this type can do it; if not, the operation answers [`PrinterError::Unsupported`].
    fn supports(&self, operation: Operation) -> bool;

    /// Makes the printer ready to be commanded where its server has such a step (serial port), and proves that it answers and takes our key.
    async fn connect(&self) -> Result<(), PrinterError>;
    /// Lets go of the printer. Refused with [`PrinterError::InUse`] where that would end a print.
    async fn disconnect(&self) -> Result<(), PrinterError>;
    /// The printer and its firmware answer, and we have not let go of it.
    async fn is_connected(&self) -> bool;
    /// One look, taken at `at`. A firmware that is away is a status, not an error.
    async fn status(&self, at: Timestamp) -> Result<Status, PrinterError>;
    /// Present and wanted temperatures.
    async fn temperatures(&self) -> Result<Temperatures, PrinterError>;
    /// How far the print is, 0 to 100.
    async fn progress(&self) -> Result<f64, PrinterError>;
    /// Stores a file without starting it; the name the printer really gave it. The time limit grows with the size.
    async fn upload(&self, name: &str, source: &Source) -> Result<String, PrinterError>;
    /// Prints an uploaded file. Ask [`PrinterError::certainly_not_done`] of a failure.
    async fn start(&self, name: &str) -> Result<(), PrinterError>;
    /// Pauses the print.
    async fn pause(&self) -> Result<(), PrinterError>;
    /// Goes on with a paused print.
    async fn resume(&self) -> Result<(), PrinterError>;
    /// Ends the print.
    async fn cancel(&self) -> Result<(), PrinterError>;
    /// Cuts motors and heaters at once, past everything queued, on a connection of its own.
    async fn emergency_stop(&self) -> Result<(), PrinterError>;

    /// What the printer remembers of prints of this file, newest first; empty: nothing.
    async fn history(&self, _name: &str) -> Result<Vec<PastPrint>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::History))
    }
    /// Deletes a file; [`PrinterError::InUse`] while it is printing or paused.
    async fn delete_file(&self, _name: &str) -> Result<Deleted, PrinterError> {
        Err(PrinterError::Unsupported(Operation::DeleteFile))
    }
    /// All files of the upload root.
    async fn list_files(&self) -> Result<Vec<RemoteFile>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::ListFiles))
    }
    /// Whether the printer has this file.
    async fn file_exists(&self, name: &str) -> Result<bool, PrinterError> {
        Ok(self.list_files().await?.iter().any(|file| file.path == name))
    }
    /// Runs commands in turn; waits for them where the printer tells when they are done.
    async fn run_gcode(&self, _commands: &[String]) -> Result<(), PrinterError> {
        Err(PrinterError::Unsupported(Operation::RunGcode))
    }
    /// Restarts the firmware; the way out of a shutdown.
    async fn restart_firmware(&self) -> Result<(), PrinterError> {
        Err(PrinterError::Unsupported(Operation::RestartFirmware))
    }
    /// Homes all axes.
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
    /// Its cameras.
    async fn webcams(&self) -> Result<Vec<Webcam>, PrinterError> {
        Err(PrinterError::Unsupported(Operation::Webcams))
    }
    /// The computer and operating system that it runs on.
    async fn system_info(&self) -> Result<Value, PrinterError> {
        Err(PrinterError::Unsupported(Operation::SystemInfo))
    }

    /// Resolves when the printer pushed something worth a look; for one waiter. Pushes while nobody waits are kept as one. The first wait opens the connection. It is a
    /// hint only, so poll as well: a type without push never resolves it.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    /// [`Adapter::status`], with a failure told as a printer that is away.
    async fn look(&self, at: Timestamp) -> Status {
        match self.status(at).await {
            Ok(status) => status,
            Err(error) => Status::away(error.connection(), error.to_string(), at),
        }
    }
}
