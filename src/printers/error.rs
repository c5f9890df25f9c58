//! Errors in communication with a printer.

use std::time::Duration;

use crate::operation::Operation;
use domain::printer_status::Connection;

/// Lowercase phrases with which printers' servers report that their storage is full.
const STORAGE_FULL_WORDS: [&str; 5] = ["no space left", "errno 28", "disk full", "disk space", "insufficient storage"];

/// Reason why an operation on a printer failed. The messages come from the printer if it provides any.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PrinterError {
    /// The connection could not be opened, so nothing was sent. Contains the reason.
    #[error("{}", unreachable_words(.0))]
    Unreachable(String),
    /// The connection broke when the request might already have been sent, so it may have been carried out. Contains
    /// the reason, which may be empty.
    #[error("the connection to the printer was lost{}", clause(.0))]
    Lost(String),
    /// No response arrived in time; the request may have been carried out, or may still be.
    #[error("the printer did not respond in time")]
    Timeout,
    /// An upload made no progress for the given time and was aborted.
    #[error("the printer accepted no upload data for {} s", .0.as_secs_f64())]
    Stalled(Duration),
    /// The printer stored something other than what was sent.
    #[error("the file stored by the printer differs from the one sent: {0}")]
    Altered(String),
    /// The printer rejected the API key.
    #[error("the printer rejected the API key: {0}")]
    WrongKey(String),
    /// The printer's web server responds, but the firmware behind it does not. The firmware may nevertheless have
    /// received the command.
    #[error("the printer's firmware is not connected: {0}")]
    FirmwareDisconnected(String),
    /// The printer rejected the request.
    #[error("the printer rejected the request: {message}")]
    Refused {
        /// HTTP status, or the closest equivalent for other protocols.
        status: u16,
        /// The printer's error message.
        message: String,
    },
    /// The file does not exist on the printer.
    #[error("the printer has no such file: {0}")]
    NotFound(String),
    /// The file, or the printer, is in use.
    #[error("in use by a print: {0}")]
    InUse(String),
    /// This type of printer does not support the operation.
    #[error("this type of printer does not support {0}")]
    Unsupported(Operation),
    /// Something responds at the address, but it is not the program that runs on printers of this type.
    #[error("the program at {address} is not {program}; check the port (usually {port}) and the printer type")]
    Stranger {
        /// Expected program.
        program: &'static str,
        /// Address that was attempted.
        address: String,
        /// Usual port of the expected program.
        port: u16,
    },
    /// The program at the address belongs to a different printer type and imitates the expected program.
    #[error("this printer's type must be {word}, because {program} responds at {address}")]
    WrongType {
        /// API name of the correct printer type.
        word: &'static str,
        /// Program that responds at the address.
        program: &'static str,
        /// Address that was attempted.
        address: String,
    },
    /// The printer's response violates its protocol.
    #[error("the printer's response is not valid: {0}")]
    BadAnswer(String),
    /// The request itself is invalid (file name, local file); nothing was sent.
    #[error("{0}")]
    Invalid(String),
}

/// Returns the message for a printer that cannot be reached. A reason that is a sentence about the printer needs no
/// introduction.
fn unreachable_words(reason: &str) -> String {
    if reason.contains("the printer") { reason.to_owned() } else { format!("the printer cannot be reached: {reason}") }
}

/// Returns the clause with a reason, which follows a sentence; empty if there is no reason.
fn clause(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

impl PrinterError {
    /// Converts a rejection with the given status, by which the printer reports that a file is printing or paused.
    pub(crate) fn or_in_use(self, status: u16, file: &str) -> Self {
        match self {
            Self::Refused { status: actual, .. } if actual == status => Self::InUse(file.to_owned()),
            other => other,
        }
    }

    /// Returns whether a start command definitely did not start the print, because the printer itself rejected the
    /// command (a 4xx response) or nothing was sent.
    pub fn certainly_not_done(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::WrongKey(_)
            | Self::NotFound(_)
            | Self::InUse(_)
            | Self::Unsupported(_)
            | Self::Stranger { .. }
            | Self::WrongType { .. }
            | Self::Invalid(_) => true,
            Self::Refused { status, .. } => (400..500).contains(status),
            Self::Lost(_)
            | Self::Timeout
            | Self::FirmwareDisconnected(_)
            | Self::BadAnswer(_)
            | Self::Stalled(_)
            | Self::Altered(_) => false,
        }
    }

    /// Returns whether the printer reported that its storage is full.
    pub fn disk_full(&self) -> bool {
        let Self::Refused { status, message } = self else { return false };
        let words = message.to_lowercase();
        *status == 507 || STORAGE_FULL_WORDS.iter().any(|full| words.contains(full))
    }

    /// Returns the connection state to report for a printer whose status poll failed with this error.
    pub fn connection(&self) -> Connection {
        match self {
            Self::WrongKey(_) => Connection::WrongKey,
            Self::FirmwareDisconnected(_) => Connection::FirmwareDisconnected,
            _ => Connection::Unreachable,
        }
    }
}
