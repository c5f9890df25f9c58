//! Entry of the fuzz target for settings files. Not part of the server.

use std::sync::LazyLock;

use super::FILE;
use super::file::read;
use super::layers::KnownSettings;

/// Settings that exist.
static SETTINGS: LazyLock<Option<KnownSettings>> = LazyLock::new(|| KnownSettings::new().ok());

/// Reads a settings file and detects unknown setting names in it.
pub fn settings_file(text: &str) {
    if let Some(settings) = &*SETTINGS {
        let _ = read(FILE, text, settings);
    }
}
