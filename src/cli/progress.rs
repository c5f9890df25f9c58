//! Progress display for long-running work: a bar on a terminal; otherwise, plain lines, for example in a log.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::domain::english::english_count;

/// Bar width in characters.
const BAR_CHARS: u64 = 30;
/// Interval between updates on a terminal.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// Interval between progress lines if the output is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Ratio between successive byte units.
const UNIT_STEP: f64 = 1000.0;

/// Progress display for an operation, on standard error.
pub struct ProgressLine {
    what: &'static str,
    done: u64,
    /// Total amount of work; `None` if unknown.
    total: Option<u64>,
    /// Formats an amount of work.
    amount: fn(u64) -> String,
    terminal: bool,
    updated_at: Instant,
}

impl ProgressLine {
    /// Starts to display the progress of `what` in bytes.
    pub fn new(what: &'static str, total: Option<u64>) -> Self {
        Self::start(what, total, size)
    }

    /// Starts to display the progress of `what` in rows of a database.
    pub fn of_rows(what: &'static str, total: u64) -> Self {
        Self::start(what, Some(total), row_count)
    }

    fn start(what: &'static str, total: Option<u64>, amount: fn(u64) -> String) -> Self {
        let terminal = io::stderr().is_terminal();
        let this = Self { what, done: 0, total, amount, terminal, updated_at: Instant::now() };
        this.show();
        this
    }

    /// Adds the given number of bytes or rows to the completed work.
    pub fn add(&mut self, amount: u64) {
        self.done = self.done.saturating_add(amount);
        let interval = if self.terminal { UPDATE_INTERVAL } else { LINE_INTERVAL };
        if self.updated_at.elapsed() >= interval {
            self.updated_at = Instant::now();
            self.show();
        }
    }

    /// Displays the work as completed.
    pub fn end(mut self) {
        self.total = Some(self.done);
        self.show();
        if self.terminal {
            let _ = writeln!(io::stderr().lock());
        }
    }

    fn show(&self) {
        let text = line(self.what, self.done, self.total, (self.amount, self.terminal));
        let mut out = io::stderr().lock();
        // Nobody may read it, which stops no work.
        let _ = if self.terminal { write!(out, "\r\x1b[K{text}") } else { writeln!(out, "{text}") };
        let _ = out.flush();
    }
}

/// Formats the progress as one line, with or without a bar.
fn line(what: &str, done: u64, total: Option<u64>, (amount, bar): (fn(u64) -> String, bool)) -> String {
    let Some(total) = total else { return format!("{what}: {}", amount(done)) };
    let share = |of: u64| done.min(total).saturating_mul(of).checked_div(total).unwrap_or(of);
    let (percent, filled) = (share(100), share(BAR_CHARS) as usize);
    let bar = if bar {
        format!(" [{}{}]", "#".repeat(filled), "-".repeat(BAR_CHARS as usize - filled))
    } else {
        String::new()
    };
    format!("{what}:{bar} {percent} % of {}", amount(total))
}

/// Formats a number of rows.
pub fn row_count(rows: u64) -> String {
    english_count(rows, "row")
}

/// Formats a byte count with a decimal unit, such as MB.
pub fn size(bytes: u64) -> String {
    let (mut amount, mut units) = (bytes as f64, ["kB", "MB", "GB", "TB"].into_iter());
    let mut unit = "B";
    while amount >= UNIT_STEP {
        let Some(next) = units.next() else { break };
        (amount, unit) = (amount / UNIT_STEP, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{amount:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_a_bar_and_others_plain_words() {
        assert_eq!(line("restoring", 512, Some(1024), (size, false)), "restoring: 50 % of 1.0 kB");
        assert_eq!(
            line("restoring", 512, Some(1024), (size, true)),
            format!("restoring: [{}{}] 50 % of 1.0 kB", "#".repeat(15), "-".repeat(15))
        );
        assert_eq!(line("backup", 2_500_000, None, (size, true)), "backup: 2.5 MB");
        assert_eq!(line("empty", 0, Some(0), (size, false)), "empty: 100 % of 0 B");
        assert_eq!(line("more than said", 9, Some(3), (size, false)), "more than said: 100 % of 3 B");
        assert_eq!(line("copying", 1, Some(4), (row_count, false)), "copying: 25 % of 4 rows");
        assert_eq!(line("copying", 1, Some(1), (row_count, false)), "copying: 100 % of 1 row");
    }

    #[test]
    fn sizes_have_units() {
        for (bytes, text) in [(999, "999 B"), (1_000, "1.0 kB"), (1_234_567_890, "1.2 GB"), (u64::MAX, "18446744.1 TB")]
        {
            assert_eq!(size(bytes), text);
        }
    }
}
