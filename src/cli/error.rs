//! Errors of commands, with advice and exit codes.

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
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// A failure described in full by its text.
    #[error("{0}")]
    Failed(String),
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The server cannot start.
    #[error(transparent)]
    Start(Box<StartError>),
    /// The simulated printers cannot start.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The running server refused the request or did not answer.
    #[error(transparent)]
    Api(#[from] ApiFailure),
    /// A command to the shop was refused.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// An operation of the operating system failed.
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
    /// Describes a failed operation, for `map_err`.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }

    /// 2 for wrong usage, 1 for everything else.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Usage(_)) { 2 } else { 1 })
    }

    /// Advice, where the error itself does not say what to do.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Usage(_) => Some("printfloor --help lists the commands and their options"),
            Self::Config(ConfigError::Setting(_) | ConfigError::Toml { .. }) => {
                Some("config.toml in the source code explains every setting")
            }
            Self::Start(error) => start_advice(error),
            Self::Fleet(FleetError::Listen { .. }) => {
                Some("choose other ports with --base-port, or omit it to use free ports")
            }
            _ => None,
        }
    }
}

fn start_advice(error: &StartError) -> Option<&'static str> {
    match error {
        StartError::Data { .. } => {
            Some("choose another directory with --data DIR, or make this one writable for this user")
        }
        StartError::Held { .. } => Some("stop that server first, or give this one its own directory with --data DIR"),
        StartError::Listen { source, .. } => match source.kind() {
            io::ErrorKind::AddrInUse => {
                Some("another program listens there: stop it, or choose another address with --listen ADDR")
            }
            io::ErrorKind::AddrNotAvailable => {
                Some("this machine does not have that address: choose another with --listen ADDR")
            }
            io::ErrorKind::PermissionDenied => {
                Some("ports below 1024 need special privileges: choose another port with --listen ADDR")
            }
            _ => None,
        },
        StartError::App(ShopError::Open(OpenError::InUse)) => {
            Some("stop that server first, or give this one its own database with DATABASE_URL")
        }
        StartError::App(ShopError::Open(_)) => {
            Some("is the database running, and is DATABASE_URL right? printfloor check tests it in detail")
        }
        StartError::App(ShopError::Mail(_)) => {
            Some("see the section [mail] of config.toml; printfloor check tests it in detail")
        }
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
