//! Errors that prevent the settings from being used, with messages for the operator.

use std::io;
use std::path::PathBuf;

use super::dotenv::DotenvError;
use domain::refusal::MAX_FAULTS;
use platform::io_words::io_words;

/// Reason that the settings cannot be loaded. Messages name files and settings, but never reveal the value of a secret.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {}", path.display(), io_words(.source))]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Underlying operating system error.
        source: io::Error,
    },
    /// The settings file is not valid TOML.
    #[error("{} is not valid TOML: {problem}", path.display())]
    Toml {
        /// Path of the file.
        path: PathBuf,
        /// Line and column of the error, with a description.
        problem: String,
    },
    /// A line in `.env` or `SECRETS_FILE` is not an assignment.
    #[error("{}: {source}", path.display())]
    Dotenv {
        /// Path of the file.
        path: PathBuf,
        /// Line number and description of the error; never includes the value.
        source: DotenvError,
    },
    /// Settings are unknown, missing or invalid; each error is listed.
    #[error("invalid settings:{}", listed(.0))]
    Refused(Vec<String>),
}

/// Builds the error that lists the given messages, up to a maximum number.
pub(super) fn refused(mut faults: Vec<String>, more: Vec<String>) -> ConfigError {
    faults.extend(more);
    faults.truncate(MAX_FAULTS);
    ConfigError::Refused(faults)
}

/// Formats a single message on the same line, and several messages on separate lines.
fn listed(faults: &[String]) -> String {
    match faults {
        [one] => format!(" {one}"),
        many => format!("\n  - {}", many.join("\n  - ")),
    }
}
