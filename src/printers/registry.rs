//! Printer types by name. A factory registered under a new `type` is usable everywhere at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::config::sections::Printers;
use crate::domain::dispatch::PrintableForms;
use crate::domain::file::GcodeForm;
use crate::printers::adapter::Adapter;
use crate::printers::wire::Wire;
use crate::printers::{fw_rest, server_rest};

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
    /// For an emergency stop.
    pub emergency_timeout: Duration,
}

/// Commands may run macros on the printer, so they are given this many times as long as requests for its status.
const COMMAND_TIMEOUT_FACTOR: u32 = 4;

/// Longest an emergency stop may take.
const EMERGENCY_TIMEOUT: Duration = Duration::from_secs(5);

impl From<&Printers> for Settings {
    fn from(printers: &Printers) -> Self {
        let request_timeout = printers.request_timeout_seconds.duration();
        Self {
            connect_timeout: printers.connect_timeout_seconds.duration(),
            request_timeout,
            command_timeout: request_timeout * COMMAND_TIMEOUT_FACTOR,
            upload_min_bytes_per_second: printers.upload_min_bytes_per_second,
            emergency_timeout: EMERGENCY_TIMEOUT,
        }
    }
}

impl Settings {
    /// Time limit of an upload of `size` bytes: the base and what it takes at the slowest rate allowed.
    pub fn upload_timeout(&self, size: u64) -> Duration {
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
    /// For types that want it; else empty.
    pub serial: String,
}

/// What a factory builds from.
#[derive(Clone, Debug)]
pub struct AdapterParts {
    /// Time limits.
    pub settings: Settings,
    /// For everything but emergency stops.
    pub client: reqwest::Client,
    /// For emergency stops alone, so that nothing queued delays them.
    pub emergency: reqwest::Client,
}

/// Why no adapter was made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MakeError {
    /// Nobody registered this type.
    #[error("unknown printer type {0:?}")]
    UnknownType(String),
    /// The base URL or key cannot be used.
    #[error("{0}")]
    BadAddress(String),
}

/// Makes an adapter of one type.
pub type Factory = Arc<dyn Fn(&AdapterParts, &PrinterAddress) -> Result<Arc<dyn Adapter>, MakeError> + Send + Sync>;

struct RegistryEntry {
    factory: Factory,
    default_port: Option<u16>,
}

/// A built-in printer type. Each declares itself in its folder.
pub struct PrinterType {
    /// The word for it in the API and in settings: `fw_rest`.
    pub word: &'static str,
    /// The port that its printers usually listen on.
    pub default_port: u16,
    /// The formats of G-code that its printers print.
    pub forms: &'static [GcodeForm],
    /// Makes the adapter of one printer over its HTTP client.
    pub(super) make: fn(Wire) -> Arc<dyn Adapter>,
}

/// The built-in types. A new one is its folder and a line here.
pub const PRINTER_TYPES: [PrinterType; 2] = [fw_rest::TYPE, server_rest::TYPE];

/// The words of the built-in types.
pub const BUILT_IN: [&str; PRINTER_TYPES.len()] = {
    let mut words = [""; PRINTER_TYPES.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = PRINTER_TYPES[at].word;
        at += 1;
    }
    words
};

/// The formats of G-code that printers of each built-in type print.
pub fn printable_forms() -> PrintableForms {
    PrintableForms::new(PRINTER_TYPES.iter().map(|one| (one.word, one.forms)))
}

/// The header that every built-in type takes its API key in.
const API_KEY_HEADER: &str = "x-api-key";

/// All printer types known to this server.
pub struct Registry {
    parts: AdapterParts,
    types: BTreeMap<String, RegistryEntry>,
}

impl Registry {
    /// With the built-in types. `client` and `emergency` must be two clients: they must not share connections.
    pub fn new(settings: Settings, client: reqwest::Client, emergency: reqwest::Client) -> Self {
        let mut registry = Self { parts: AdapterParts { settings, client, emergency }, types: BTreeMap::new() };
        for PrinterType { word, default_port, make, .. } in PRINTER_TYPES {
            let factory = move |parts: &AdapterParts, address: &PrinterAddress| {
                Ok(make(Wire::new(parts, address, default_port, API_KEY_HEADER)?))
            };
            registry.register(word, Some(default_port), Arc::new(factory));
        }
        registry
    }

    /// Adds a type, or replaces one.
    pub fn register(&mut self, kind: &str, default_port: Option<u16>, factory: Factory) {
        self.types.insert(kind.to_owned(), RegistryEntry { factory, default_port });
    }

    /// An adapter for a printer; nothing is sent yet.
    pub fn make(&self, kind: &str, address: &PrinterAddress) -> Result<Arc<dyn Adapter>, MakeError> {
        let entry = self.types.get(kind).ok_or_else(|| MakeError::UnknownType(kind.to_owned()))?;
        (entry.factory)(&self.parts, address)
    }

    /// Names of all types.
    pub fn types(&self) -> Vec<&str> {
        self.types.keys().map(String::as_str).collect()
    }

    /// The port that printers of a type usually listen on.
    pub fn default_port(&self, kind: &str) -> Option<u16> {
        self.types.get(kind)?.default_port
    }
}
