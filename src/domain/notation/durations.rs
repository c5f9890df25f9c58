//! Durations where there is little room, such as on the tiles of the floor.

use words::Language;
use words::staff::common;

/// Length of a minute, in milliseconds.
const MINUTE_MS: i64 = 60_000;
/// Number of minutes from which minutes are left out.
const WHOLE_HOURS_MINUTES: i64 = 600;

/// Formats a duration in few letters, rounded to minutes, and from ten hours on to hours: `< 1 min`, `45 min`,
/// `2 h 05 min`, `12 h`. The script of the pages for the staff writes it in the same way.
pub fn compact_duration(language: Language, ms: i64) -> String {
    let minutes = divide(ms.max(0), MINUTE_MS);
    match minutes {
        0 => common::compact_under_minute(language),
        1..60 => common::span_minutes(language, &minutes.to_string()),
        60..WHOLE_HOURS_MINUTES => {
            common::compact_hours(language, &(minutes / 60).to_string(), &format!("{:02}", minutes % 60))
        }
        _ => common::compact_whole_hours(language, &divide(minutes, 60).to_string()),
    }
}

/// Divides an amount by a unit and rounds the result.
fn divide(amount: i64, unit: i64) -> i64 {
    amount.saturating_add(unit / 2) / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_little_room() {
        let minute = |minutes: i64| minutes * MINUTE_MS;
        for (ms, english, german) in [
            (-minute(5), "< 1 min", "< 1\u{a0}Min."),
            (0, "< 1 min", "< 1\u{a0}Min."),
            (29_999, "< 1 min", "< 1\u{a0}Min."),
            (30_000, "1 min", "1\u{a0}Min."),
            (minute(59), "59 min", "59\u{a0}Min."),
            (minute(60) - 1, "1 h 00 min", "1:00\u{a0}Std."),
            (minute(125), "2 h 05 min", "2:05\u{a0}Std."),
            (minute(599), "9 h 59 min", "9:59\u{a0}Std."),
            (minute(600), "10 h", "10\u{a0}Std."),
            (minute(750), "13 h", "13\u{a0}Std."),
            (i64::MAX, "2562047788015 h", "2562047788015\u{a0}Std."),
        ] {
            assert_eq!(Language::ALL.map(|language| compact_duration(language, ms)), [english, german], "{ms} ms");
        }
    }
}
