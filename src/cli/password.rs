//! Asking for a password: twice and unseen at a terminal, else one line of standard input.

use std::io::{self, BufRead as _, IsTerminal as _, Read};

use super::CliError;

/// Longest line that is read.
const LONGEST: u64 = 4096;

/// The password. Rules about it are the server's.
pub async fn ask() -> Result<String, CliError> {
    let asked = tokio::task::spawn_blocking(|| if io::stdin().is_terminal() { twice() } else { line(io::stdin()) });
    asked.await.unwrap_or_else(|error| Err(CliError::Failed(format!("the password cannot be read: {error}"))))
}

fn twice() -> Result<String, CliError> {
    let prompt = |words| rpassword::prompt_password(words).map_err(CliError::io("the password cannot be read"));
    let first = prompt("Password: ")?;
    if first != prompt("Again: ")? {
        return Err(CliError::Failed("the two passwords differ".to_owned()));
    }
    checked(first)
}

/// The first line, without its end.
fn line(from: impl Read) -> Result<String, CliError> {
    let mut text = String::new();
    let mut from = io::BufReader::new(from.take(LONGEST));
    from.read_line(&mut text).map_err(CliError::io("the password cannot be read"))?;
    checked(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn checked(password: String) -> Result<String, CliError> {
    if password.is_empty() {
        return Err(CliError::Failed(
            "there is no password: type one at a terminal, or send it as one line to standard input".to_owned(),
        ));
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn one_line_is_the_password() {
        assert_eq!(line("correct horse \r\nmore".as_bytes()).unwrap(), "correct horse ");
        assert_eq!(line("no end".as_bytes()).unwrap(), "no end");
        for nothing in ["", "\n", "\nsecond"] {
            assert!(line(nothing.as_bytes()).unwrap_err().to_string().contains("there is no password"));
        }
    }
}
