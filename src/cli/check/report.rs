//! Prints the results of the checks, one line each, and counts the failures.

use crate::cli::CliError;

/// Prints each result at once.
#[derive(Debug, Default)]
pub struct Report {
    wrong: usize,
    lines: usize,
}

impl Report {
    /// A check that succeeded.
    pub fn fine(&mut self, what: &str, words: impl AsRef<str>) {
        self.line("ok", what, words.as_ref());
    }

    /// Something that works but that the operator should know.
    pub fn note(&mut self, what: &str, words: impl AsRef<str>) {
        self.line("note", what, words.as_ref());
    }

    /// A check that failed, and advice how to fix the cause.
    pub fn wrong(&mut self, what: &str, words: impl AsRef<str>, advice: &str) {
        self.wrong += 1;
        self.line("WRONG", what, words.as_ref());
        println!("{:16} -> {advice}", "");
    }

    fn line(&mut self, mark: &str, what: &str, words: &str) {
        self.lines += 1;
        println!("{mark:<6} {what:<9} {words}");
    }

    /// Prints the summary; an error if any check failed.
    pub fn end(self) -> Result<(), CliError> {
        match self.wrong {
            0 => {
                println!("all checks passed");
                Ok(())
            }
            1 => Err(CliError::Failed(format!("1 of {} checks failed", self.lines))),
            many => Err(CliError::Failed(format!("{many} of {} checks failed", self.lines))),
        }
    }
}
