//! Writes to standard output and standard error, which the reader can close at any time, as in
//! `printfloor key list | head`.

use std::io::{self, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::CliError;

/// Maximum time for which a process that ends waits until its last line is written.
const LAST_NOTE_TIME: Duration = Duration::from_millis(200);

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

/// Writes a status line like [`note`] before the process ends. The line is also lost if nobody reads standard error, or
/// another thread waits to write to it.
pub fn last_note(text: String) {
    let (sender, written) = mpsc::channel();
    let write = move || {
        note(&text);
        // Nobody waits any more if it took too long.
        let _ = sender.send(());
    };
    if thread::Builder::new().spawn(write).is_ok() {
        let _ = written.recv_timeout(LAST_NOTE_TIME);
    }
}
