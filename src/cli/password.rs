//! Reads a password: on a terminal, it is typed twice without echo; otherwise, it is read from one line of standard
//! input.

use std::io::{self, BufRead as _, IsTerminal as _, Read};

use super::CliError;

/// Maximum number of bytes read.
const MAX_LINE_BYTES: u64 = 4096;

/// Reads the password. The server checks its strength.
pub async fn ask() -> Result<String, CliError> {
    let input = tokio::task::spawn_blocking(|| if io::stdin().is_terminal() { twice() } else { line(io::stdin()) });
    input.await.unwrap_or_else(|error| Err(CliError::Failed(format!("the password cannot be read: {error}"))))
}

fn twice() -> Result<String, CliError> {
    let prompt = |words| rpassword::prompt_password(words).map_err(CliError::io("the password cannot be read"));
    let first = prompt("Password: ")?;
    if first != prompt("Repeat the password: ")? {
        return Err(CliError::Failed("the passwords do not match".to_owned()));
    }
    checked(first)
}

/// Reads the first line of the input, without the line break.
fn line(from: impl Read) -> Result<String, CliError> {
    let mut text = String::new();
    let mut from = io::BufReader::new(from.take(MAX_LINE_BYTES));
    from.read_line(&mut text).map_err(CliError::io("the password cannot be read"))?;
    checked(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn checked(password: String) -> Result<String, CliError> {
    if password.is_empty() {
        return Err(CliError::Failed(
            "no password given: enter it at a terminal, or pass it as one line on standard input".to_owned(),
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
            assert!(line(nothing.as_bytes()).unwrap_err().to_string().contains("no password given"));
        }
    }
}
