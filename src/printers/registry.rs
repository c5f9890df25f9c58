//! Creates adapters. No other module combines a printer's address, its type and the server's HTTP clients.

use std::sync::Arc;
use std::time::Duration;

use super::{PRINTER_TYPES, PrinterType};
use crate::adapter::Adapter;
use crate::cameras::Cameras;
use crate::upload::UploadLocks;
use config::sections::PrintersConfig;
use domain::launch::{KnownTypes, TypeFacts};
use domain::printer::{Printer, PrinterFields};
use platform::secrets::encryption::{EncryptionError, SecretCipher};

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

/// Printer address, as stored in the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredAddress {
    /// API name of the printer type.
    pub kind: String,
    /// Base URL including the port.
    pub base_url: String,
    /// Encrypted API key; empty if none is needed.
    pub encrypted_api_key: String,
    /// Serial number for types that need one.
    pub serial: Option<String>,
    /// Hexadecimal digest of the key that the printer must present.
    pub known_key: Option<String>,
}

impl From<&Printer> for StoredAddress {
    fn from(printer: &Printer) -> Self {
        let PrinterFields { kind, base_url, encrypted_api_key, serial, .. } = printer.fields.clone();
        Self { kind, base_url, encrypted_api_key, serial, known_key: printer.known_key.clone() }
    }
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

/// Returns the formats and slot rules of each printer type.
pub fn known_types() -> KnownTypes {
    let facts = |one: &PrinterType| TypeFacts {
        forms: one.forms.to_vec(),
        maps_slots: one.maps_slots,
        labels: one.slot_labels,
    };
    KnownTypes::new(PRINTER_TYPES.iter().map(|one| (one.word, facts(one))))
}

/// Constructor of adapters in place of those of the printer types; sends nothing.
pub type AdapterFactory = Box<dyn Fn(AdapterParts) -> Result<Arc<dyn Adapter>, MakeError> + Send + Sync>;

/// Factory for the adapters of all printer types.
pub struct Registry {
    types: &'static [PrinterType],
    shared: SharedParts,
    /// Factory of a simulation, whose printers have no address; `None` if the types create their adapters.
    factory: Option<AdapterFactory>,
}

impl Registry {
    /// Creates a registry. `client` and `emergency` must be separate clients that share no connections.
    pub fn new(settings: Settings, client: reqwest::Client, emergency: reqwest::Client) -> Self {
        let shared = SharedParts { settings, client, emergency, turns: Arc::default() };
        Self { types: PRINTER_TYPES, shared, factory: None }
    }

    /// Creates all adapters with the given factory, for simulations.
    pub fn with_factory(self, factory: AdapterFactory) -> Self {
        Self { factory: Some(factory), ..self }
    }

    /// Creates the camera set, which uses the HTTP client for printers.
    pub(super) fn cameras(&self) -> Cameras {
        Cameras::new(self.shared.client.clone(), self.shared.settings.camera_timeout)
    }

    /// Creates the adapter for a printer; sends nothing yet.
    pub fn make(&self, kind: &str, address: PrinterAddress) -> Result<Arc<dyn Adapter>, MakeError> {
        let declared = self.types.iter().find(|declared| declared.word == kind);
        let declared = declared.ok_or_else(|| MakeError::UnknownType(kind.to_owned()))?;
        if declared.needs_serial && address.serial.trim().is_empty() {
            let words = format!("is required to connect to printers of type {kind}");
            return Err(MakeError::BadSerial(words));
        }
        let parts = AdapterParts { declared, address, shared: self.shared.clone() };
        match &self.factory {
            Some(factory) => factory(parts),
            None => (declared.make)(parts),
        }
    }

    /// Creates the adapter for a printer whose API key is encrypted; sends nothing yet.
    pub fn open(&self, stored: &StoredAddress, cipher: &SecretCipher) -> Result<Arc<dyn Adapter>, MakeError> {
        let api_key = match stored.encrypted_api_key.as_str() {
            "" => String::new(),
            encrypted => cipher.decrypt(encrypted).map_err(MakeError::Key)?,
        };
        let serial = stored.serial.clone().unwrap_or_default();
        let (base_url, known_key) = (stored.base_url.clone(), stored.known_key.clone());
        self.make(&stored.kind, PrinterAddress { base_url, api_key, serial, known_key })
    }
}

#[cfg(test)]
mod tests;
