//! Command errors, with advice and exit codes.

use std::io;
use std::process::ExitCode;

use api_requests::RequestError;

use crate::actors::kernel::handle::AskError;
use crate::app::ShopStartError as ShopError;
use crate::app::own_secrets::SecretsError;
use crate::config::ConfigError;
use crate::server::StartError;
use crate::store::connect::{DatabaseSettings, OpenError, display_url};
use crate::store::stored_shop::StoredShopError;
use platform::io_words::io_words;

/// Reason that a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command-line arguments are invalid.
    #[error("{0}")]
    Usage(String),
    /// A failure that the text fully describes.
    #[error("{0}")]
    Failed(String),
    /// The process that reads standard output has closed it, which is not a failure.
    #[error("the output was closed")]
    ReaderGone,
    /// No server runs on the data directory, and the database contains no shop.
    #[error("{words}")]
    NoShop {
        /// Locations searched, and what was found in each.
        words: String,
        /// `true` if the command can create a new shop with `--new`.
        new: bool,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The server cannot start.
    #[error(transparent)]
    Start(Box<StartError>),
    /// The separate program that the command starts is not installed.
    #[error("could not find {program}; it must be in the same directory as this program or on the PATH")]
    NoTool {
        /// File name of the program.
        program: &'static str,
    },
    /// The running server rejected the request or did not respond.
    #[error(transparent)]
    Api(#[from] RequestError),
    /// The shop rejected a command.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// An operating system call failed.
    #[error("{doing}: {}", io_words(.source))]
    Io {
        /// Description of the failed operation.
        doing: String,
        /// Underlying operating system error.
        source: io::Error,
    },
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        Self::Start(Box::new(error))
    }
}

impl CliError {
    /// Builds a closure that describes a failed operation, for `map_err`.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }

    /// Builds the error for a command that reads or corrects a stored shop.
    pub fn of_shop(settings: &DatabaseSettings, error: &StoredShopError) -> Self {
        Self::Failed(format!("{}: {error}", display_url(&settings.url)))
    }

    /// Returns the exit code: 2 for incorrect usage, 1 for everything else.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Usage(_)) { 2 } else { 1 })
    }

    /// Returns advice, unless the error message already states what to do.
    pub fn advice(&self) -> Option<String> {
        let words = match self {
            Self::Usage(_) => "printfloor --help lists the commands and their options",
            Self::Config(ConfigError::Refused(_) | ConfigError::Toml { .. }) => {
                "`printfloor config --defaults` lists and explains every setting"
            }
            Self::NoShop { new: true, .. } => "did you mean another --data? (--new creates a new shop there)",
            Self::NoShop { new: false, .. } => "did you mean another --data?",
            Self::Start(error) => return start_advice(error),
            Self::NoTool { program } => {
                return Some(format!(
                    "the Debian package and the container include it; in a checkout, `cargo build --release` builds \
                     target/release/{program}, which belongs next to this program"
                ));
            }
            _ => return None,
        };
        Some(words.to_owned())
    }
}

fn start_advice(error: &StartError) -> Option<String> {
    let words = match error {
        StartError::Data { .. } | StartError::NotAFolder { .. } => {
            "choose another directory with --data DIR, or make this one writable for this user"
        }
        StartError::RestoreUnfinished { .. } => "run `printfloor restore FILE` again to start over",
        StartError::Held { .. } => "stop that server first, or use another directory with --data DIR",
        StartError::Listen { source, .. } => match source.kind() {
            io::ErrorKind::AddrInUse => {
                "another program is using this address; stop it, or choose another address with --listen ADDR"
            }
            io::ErrorKind::AddrNotAvailable => "choose another address with --listen ADDR",
            io::ErrorKind::PermissionDenied => {
                "ports below 1024 require special privileges; choose another port with --listen ADDR"
            }
            _ => return None,
        },
        StartError::Secrets(error) => return secrets_advice(error),
        StartError::Database { source, .. } => database_advice(source),
        StartError::NotShared { .. } => {
            "set files.dir to a bucket, or files.dir, and files.documents_dir or a bucket in [object_storage], to folders \
             that both servers use; see Two servers in docs/OPERATIONS.md"
        }
        StartError::App(ShopError::Mail(_)) => {
            "`printfloor config` explains the section [mail]; `printfloor check` tests it in detail"
        }
        StartError::App(ShopError::FilesBucket { .. }) => {
            "check files.dir and the endpoint, region and keys of [object_storage]; the key must be allowed to store, \
             read, list and delete objects, and `printfloor check` tests it"
        }
        StartError::App(_) | StartError::LeadLost(_) | StartError::Thread(_) => return None,
    };
    Some(words.to_owned())
}

fn secrets_advice(error: &SecretsError) -> Option<String> {
    match error {
        SecretsError::Missing { names, file, .. } => {
            let one = names.len() == 1;
            Some(format!(
                "restore {}, or set {} as {} when the shop was created, in .env or the environment",
                file.display(),
                if one { "it" } else { "them" },
                if one { "it was" } else { "they were" },
            ))
        }
        SecretsError::Differ { file, .. } => Some(format!(
            "set the previous value in {}, .env or the environment; `printfloor config --set` shows where the current \
             one is set",
            file.display()
        )),
        _ => None,
    }
}

/// Returns advice for a database that cannot be used.
pub fn database_advice(error: &OpenError) -> &'static str {
    match error {
        OpenError::InUse => {
            "specify the data directory of that server with --data DIR, stop it first, or use another database with \
             DATABASE_URL"
        }
        OpenError::Unreachable(_) => "is the database server running, and is its address in DATABASE_URL correct?",
        OpenError::NoWritingHost(_) => {
            "is one of the hosts in DATABASE_URL the primary? one that was replaced has to join again as a standby"
        }
        OpenError::RestoreUnfinished => "run `printfloor restore FILE` again to start over",
        OpenError::NotADatabase | OpenError::NoWriterRow => {
            "restore it from a backup, or start with another --data DIR"
        }
        OpenError::NewerTables(_) => {
            "an upgrade is not undone by an older version; to go back, restore the backup that was made before it into \
             an empty data directory and an empty database"
        }
        _ => "are the user, password and database name in DATABASE_URL correct? `printfloor check` tests them",
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
    fn a_missing_tool_says_how_to_get_it() {
        let error = CliError::NoTool { program: "printfloor-demo" };
        assert!(error.to_string().starts_with("could not find printfloor-demo;"), "{error}");
        assert!(error.advice().is_some_and(|advice| advice.contains("target/release/printfloor-demo")));
    }

    #[test]
    fn a_port_in_use_says_what_to_do() {
        let source = io::Error::from(io::ErrorKind::AddrInUse);
        let error = CliError::from(StartError::Listen { address: "127.0.0.1:1".to_owned(), source });
        assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
        assert!(error.advice().is_some_and(|advice| advice.contains("--listen")));
    }
}
