//! Why a command failed, what to do about it, and the exit code.

use std::io;
use std::process::ExitCode;

use simulator::fleet::FleetError;

use super::api::ApiFailure;
use crate::actors::kernel::handle::AskError;
use crate::app::StartError as ShopError;
use crate::config::ConfigError;
use crate::server::StartError;
use crate::store::connect::OpenError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command makes no sense as it was given.
    #[error("{0}")]
    Usage(String),
    /// In words of its own.
    #[error("{0}")]
    Failed(String),
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The server does not start.
    #[error(transparent)]
    Start(Box<StartError>),
    /// Simulated printers do not start.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The running server said no, or nothing.
    #[error(transparent)]
    Api(#[from] ApiFailure),
    /// The shop said no.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The system said no.
    #[error("{doing}: {source}")]
    Io {
        /// What could not be done.
        doing: String,
        /// Why.
        source: io::Error,
    },
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        Self::Start(Box::new(error))
    }
}

impl CliError {
    /// Says what could not be done.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }

    /// 2 for wrong usage, 1 for everything else.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Usage(_)) { 2 } else { 1 })
    }

    /// What to do about it, where that is not plain.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Usage(_) => Some("printfloor --help tells how"),
            Self::Config(ConfigError::Setting(_) | ConfigError::Toml { .. }) => {
                Some("config.toml of the source lists every setting with its meaning")
            }
            Self::Start(error) => start_advice(error),
            Self::Fleet(FleetError::Listen { .. }) => {
                Some("choose other ports with --base-port, or leave it away for free ones")
            }
            _ => None,
        }
    }
}

fn start_advice(error: &StartError) -> Option<&'static str> {
    match error {
        StartError::Data { .. } => Some("choose another folder with --data DIR, or make it writable for this user"),
        StartError::Held { .. } => Some("stop that server first, or give this one a folder of its own with --data DIR"),
        StartError::Listen { source, .. } => match source.kind() {
            io::ErrorKind::AddrInUse => {
                Some("something listens there already: stop it, or choose another with --listen ADDR")
            }
            io::ErrorKind::AddrNotAvailable => {
                Some("this machine has no such address: choose another with --listen ADDR")
            }
            io::ErrorKind::PermissionDenied => {
                Some("ports below 1024 need privileges: choose another with --listen ADDR")
            }
            _ => None,
        },
        StartError::App(ShopError::Open(OpenError::InUse)) => {
            Some("stop that server first, or give this one a database of its own with DATABASE_URL")
        }
        StartError::App(ShopError::Open(_)) => {
            Some("is the database running, and is DATABASE_URL right? printfloor check looks closer")
        }
        StartError::App(ShopError::Mail(_)) => Some("see [mail] in config.toml; printfloor check looks closer"),
        StartError::App(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_usage_is_told_from_failure() {
        assert_eq!(CliError::Usage(String::new()).exit_code(), ExitCode::from(2));
        assert_eq!(CliError::Failed(String::new()).exit_code(), ExitCode::from(1));
    }

    #[test]
    fn a_port_in_use_says_what_to_do() {
        let source = io::Error::from(io::ErrorKind::AddrInUse);
        let error = CliError::from(StartError::Listen { address: "127.0.0.1:1".to_owned(), source });
        assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
        assert!(error.advice().is_some_and(|advice| advice.contains("--listen")));
    }
}
