//! Where settings come from, kept beside them so that they can be changed there.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::DOTENV;
use super::shown::Given;

/// Where settings come from.
#[derive(Clone)]
pub struct LoadOptions {
    /// The file named with `--config`; it must exist. None: [`super::FILE`] in `cwd`, if it exists.
    pub file: Option<PathBuf>,
    /// The environment, for example [`super::process_env`].
    pub env: Vec<(String, String)>,
    /// The working directory: where `.env`, and a relative `file`, are looked for.
    pub cwd: PathBuf,
    /// Settings from the command line, as (`section.key`, text); they win over all else.
    pub overrides: Vec<(&'static str, String)>,
}

impl LoadOptions {
    /// The file of variables.
    pub(super) fn dotenv(&self) -> PathBuf {
        self.cwd.join(DOTENV)
    }
}

/// Where the settings in force came from; nothing for settings that were not loaded. It is no part of what the settings
/// are: all origins are equal, and none is printed, because the environment holds secrets.
#[derive(Clone, Default)]
pub struct Origin(Option<Arc<(LoadOptions, BTreeMap<String, Given>)>>);

impl Origin {
    /// These sources, of which some set these settings.
    pub(super) fn new(options: LoadOptions, given: BTreeMap<String, Given>) -> Self {
        Self(Some(Arc::new((options, given))))
    }

    /// The sources; `None` if the settings were not loaded.
    pub(super) fn options(&self) -> Option<&LoadOptions> {
        self.0.as_ref().map(|known| &known.0)
    }

    /// The source and value of a setting that some source sets.
    pub fn given(&self, key: &str) -> Option<&Given> {
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
