//! Parsers of the values in slicers' comments.

use crate::domain::bounds::print_seconds;

/// Splits a comment at its first `=` or `:` (`; filament used [g] = 5.17`, `;TIME:1234`, `; total filament weight [g]
/// : 3`).
pub(super) fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_at(text.find(['=', ':'])?);
    Some((key.trim_end(), value[1..].trim_start()))
}

/// A number as slicers write it: finite and not negative. Which value it may be is said where its meaning is known.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// One number per extruder, separated by commas; `None` if one of them is not a number.
pub(super) fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(',').map(number).collect()
}

/// A duration in seconds from the form `1d 2h 3m 4s`, in which any unit may be missing.
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

/// Cura's lengths, one per extruder and in metres (`1.23456m, 0.5m`), as a sum in millimetres. Volumes (`1234mm3`)
/// are not accepted.
pub(super) fn metres(text: &str) -> Option<f64> {
    let lengths = text.split(',').map(|part| number(part.trim().strip_suffix('m')?));
    lengths.sum::<Option<f64>>().map(|metres| metres * 1000.0)
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
    fn values_of_several_extruders_are_separated_by_commas() {
        assert_eq!(numbers("1.5, 2.25"), Some(vec![1.5, 2.25]));
        assert_eq!(numbers("1.5, x"), None);
        assert_eq!(numbers("NaN"), None);
        assert_eq!(metres("1.25m, 0.5m"), Some(1_750.0));
        assert_eq!(metres("1234mm3"), None);
    }
}
