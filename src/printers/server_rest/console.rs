//! `OctoPrint`'s terminal: lines sent to the firmware and received from it, which arrive over the push connection.

use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::timeout;

/// Maximum time to wait for the firmware to acknowledge all commands: three seconds, and two more in which messages are
/// late while the printer is at rest. A command that moves the printer may take longer; output that arrives later is
/// lost.
const CONSOLE_TIMEOUT: Duration = Duration::from_secs(5);
/// G-code command that requests temperatures.
const TEMPERATURES: &str = "M105";
/// Maximum number of response lines returned.
const MAX_ANSWERS: usize = 200;

/// Collects the firmware's output for the given commands until it has acknowledged the last one or the time limit is
/// reached.
pub(super) async fn answers(mut console: broadcast::Receiver<String>, commands: &[String]) -> Vec<String> {
    let mut answers = Vec::new();
    let mut pending = commands.iter().map(String::as_str).peekable();
    let hear = async {
        let (mut sent, mut warm) = (false, false);
        while answers.len() < MAX_ANSWERS {
            let line = match console.recv().await {
                Ok(line) => line,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return,
            };
            if let Some(command) = line.strip_prefix("Send: ") {
                let bare = bare(command);
                sent |= pending.next_if(|next| bare.eq_ignore_ascii_case(next.trim())).is_some();
                warm = bare.eq_ignore_ascii_case(TEMPERATURES);
            } else if let Some(answer) = line.strip_prefix("Recv: ").map(str::trim).filter(|_| sent) {
                // The server asks for temperatures by itself, and firmwares tell them while they heat.
                let text = answer.trim_start_matches("ok ");
                if warm && text.starts_with("T:") {
                    answers.push(text.to_owned());
                }
                if answer == "ok" || answer.starts_with("ok ") {
                    sent = false;
                    if pending.peek().is_none() {
                        return;
                    }
                } else if answer != "wait" && !answer.starts_with("T:") && !answer.starts_with("echo:busy") {
                    answers.push(answer.trim_start_matches("echo:").to_owned());
                }
            }
        }
    };
    let _ = timeout(CONSOLE_TIMEOUT, hear).await;
    answers
}

/// Removes the line number and checksum from a command such as `N12 G28*18`.
fn bare(line: &str) -> &str {
    let line = line
        .rsplit_once('*')
        .filter(|(_, sum)| sum.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(line, |(line, _)| line);
    let numbered = line.strip_prefix('N').and_then(|rest| rest.split_once(' '));
    numbered
        .filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(line, |(_, rest)| rest)
        .trim()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[tokio::test]
    async fn answers_are_those_to_our_commands() {
        let (tell, console) = broadcast::channel(32);
        for line in [
            "Recv: echo:something before",
            "Send: N12 FOO*99",
            "Recv: echo:Unknown command: \"FOO\"",
            "Recv: ok",
            "Recv:  T:20.1 /0.0",
            "Send: M114",
            "Recv: wait",
            "Recv: X:0.00 Y:0.00",
            "Recv: ok P15 B3",
            "Send: M105",
            "Recv: ok T:21.5 /200.0 B:60.0 /60.0",
            "Recv: echo:something after",
        ] {
            tell.send(line.to_owned()).unwrap();
        }
        let actual = answers(console, &["FOO".into(), "M114".into(), "m105".into()]).await;
        assert_eq!(actual, ["Unknown command: \"FOO\"", "X:0.00 Y:0.00", "T:21.5 /200.0 B:60.0 /60.0"]);
    }
}
