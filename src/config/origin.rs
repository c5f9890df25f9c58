//! Sources of the settings, stored with the settings so that the settings can be changed at their source.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::DOTENV;
use super::configured_setting::ConfiguredSetting;

/// Sources that settings are loaded from.
#[derive(Clone)]
pub struct LoadOptions {
    /// File specified with `--config`, which must exist. If `None`, [`super::FILE`] in `cwd` is used, if it exists.
    pub file: Option<PathBuf>,
    /// Environment variables, for example [`super::process_env`].
    pub env: Vec<(String, String)>,
    /// Working directory, which contains `.env` and a relative `file`.
    pub cwd: PathBuf,
    /// Settings from the command line, as (`section.key`, text); they override all other sources.
    pub overrides: Vec<(&'static str, String)>,
}

impl LoadOptions {
    /// Returns the path of the `.env` file.
    pub(super) fn dotenv(&self) -> PathBuf {
        self.cwd.join(DOTENV)
    }
}

/// Sources of the settings in effect; empty for settings that were not loaded. The origin is not part of the settings'
/// value, so any two origins compare equal. Its contents are never printed, because the environment contains secrets.
#[derive(Clone, Default)]
pub struct Origin(Option<Arc<(LoadOptions, BTreeMap<String, ConfiguredSetting>)>>);

impl Origin {
    /// Builds the origin of settings loaded from the given sources. `given_settings` contains the settings set by a
    /// source other than the defaults.
    pub(super) fn new(options: LoadOptions, given_settings: BTreeMap<String, ConfiguredSetting>) -> Self {
        Self(Some(Arc::new((options, given_settings))))
    }

    /// Returns the sources; `None` if the settings were not loaded.
    pub(super) fn options(&self) -> Option<&LoadOptions> {
        self.0.as_ref().map(|loaded| &loaded.0)
    }

    /// Returns the source and value of a setting; `None` if no source other than the defaults sets it.
    pub fn given_setting(&self, key: &str) -> Option<&ConfiguredSetting> {
        self.0.as_ref()?.1.get(key)
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Origin")
    }
}
