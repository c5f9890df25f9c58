//! Story of a run, printed line by line as it happens.

use std::io::{self, Write as _};
use std::time::Duration;

use tokio::time::Instant;

/// Printer of the story, which prefixes each line with the time since the start of the run.
#[derive(Clone, Copy, Debug)]
pub struct ChaosStory {
    began: Instant,
}

impl ChaosStory {
    /// Creates an empty story whose clock starts now.
    pub fn begin() -> Self {
        Self { began: Instant::now() }
    }

    /// Prints a line with the current time.
    pub fn tell(self, text: &str) {
        line(&format!("{:>8.2} s  {text}", self.began.elapsed().as_secs_f64()));
    }
}

/// Prints a line to standard output; the line is lost if standard output is closed.
pub fn line(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Prints a line to standard error; the line is lost if standard error is closed.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Formats a duration in seconds.
pub fn seconds(span: Duration) -> String {
    format!("{:.2} s", span.as_secs_f64())
}
