//! Writes to standard output and standard error, whose reader may go away at any time, as in
//! `printfloor key list | head`.

use std::io::{self, Write as _};

use super::CliError;

/// Writes a result to standard output. [`CliError::ReaderGone`] when nobody reads it any more, which ends a command
/// quietly.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::ReaderGone,
        _ => CliError::io("standard output cannot be written")(error),
    })
}

/// As [`print`], with a line break.
pub fn line(text: &str) -> Result<(), CliError> {
    print(&format!("{text}\n"))
}

/// Writes a line about what is going on to standard error. It is lost when nobody reads it.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
