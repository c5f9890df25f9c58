//! What can go wrong between us and a printer.

use std::time::Duration;

use crate::domain::printer_status::Connection;
use crate::printers::adapter::Operation;

/// What printers' own servers say, in lower case, when their storage is full.
const STORAGE_FULL_WORDS: [&str; 5] = ["no space left", "errno 28", "disk full", "disk space", "insufficient storage"];

/// Why an operation on a printer gave no result. Messages are the printer's own words where it has any.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PrinterError {
    /// The connection could not be opened, so nothing was sent.
    #[error("the printer cannot be reached: {0}")]
    Unreachable(String),
    /// The connection broke after the request may have gone out: it may have happened.
    #[error("the connection to the printer was lost: {0}")]
    Lost(String),
    /// No answer in time: it may have happened, or still happen.
    #[error("the printer did not answer in time")]
    Timeout,
    /// An upload stood still for so long that it was given up.
    #[error("the printer took no byte of the upload for {} s", .0.as_secs_f64())]
    Stalled(Duration),
    /// It stored something else than what was sent to it.
    #[error("the printer stored something else than what was sent: {0}")]
    Altered(String),
    /// It refuses our key.
    #[error("the printer refuses the api key: {0}")]
    WrongKey(String),
    /// Its web server answers, the firmware behind it does not. The command may have reached the firmware before.
    #[error("the printer's firmware is not connected: {0}")]
    FirmwareDisconnected(String),
    /// The printer answered that it does not do it.
    #[error("the printer refused: {message}")]
    Refused {
        /// HTTP status, or the nearest one for other protocols.
        status: u16,
        /// The printer's own words.
        message: String,
    },
    /// It has no such file.
    #[error("the printer has no such file: {0}")]
    NotFound(String),
    /// The file, or the printer, is in use.
    #[error("in use by a print: {0}")]
    InUse(String),
    /// This type of printer cannot do that.
    #[error("this type of printer does not support {0}")]
    Unsupported(Operation),
    /// Something answers at the address, and it is not the program that the printer's type runs.
    #[error("no {program} answers at {address}: is this its port ({port}), and is the type right?")]
    Stranger {
        /// The program that was expected.
        program: &'static str,
        /// The address that was tried.
        address: String,
        /// The port that the program usually listens on.
        port: u16,
    },
    /// A program of another printer type answers, which pretends to be that of this type.
    #[error("the type of this printer must be {word}: {program} answers at {address}")]
    WrongType {
        /// The word of the right type.
        word: &'static str,
        /// The program that answers.
        program: &'static str,
        /// The address that was tried.
        address: String,
    },
    /// It answered something that its protocol does not allow.
    #[error("the printer's answer is not understood: {0}")]
    BadAnswer(String),
    /// What we were asked to send makes no sense (file name, local file); nothing was sent.
    #[error("{0}")]
    Invalid(String),
}

impl PrinterError {
    /// After a failed start: true only where the print cannot have begun, because the printer itself refused (a 4xx
    /// answer) or nothing was sent.
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

    /// Whether the printer says that its storage is full.
    pub fn disk_full(&self) -> bool {
        let Self::Refused { status, message } = self else { return false };
        let words = message.to_lowercase();
        *status == 507 || STORAGE_FULL_WORDS.iter().any(|full| words.contains(full))
    }

    /// How we stand with a printer whose status could not be read for this reason.
    pub fn connection(&self) -> Connection {
        match self {
            Self::WrongKey(_) => Connection::WrongKey,
            Self::FirmwareDisconnected(_) => Connection::FirmwareDisconnected,
            _ => Connection::Unreachable,
        }
    }
}
