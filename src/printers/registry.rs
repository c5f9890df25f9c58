//! Creates adapters. No other module combines a printer's address, its type and the server's HTTP clients.

use std::sync::Arc;

use super::{CONSTRUCTORS, PRINTER_TYPES, PrinterType};
use crate::adapter::Adapter;
use crate::cameras::Cameras;
use domain::launch::{KnownTypes, TypeFacts};
use domain::printer::{Printer, PrinterFields};
use platform::secrets::encryption::SecretCipher;

pub use crate::adapter_parts::{AdapterParts, MakeError, PrinterAddress, Settings, SharedParts};

/// Constructor of the adapter for one printer; sends nothing.
pub(super) type MakeAdapter = fn(AdapterParts) -> Result<Arc<dyn Adapter>, MakeError>;

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

/// Returns the formats and slot rules of each printer type.
pub fn known_types() -> KnownTypes {
    let facts = |one: &PrinterType| TypeFacts {
        forms: one.forms.to_vec(),
        maps_slots: one.maps_slots,
        labels: one.slot_labels,
    };
    KnownTypes::new(PRINTER_TYPES.iter().map(|one| (one.word, facts(one))))
}

/// Constructor of adapters that replaces the printer types' own; sends nothing.
pub type AdapterFactory = Box<dyn Fn(AdapterParts) -> Result<Arc<dyn Adapter>, MakeError> + Send + Sync>;

/// Factory for the adapters of all printer types.
pub struct Registry {
    types: &'static [PrinterType],
    /// Constructors of the types' adapters, by the name of the type.
    constructors: &'static [(&'static str, MakeAdapter)],
    shared: SharedParts,
    /// Factory of a simulation, whose printers have no address; `None` if the types create their adapters.
    factory: Option<AdapterFactory>,
}

impl Registry {
    /// Creates a registry. `client` and `emergency` must be separate clients that share no connections.
    pub fn new(settings: Settings, client: reqwest::Client, emergency: reqwest::Client) -> Self {
        let shared = SharedParts { settings, client, emergency, turns: Arc::default() };
        Self { types: PRINTER_TYPES, constructors: CONSTRUCTORS, shared, factory: None }
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
        if let Some(factory) = &self.factory {
            return factory(parts);
        }
        let constructor = self.constructors.iter().find(|(word, _)| *word == kind);
        let (_, make) = constructor.ok_or_else(|| MakeError::UnknownType(kind.to_owned()))?;
        make(parts)
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
