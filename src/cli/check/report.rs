//! Prints the result of each check on a separate line, and counts the failures.

use crate::cli::{CliError, output};

/// Report that prints the result of each check immediately and counts the failures.
#[derive(Debug, Default)]
pub struct CheckReport {
    wrong: usize,
    lines: usize,
    /// Output error after which no more results can be printed.
    unread: Option<CliError>,
}

impl CheckReport {
    /// Reports a check that succeeded.
    pub fn fine(&mut self, what: &str, words: impl AsRef<str>) {
        self.line("ok", what, words.as_ref());
    }

    /// Reports something that works but that the operator should know about.
    pub fn note(&mut self, what: &str, words: impl AsRef<str>) {
        self.line("note", what, words.as_ref());
    }

    /// Reports a check that failed, with advice on how to fix the cause.
    pub fn wrong(&mut self, what: &str, words: impl AsRef<str>, advice: &str) {
        self.wrong += 1;
        self.line("WRONG", what, words.as_ref());
        self.say(&format!("{:16} -> {advice}", ""));
    }

    fn line(&mut self, mark: &str, what: &str, words: &str) {
        self.lines += 1;
        self.say(&format!("{mark:<6} {what:<9} {words}"));
    }

    /// Prints a line. If standard output is closed, the remaining checks still run, because the outcome is still
    /// reported by the exit code.
    fn say(&mut self, line: &str) {
        if self.unread.is_none() {
            self.unread = output::line(line).err();
        }
    }

    /// Prints the summary; returns an error if any check failed.
    pub fn end(mut self) -> Result<(), CliError> {
        match self.wrong {
            0 => {
                self.say("all checks passed");
                Ok(())
            }
            1 => Err(CliError::Failed(format!("1 of {} checks failed", self.lines))),
            many => Err(CliError::Failed(format!("{many} of {} checks failed", self.lines))),
        }
    }
}
