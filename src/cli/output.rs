//! Writes to standard output and standard error, which the reader can close at any time, as in
//! `printfloor key list | head`.

use std::io::{self, Write as _};

use super::CliError;

/// Writes a result to standard output. Returns [`CliError::ReaderGone`] if the reader has closed it, in which case the
/// command ends without an error message.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::ReaderGone,
        _ => CliError::io("standard output cannot be written")(error),
    })
}

/// Writes the text and a line break, like [`print`].
pub fn line(text: &str) -> Result<(), CliError> {
    print(&format!("{text}\n"))
}

/// Writes a status line to standard error. The line is lost if standard error is closed.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
