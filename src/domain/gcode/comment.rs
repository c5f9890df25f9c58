//! Parsers for the values in slicer comments.

use crate::bounds::print_seconds;

/// Splits a comment at its first `=` or `:` (`; filament used [g] = 5.17`, `;TIME:1234`,
/// `; total filament weight [g] : 3`).
pub(super) fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_at(text.find(['=', ':'])?);
    Some((key.trim_end(), value[1..].trim_start()))
}

/// Parses a number as written by slicers: finite and not negative. Callers check the valid range. Accepts a decimal
/// comma, because some slicers follow the computer's locale.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let with_point = if text.contains('.') { None } else { text.split_once(',') };
    let parsed = match with_point {
        Some((whole, part)) => format!("{whole}.{part}").parse(),
        None => text.parse(),
    };
    parsed.ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Parses the number at the start of a text, before its unit: `12.13 g (0.03 lb)`.
pub(super) fn leading_number(text: &str) -> Option<f64> {
    number(text.split_whitespace().next()?)
}

/// Splits a list with one item per extruder. Items are separated by commas, or by commas and spaces if the numbers use
/// a decimal comma. Returns `None` if the separator is ambiguous.
fn parts(text: &str) -> Option<Vec<&str>> {
    let parts: Vec<&str> = if text.contains(", ") { text.split(", ").collect() } else { text.split(',').collect() };
    let written_whole = |part: &&str| part.trim().trim_end_matches('m').bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        // Slicers write amounts with decimals: one comma between digits alone is the decimal comma.
        [_, _] if !text.contains(", ") && parts.iter().all(written_whole) => Some(vec![text]),
        [_, _, _, ..] if !text.contains(", ") && parts.iter().all(written_whole) => None,
        _ => Some(parts),
    }
}

/// Parses one number per extruder. Returns `None` if any item is not a number.
pub(super) fn numbers(text: &str) -> Option<Vec<f64>> {
    parts(text.trim())?.into_iter().map(number).collect()
}

/// Parses a duration of the form `1d 2h 3m 4s`, in which any unit may be omitted, into seconds.
pub(super) fn time(text: &str) -> Option<i64> {
    let mut total: f64 = 0.0;
    let mut words = text.split_whitespace().peekable();
    words.peek()?;
    for word in words {
        let unit = match word.chars().last()? {
            'd' => 86_400.0,
            'h' => 3_600.0,
            'm' => 60.0,
            's' => 1.0,
            _ => return None,
        };
        total += number(&word[..word.len() - 1])? * unit;
    }
    print_seconds(total)
}

/// Parses a spelt-out duration as written by Simplify3D (`1 hour 25 minutes`) into seconds.
pub(super) fn spelt_time(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (pairs, rest) = words.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return None;
    }
    let seconds = pairs.iter().map(|[amount, unit]| {
        let unit = match unit.trim_end_matches('s') {
            "day" => 86_400.0,
            "hour" => 3_600.0,
            "minute" | "min" => 60.0,
            "second" | "sec" => 1.0,
            _ => return None,
        };
        Some(number(amount)? * unit)
    });
    seconds.sum::<Option<f64>>().and_then(print_seconds)
}

/// Parses Cura's lengths, which are given in metres per extruder (`1.23456m, 0.5m`), and returns their sum in
/// millimetres. Volumes (`1234mm3`) are not accepted.
pub(super) fn metres(text: &str) -> Option<f64> {
    metres_each(text).map(|lengths| lengths.into_iter().sum())
}

/// Parses Cura's lengths, which are given in metres per extruder, and returns each in millimetres.
pub(super) fn metres_each(text: &str) -> Option<Vec<f64>> {
    let lengths = parts(text.trim())?.into_iter().map(|part| number(part.trim().strip_suffix('m')?));
    lengths.map(|metres| metres.map(|metres| metres * 1000.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_leave_out_units() {
        for (text, seconds) in [
            ("45s", 45),
            ("13m 47s", 827),
            ("2h 0m 5s", 7_205),
            ("1d 0h 0m 3s", 86_403),
            ("1d 2h 3m 4s", 93_784),
            ("2h", 7_200),
        ] {
            assert_eq!(time(text), Some(seconds), "{text}");
        }
        for text in ["", "5", "s", "-1s", "1x", "1h s", "infs", "1é"] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn spelt_times_are_pairs_of_an_amount_and_a_unit() {
        for (text, seconds) in [
            ("1 hour 25 minutes", 5_100),
            ("2 days 1 hour", 176_400),
            ("1 day", 86_400),
            ("1 min 30 sec", 90),
            ("1 minute 1 second", 61),
            ("0 hours 45 seconds", 45),
        ] {
            assert_eq!(spelt_time(text), Some(seconds), "{text}");
        }
        for text in ["", "hour", "1 hour 25", "1 fortnight", "an hour", "1 hour -5 minutes"] {
            assert_eq!(spelt_time(text), None, "{text}");
        }
    }

    #[test]
    fn three_numbers_with_decimals_are_a_list_and_three_without_are_not() {
        assert_eq!(numbers("1.5,2.25,3.5"), Some(vec![1.5, 2.25, 3.5]));
        assert_eq!(numbers("1, 2, 3"), Some(vec![1.0, 2.0, 3.0]));
        assert_eq!(numbers("1,2,3"), None);
        assert_eq!((number("inf"), number("-0.5"), number(" 0 ")), (None, None, Some(0.0)));
    }

    #[test]
    fn a_decimal_comma_is_no_list() {
        assert_eq!(numbers("3,68"), Some(vec![3.68]));
        assert_eq!(numbers("3,68, 5,17"), Some(vec![3.68, 5.17]));
        assert_eq!(numbers("3.68,5.17"), Some(vec![3.68, 5.17]));
        assert_eq!(numbers("1.24,1"), Some(vec![1.24, 1.0]));
        assert_eq!(numbers("3, 68"), Some(vec![3.0, 68.0]));
        assert_eq!(numbers("3,68,5,17"), None, "nothing is guessed");
        assert_eq!(metres("1,25m, 0,5m"), Some(1_750.0));
        assert_eq!(leading_number("12,13 g (0.03 lb)"), Some(12.13));
        assert_eq!(number("1,234.5"), None);
    }

    #[test]
    fn values_of_several_extruders_are_separated_by_commas() {
        assert_eq!(numbers("1.5, 2.25"), Some(vec![1.5, 2.25]));
        assert_eq!(numbers("1.5, x"), None);
        assert_eq!(numbers("NaN"), None);
        assert_eq!(metres("1.25m, 0.5m"), Some(1_750.0));
        assert_eq!(metres("1.25m,0.5m"), Some(1_750.0));
        assert_eq!(metres("1234mm3"), None);
    }
}
