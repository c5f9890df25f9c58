//! Demo errors, with advice and exit codes.

use std::io;
use std::process::{ExitCode, ExitStatus};

use api_requests::RequestError;

/// Reason why the demo failed.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// Failure that is fully described by the text.
    #[error("{0}")]
    Failed(String),
    /// Standard output was closed by the process that reads it, which is not a failure.
    #[error("the output was closed")]
    ReaderGone,
    /// The server rejected a request or did not respond.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The server process exited by itself, after printing the reason to standard error.
    #[error("the server exited ({0})")]
    ServerEnded(ExitStatus),
    /// The server program is not installed.
    #[error(
        "could not find the printfloor server binary; it must be in the same directory as this program or on the PATH"
    )]
    NoServer,
    /// An operating system call failed.
    #[error("{doing}: {}", io_words(.source))]
    Io {
        /// Description of the failed operation.
        doing: String,
        /// Underlying operating system error.
        source: io::Error,
    },
}

impl DemoError {
    /// Returns a closure for `map_err` that adds a description of the failed operation.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }

    /// Returns the server's exit code if its process failed, otherwise 1.
    pub fn exit_code(&self) -> ExitCode {
        let code = match self {
            Self::ServerEnded(status) => status.code().and_then(|code| u8::try_from(code).ok()),
            _ => None,
        };
        ExitCode::from(code.filter(|code| *code != 0).unwrap_or(1))
    }

    /// Returns advice, unless the error message already states what to do.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::NoServer => Some(
                "specify it with --server PATH; in a checkout, `cargo run --release -- demo` builds both programs and starts the demo",
            ),
            _ => None,
        }
    }
}

/// Returns the message of an operating system error, without the error number.
fn io_words(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or(&words).to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn the_exit_code_is_that_of_the_server_where_it_failed() {
        let exit_code = |code: i32| DemoError::ServerEnded(ExitStatus::from_raw(code << 8)).exit_code();
        assert_eq!((exit_code(2), exit_code(0)), (ExitCode::from(2), ExitCode::from(1)));
        let killed = DemoError::ServerEnded(ExitStatus::from_raw(9));
        assert_eq!(killed.exit_code(), ExitCode::from(1));
    }

    #[test]
    fn no_number_of_the_system_is_shown() {
        let error = DemoError::io("the folder cannot be used")(io::Error::from_raw_os_error(13));
        assert!(!error.to_string().contains("os error"), "{error}");
    }
}
