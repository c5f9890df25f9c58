//! Makes adapters: the one place where a printer's address, its type and the server's HTTP clients come together.

use std::sync::Arc;
use std::time::Duration;

use super::{PRINTER_TYPES, PrinterType};
use crate::config::sections::Printers;
use crate::domain::launch::{KnownTypes, TypeFacts};
use crate::domain::printer::{Printer, PrinterFields};
use crate::printers::adapter::Adapter;
use crate::printers::cameras::Cameras;
use crate::printers::upload::UploadTurns;
use crate::secrets::encryption::{EncryptionError, SecretCipher};

/// Time limits of the adapters.
#[derive(Clone, Debug)]
pub struct Settings {
    /// To open a connection. HTTP clients are handed in: build them with this, and without a read timeout.
    pub connect_timeout: Duration,
    /// For an answer to a question.
    pub request_timeout: Duration,
    /// For a command that may run macros on the printer, and the base of an upload's limit.
    pub command_timeout: Duration,
    /// An upload slower than this is given up.
    pub upload_min_bytes_per_second: u64,
    /// A printer that is silent for this long counts as offline; an upload of which it takes no byte for so long is
    /// given up.
    pub offline_after: Duration,
    /// For an emergency stop.
    pub emergency_timeout: Duration,
    /// For a picture of a camera.
    pub camera_timeout: Duration,
}

/// Commands may run macros on the printer, so they are given this many times as long as requests for its status.
const COMMAND_TIMEOUT_FACTOR: u32 = 4;

/// Longest time that an emergency stop may take.
const EMERGENCY_TIMEOUT: Duration = Duration::from_secs(5);

impl From<&Printers> for Settings {
    fn from(printers: &Printers) -> Self {
        let request_timeout = printers.request_timeout_seconds.duration();
        Self {
            connect_timeout: printers.connect_timeout_seconds.duration(),
            request_timeout,
            command_timeout: request_timeout * COMMAND_TIMEOUT_FACTOR,
            upload_min_bytes_per_second: printers.upload_min_bytes_per_second,
            offline_after: printers.offline_seconds.duration(),
            emergency_timeout: EMERGENCY_TIMEOUT,
            camera_timeout: printers.camera_timeout_seconds.duration(),
        }
    }
}

impl Settings {
    /// Time limit of an upload of `size` bytes: the base and what it takes at the slowest rate allowed.
    pub(super) fn upload_timeout(&self, size: u64) -> Duration {
        self.command_timeout + Duration::from_secs(size / self.upload_min_bytes_per_second.max(1))
    }
}

/// Where a printer is and how to get in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PrinterAddress {
    /// Base URL, port included. Without a scheme `http` is meant, and without a port then the type's default port.
    pub base_url: String,
    /// Empty: none is needed.
    pub api_key: String,
    /// For types that need it; else empty.
    pub serial: String,
    /// Digest of the key that the printer must show, in hexadecimal digits; `None` takes the first that it shows.
    pub known_key: Option<String>,
}

/// The address of a printer as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredAddress {
    /// The word of the printer's type.
    pub kind: String,
    /// Base URL, port included.
    pub base_url: String,
    /// The API key, encrypted; empty: none is needed.
    pub encrypted_api_key: String,
    /// The serial number, for types that need it.
    pub serial: Option<String>,
    /// Digest of the key that the printer must show, in hexadecimal digits.
    pub known_key: Option<String>,
}

impl From<&Printer> for StoredAddress {
    fn from(printer: &Printer) -> Self {
        let PrinterFields { kind, base_url, encrypted_api_key, serial, .. } = printer.fields.clone();
        Self { kind, base_url, encrypted_api_key, serial, known_key: printer.known_key.clone() }
    }
}

/// What an adapter is made from.
#[derive(Clone)]
pub struct AdapterParts {
    /// The declaration of the printer's type.
    pub declared: &'static PrinterType,
    /// Where the printer is.
    pub address: PrinterAddress,
    /// What all adapters of the server share.
    pub shared: SharedParts,
}

/// What all adapters share.
#[derive(Clone, Debug)]
pub struct SharedParts {
    /// Time limits of connections, calls and uploads.
    pub settings: Settings,
    /// For everything but emergency stops.
    pub client: reqwest::Client,
    /// For emergency stops alone, so that nothing queued delays them.
    pub emergency: reqwest::Client,
    /// Turns at uploading, for types whose uploads to one host must not overlap.
    pub(super) turns: Arc<UploadTurns>,
}

/// Why no adapter was made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MakeError {
    /// No type of this word is declared.
    #[error("unknown printer type {0:?}")]
    UnknownType(String),
    /// The base URL cannot be used.
    #[error("{0}")]
    BadAddress(String),
    /// The API key or access code cannot be used.
    #[error("{0}")]
    BadKey(String),
    /// The serial number is missing, or none that printers of the type have.
    #[error("{0}")]
    BadSerial(String),
    /// The stored API key cannot be read.
    #[error("its API key cannot be decrypted; is SECRETS_KEY the one that it was encrypted with? {0}")]
    Key(EncryptionError),
}

/// What printers of each type print, and from where.
pub fn known_types() -> KnownTypes {
    let facts = |one: &PrinterType| TypeFacts { forms: one.forms.to_vec(), maps_slots: one.maps_slots };
    KnownTypes::new(PRINTER_TYPES.iter().map(|one| (one.word, facts(one))))
}

/// Makes adapters of all printer types.
pub struct Registry {
    types: &'static [PrinterType],
    shared: SharedParts,
}

impl Registry {
    /// `client` and `emergency` must be two clients: they must not share connections.
    pub fn new(settings: Settings, client: reqwest::Client, emergency: reqwest::Client) -> Self {
        Self { types: PRINTER_TYPES, shared: SharedParts { settings, client, emergency, turns: Arc::default() } }
    }

    /// The cameras of printers, over the client of printers.
    pub(super) fn cameras(&self) -> Cameras {
        Cameras::new(self.shared.client.clone(), self.shared.settings.camera_timeout)
    }

    /// An adapter for a printer; nothing is sent yet.
    pub fn make(&self, kind: &str, address: PrinterAddress) -> Result<Arc<dyn Adapter>, MakeError> {
        let declared = self.types.iter().find(|declared| declared.word == kind);
        let declared = declared.ok_or_else(|| MakeError::UnknownType(kind.to_owned()))?;
        if declared.needs_serial && address.serial.trim().is_empty() {
            let words =
                format!("is required for printers of type {kind}: they are only reached with their serial number");
            return Err(MakeError::BadSerial(words));
        }
        (declared.make)(AdapterParts { declared, address, shared: self.shared.clone() })
    }

    /// An adapter for a printer whose API key is encrypted; nothing is sent yet.
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
