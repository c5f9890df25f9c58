//! Parts that an adapter is made of: the address of its printer, time limits, and what all adapters share.

use std::sync::Arc;
use std::time::Duration;

use crate::PrinterType;
use crate::upload_locks::UploadLocks;
use config::sections::PrintersConfig;
use platform::secrets::encryption::EncryptionError;

/// Time limits for adapters.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Time limit for opening a connection. The HTTP clients used with these settings must have the same limit, and no
    /// read timeout.
    pub connect_timeout: Duration,
    /// Time limit for the response to a query.
    pub request_timeout: Duration,
    /// Time limit for a command that may run macros on the printer, and the fixed part of an upload's limit.
    pub command_timeout: Duration,
    /// Minimum transfer rate of an upload; slower uploads are aborted.
    pub upload_min_bytes_per_second: u64,
    /// Silence after which a printer is considered offline, and time without progress after which an upload is aborted.
    pub offline_after: Duration,
    /// Time limit for an emergency stop.
    pub emergency_timeout: Duration,
    /// Time limit for fetching a camera image.
    pub camera_timeout: Duration,
    /// Maximum time for which an upload waits for another upload to the same printer to finish.
    pub upload_wait: Duration,
    /// Time limit for the TLS handshake of a data connection over which files are sent.
    pub data_handshake_timeout: Duration,
}

/// Factor by which the time limit for commands exceeds that for status requests, because commands may run macros on the
/// printer.
const COMMAND_TIMEOUT_FACTOR: u32 = 4;

/// Maximum time limit for an emergency stop.
const EMERGENCY_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time for which an upload waits for another upload to the printer to finish. It takes the printer a while to
/// notice that an upload has been aborted.
pub(crate) const UPLOAD_WAIT: Duration = Duration::from_secs(20);

/// Time limit for the TLS handshake of a data connection. Some models never respond to the handshake.
pub(crate) const DATA_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

impl From<&PrintersConfig> for Settings {
    fn from(printers: &PrintersConfig) -> Self {
        let request_timeout = printers.request_timeout_seconds.duration();
        Self {
            connect_timeout: printers.connect_timeout_seconds.duration(),
            request_timeout,
            command_timeout: request_timeout * COMMAND_TIMEOUT_FACTOR,
            upload_min_bytes_per_second: printers.upload_min_bytes_per_second,
            offline_after: printers.offline_seconds.duration(),
            emergency_timeout: EMERGENCY_TIMEOUT,
            camera_timeout: printers.camera_timeout_seconds.duration(),
            upload_wait: UPLOAD_WAIT,
            data_handshake_timeout: DATA_HANDSHAKE_TIMEOUT,
        }
    }
}

impl Settings {
    /// Returns the time limit for an upload of `size` bytes: a fixed part plus the transfer time at the minimum rate.
    pub(super) fn upload_timeout(&self, size: u64) -> Duration {
        self.command_timeout + Duration::from_secs(size / self.upload_min_bytes_per_second.max(1))
    }
}

/// Printer address and credentials.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PrinterAddress {
    /// Base URL including the port. The default scheme is `http`, for which the default port is that of the printer
    /// type.
    pub base_url: String,
    /// API key; empty if none is needed.
    pub api_key: String,
    /// Serial number for types that need one, otherwise empty.
    pub serial: String,
    /// Hexadecimal digest of the key that the printer must present; if `None`, the first key presented is accepted.
    pub known_key: Option<String>,
}

/// Parts from which an adapter is created.
#[derive(Clone)]
pub struct AdapterParts {
    /// Printer type declaration.
    pub declared: &'static PrinterType,
    /// Address and credentials of the printer.
    pub address: PrinterAddress,
    /// Resources shared by all adapters of the server.
    pub shared: SharedParts,
}

/// Resources shared by all adapters.
#[derive(Clone, Debug)]
pub struct SharedParts {
    /// Time limits for connections, calls and uploads.
    pub settings: Settings,
    /// HTTP client for everything except emergency stops.
    pub client: reqwest::Client,
    /// Separate HTTP client for emergency stops, so that queued work cannot delay them.
    pub emergency: reqwest::Client,
    /// Upload locks, for types whose uploads to one host must not overlap.
    pub(super) turns: Arc<UploadLocks>,
}

/// Reason why an adapter could not be created.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MakeError {
    /// No printer type has this name.
    #[error("unknown printer type {0:?}")]
    UnknownType(String),
    /// The base URL is invalid.
    #[error("{0}")]
    BadAddress(String),
    /// The API key or access code is invalid.
    #[error("{0}")]
    BadKey(String),
    /// The serial number is missing, or invalid for the printer type.
    #[error("{0}")]
    BadSerial(String),
    /// The stored API key cannot be decrypted.
    #[error("the printer's API key cannot be decrypted; check that SECRETS_KEY is the key it was encrypted with: {0}")]
    Key(EncryptionError),
}
