//! What was found, one line each, and the count of what is wrong.

use crate::cli::CliError;

/// Prints as it goes.
#[derive(Debug, Default)]
pub struct Report {
    wrong: usize,
}

impl Report {
    /// This works.
    pub fn fine(&mut self, what: &str, words: impl AsRef<str>) {
        line("ok", what, words.as_ref());
    }

    /// This works, and yet.
    pub fn note(&mut self, what: &str, words: impl AsRef<str>) {
        line("note", what, words.as_ref());
    }

    /// This does not work, and that is how to mend it.
    pub fn wrong(&mut self, what: &str, words: impl AsRef<str>, mend: &str) {
        self.wrong += 1;
        line("WRONG", what, words.as_ref());
        line("", "", &format!("-> {mend}"));
    }

    /// An error when anything was wrong.
    pub fn end(self) -> Result<(), CliError> {
        match self.wrong {
            0 => {
                println!("all is well");
                Ok(())
            }
            1 => Err(CliError::Failed("one thing is wrong".to_owned())),
            many => Err(CliError::Failed(format!("{many} things are wrong"))),
        }
    }
}

fn line(mark: &str, what: &str, words: &str) {
    println!("{mark:<6} {what:<9} {words}");
}
