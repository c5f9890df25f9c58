//! Story of a run, printed line by line as it happens.

use std::io::{self, Write as _};
use std::time::Duration;

use tokio::time::Instant;

/// Printer of the story, whose lines begin with the time since the run began.
#[derive(Clone, Copy, Debug)]
pub struct Story {
    began: Instant,
}

impl Story {
    /// Begins the story now.
    pub fn begin() -> Self {
        Self { began: Instant::now() }
    }

    /// Prints what happens now.
    pub fn tell(self, text: &str) {
        line(&format!("{:>8.2} s  {text}", self.began.elapsed().as_secs_f64()));
    }
}

/// Prints a line to standard output; it is lost if nobody reads.
pub fn line(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Prints a line to standard error; it is lost if nobody reads.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Formats a span of time in seconds.
pub fn seconds(span: Duration) -> String {
    format!("{:.2} s", span.as_secs_f64())
}
