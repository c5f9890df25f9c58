//! What was found, one line each, and the count of what is wrong.

use crate::cli::CliError;

/// Prints as it goes.
#[derive(Debug, Default)]
pub struct Report {
    wrong: usize,
    lines: usize,
}

impl Report {
    /// This works.
    pub fn fine(&mut self, what: &str, words: impl AsRef<str>) {
        self.line("ok", what, words.as_ref());
    }

    /// This works, and yet.
    pub fn note(&mut self, what: &str, words: impl AsRef<str>) {
        self.line("note", what, words.as_ref());
    }

    /// This does not work, and that is how to mend it.
    pub fn wrong(&mut self, what: &str, words: impl AsRef<str>, mend: &str) {
        self.wrong += 1;
        self.line("WRONG", what, words.as_ref());
        println!("{:16} -> {mend}", "");
    }

    fn line(&mut self, mark: &str, what: &str, words: &str) {
        self.lines += 1;
        println!("{mark:<6} {what:<9} {words}");
    }

    /// An error when anything was wrong.
    pub fn end(self) -> Result<(), CliError> {
        match self.wrong {
            0 => {
                println!("all is well");
                Ok(())
            }
            1 => Err(CliError::Failed(format!("1 thing of {} is wrong", self.lines))),
            many => Err(CliError::Failed(format!("{many} things of {} are wrong", self.lines))),
        }
    }
}
