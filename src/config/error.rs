//! Why settings cannot be used, in words for whoever runs the server.

use std::io;
use std::path::PathBuf;

use super::dotenv::DotenvError;
use super::io_words::io_words;
use crate::domain::refusal::MAX_FAULTS;

/// Why the settings cannot be loaded. Texts name files and settings, never the value of a secret.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {}", path.display(), io_words(.source))]
    Read {
        /// Which file it is.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The settings file is not TOML.
    #[error("{} is not valid TOML: {problem}", path.display())]
    Toml {
        /// Which file it is.
        path: PathBuf,
        /// Line and column of the fault, and what is wrong there.
        problem: String,
    },
    /// A line of `.env` or `SECRETS_FILE` is not an assignment.
    #[error("{}: {source}", path.display())]
    Dotenv {
        /// Which file it is.
        path: PathBuf,
        /// The number of the faulty line, and what is wrong there; never its value.
        source: DotenvError,
    },
    /// Settings are unknown, missing or invalid; the list names all of them.
    #[error("the settings cannot be used:{}", listed(.0))]
    Refused(Vec<String>),
}

/// The error of all these faults.
pub(super) fn refused(mut faults: Vec<String>, more: Vec<String>) -> ConfigError {
    faults.extend(more);
    faults.truncate(MAX_FAULTS);
    ConfigError::Refused(faults)
}

/// One fault behind the words before it, several in lines of their own.
fn listed(faults: &[String]) -> String {
    match faults {
        [one] => format!(" {one}"),
        many => format!("\n  - {}", many.join("\n  - ")),
    }
}
