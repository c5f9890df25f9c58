//! Writes to standard output and standard error, whose reader may close them at any time, as in `printfloor key list |
//! head`.

use std::io::{self, Write as _};

use super::CliError;

/// Writes a result to standard output. Returns [`CliError::ReaderGone`] when the reader has closed it, which ends a
/// command quietly.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::ReaderGone,
        _ => CliError::io("standard output cannot be written")(error),
    })
}

/// Does what [`print`] does, with a line break.
pub fn line(text: &str) -> Result<(), CliError> {
    print(&format!("{text}\n"))
}

/// Writes a status line to standard error. It is lost if nothing reads it.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
