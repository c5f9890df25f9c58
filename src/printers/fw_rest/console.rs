//! Klipper's console, as recorded by Moonraker: commands and Klipper's responses, with their times.

use serde_json::Value;

use super::FwRest;
use crate::adapter::PrinterError;

/// Maximum number of console lines read after running commands; earlier lines are lost.
pub(super) const MAX_LINES: usize = 200;

/// Line on the console.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ConsoleLine {
    text: String,
    /// Time in seconds, according to Moonraker's clock.
    time: f64,
    /// `true` for a response from Klipper, `false` for a client's command.
    answer: bool,
}

/// Returns the latest `count` lines, oldest first.
pub(super) async fn lines(printer: &FwRest, count: usize) -> Result<Vec<ConsoleLine>, PrinterError> {
    let response = printer.get("server/gcode_store", &[("count", &count.to_string())]).await?;
    let lines = response.get("gcode_store").and_then(Value::as_array).into_iter().flatten();
    Ok(lines
        .filter_map(|line| {
            Some(ConsoleLine {
                text: line.get("message")?.as_str()?.to_owned(),
                time: line.get("time")?.as_f64()?,
                answer: line.get("type").and_then(Value::as_str) == Some("response"),
            })
        })
        .collect())
}

/// Returns Klipper's responses after the line `before`, without the console's markers.
pub(super) fn responses_after(lines: Vec<ConsoleLine>, before: Option<&ConsoleLine>) -> Vec<String> {
    let position = before.and_then(|before| lines.iter().rposition(|line| line == before));
    let later = |(at, line): &(usize, ConsoleLine)| match (position, before) {
        (Some(position), _) => *at > position,
        (None, Some(before)) => line.time > before.time,
        (None, None) => true,
    };
    let answers = lines.into_iter().enumerate().filter(later).map(|(_, line)| line).filter(|line| line.answer);
    answers.map(|line| line.text.trim_start_matches("//").trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_before_is_not_told_again() {
        let line = |text: &str, time: f64, answer: bool| ConsoleLine { text: text.to_owned(), time, answer };
        let old = line("// Unknown command:\"OLD\"", 5.0, true);
        let new = [line("FOO", 5.0, false), line("// Unknown command:\"FOO\"", 5.0, true)];
        let all = [vec![line("OLD", 4.0, false), old.clone()], new.to_vec()].concat();
        assert_eq!(responses_after(all.clone(), Some(&old)), ["Unknown command:\"FOO\""]);
        assert_eq!(responses_after(all[2..].to_vec(), Some(&line("gone", 4.5, true))), ["Unknown command:\"FOO\""]);
        assert_eq!(responses_after(all, None).len(), 2);
    }
}
