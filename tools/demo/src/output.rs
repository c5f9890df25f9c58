//! Standard output and standard error, which their readers may close at any time.

use std::io::{self, Write as _};

use crate::error::DemoError;

/// Writes text to standard output. Returns [`DemoError::ReaderGone`] if the reader has closed the pipe.
pub fn print(text: &str) -> Result<(), DemoError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => DemoError::ReaderGone,
        _ => DemoError::io("standard output cannot be written")(error),
    })
}

/// Writes a line to standard output, as [`print()`] does.
pub fn line(text: &str) -> Result<(), DemoError> {
    print(&format!("{text}\n"))
}

/// Writes a line to standard error; the line is lost if standard error is closed.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
