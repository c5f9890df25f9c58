//! Limits for numbers and times from outside, in one table: from requests, from slicer comments in G-code, and from
//! printer responses.
//!
//! Any value within these limits can be stored, read back unchanged and added up without overflow. An out-of-range
//! value from a program (a slicer, a printer) is treated as unknown, whereas one from a request is rejected.
//!
//! Limits for texts and lists are defined with the requests that contain them.

use crate::amount::Amount;
use crate::time::Timestamp;

pub use crate::amount::MAX_AMOUNT;
pub use crate::time::{EARLIEST, LATEST};

/// Maximum print duration in seconds: 366 days.
pub const MAX_PRINT_SECONDS: i64 = 31_622_400;
/// Maximum size of a part or build volume along one axis, in millimetres.
pub const MAX_LENGTH_MM: f64 = 100_000.0;
/// Maximum filament length per print, in millimetres: a thousand kilometres.
const MAX_FILAMENT_MM: f64 = 1e9;
/// Maximum number of layers per print.
pub(super) const MAX_LAYERS: u32 = 10_000_000;
/// Maximum nozzle diameter, in millimetres.
pub const MAX_NOZZLE_MM: f64 = 10.0;
/// Maximum temperature that a printer may report, in degrees Celsius.
const MAX_CELSIUS: f64 = 10_000.0;
/// Maximum price, payment or refund, in minor units: 100 million major units of the currency.
pub const MAX_CENTS: i64 = 10_000_000_000;
/// Maximum number of parts per order line.
pub const MAX_QUANTITY: u32 = 1_000_000;

/// Resolution of numbers reported by programs: thousandths, which JSON round-trips exactly.
const PER_UNIT: f64 = 1000.0;

fn rounded(number: f64) -> f64 {
    (number * PER_UNIT).round() / PER_UNIT
}

/// Converts a print duration to whole seconds. Returns `None` if it is not between 0 and [`MAX_PRINT_SECONDS`].
pub fn print_seconds(seconds: f64) -> Option<i64> {
    let within = (0.0..=MAX_PRINT_SECONDS as f64).contains(&seconds);
    within.then_some(seconds.round() as i64)
}

/// Converts a weight in grams to an amount, rounded to the nearest milligram. Returns `None` unless it is greater than
/// 0 and at most [`MAX_AMOUNT`].
pub fn grams(grams: f64) -> Option<Amount> {
    let milligrams = (grams * PER_UNIT).round();
    (milligrams >= 1.0 && milligrams <= MAX_AMOUNT.0 as f64).then_some(Amount(milligrams as i64))
}

/// Rounds a filament length, in millimetres, to the nearest micrometre. Returns `None` if it is not between 0 and
/// `MAX_FILAMENT_MM`.
pub fn filament_mm(mm: f64) -> Option<f64> {
    (0.0..=MAX_FILAMENT_MM).contains(&mm).then(|| rounded(mm))
}

/// Rounds a length along one axis, in millimetres, to the nearest micrometre, at least one. Returns `None` unless it is
/// greater than 0 and at most [`MAX_LENGTH_MM`].
pub fn length_mm(mm: f64) -> Option<f64> {
    (mm > 0.0 && mm <= MAX_LENGTH_MM).then(|| rounded(mm).max(1.0 / PER_UNIT))
}

/// Rounds a nozzle diameter, in millimetres, to the nearest micrometre. Returns `None` unless it is greater than 0 and
/// at most [`MAX_NOZZLE_MM`].
pub fn nozzle_mm(mm: f64) -> Option<f64> {
    length_mm(mm).filter(|mm| *mm <= MAX_NOZZLE_MM)
}

/// Returns a temperature in degrees Celsius, or 0 (unknown) if it is beyond ±[`MAX_CELSIUS`].
pub(super) fn celsius(degrees: f64) -> f64 {
    if (-MAX_CELSIUS..=MAX_CELSIUS).contains(&degrees) { rounded(degrees) } else { 0.0 }
}

/// Clamps a percentage to the range 0 to 100; returns 0 for NaN.
pub fn percent(percent: f64) -> f64 {
    if percent.is_nan() { 0.0 } else { rounded(percent.clamp(0.0, 100.0)) }
}

/// Converts seconds since the Unix epoch to a timestamp. Returns `None` if it is not between [`EARLIEST`] and
/// [`LATEST`].
pub fn unix_seconds(seconds: f64) -> Option<Timestamp> {
    let at = (seconds * PER_UNIT).round();
    (EARLIEST.0 as f64..=LATEST.0 as f64).contains(&at).then_some(Timestamp(at as i64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_lies_outside_is_not_known() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300, f64::MAX] {
            assert_eq!(print_seconds(number), None, "{number}");
            assert_eq!(grams(number), None, "{number}");
            assert_eq!(filament_mm(number), None, "{number}");
            assert_eq!(length_mm(number), None, "{number}");
            assert_eq!(unix_seconds(number), None, "{number}");
        }
        assert_eq!((celsius(1e300), celsius(f64::NAN), celsius(-20.5)), (0.0, 0.0, -20.5));
        assert_eq!((percent(f64::NAN), percent(1e300), percent(-1.0), percent(33.3333)), (0.0, 100.0, 0.0, 33.333));
        assert_eq!(grams(1e12), None);
        assert_eq!(length_mm(1e-9), Some(0.001));
    }

    proptest! {
        #[test]
        fn what_is_taken_reads_back_as_it_was_written(number: f64, small in 0.0..1e9_f64) {
            for number in [number, small] {
                for value in [filament_mm(number), length_mm(number), Some(celsius(number)), Some(percent(number))] {
                    let written = serde_json::to_string(&value).unwrap_or_default();
                    prop_assert_eq!(serde_json::from_str::<Option<f64>>(&written).ok(), Some(value));
                }
                let written = serde_json::to_string(&(grams(number), unix_seconds(number))).unwrap_or_default();
                prop_assert_eq!(serde_json::from_str(&written).ok(), Some((grams(number), unix_seconds(number))));
            }
        }
    }

    #[test]
    fn each_limit_is_the_last_value_that_is_taken() {
        assert_eq!(
            [0.0, 0.4, 1.5, 31_622_400.0, 31_622_400.1].map(print_seconds),
            [Some(0), Some(0), Some(2), Some(MAX_PRINT_SECONDS), None]
        );
        assert_eq!(
            [0.000_4, 0.000_5, 1.0, 1e9, 1_000_000_000.001].map(grams),
            [None, Some(Amount(1)), Some(Amount(1_000)), Some(MAX_AMOUNT), None]
        );
        assert_eq!([0.0, 1.234_56, 1e9, 1_000_000_001.0].map(filament_mm), [Some(0.0), Some(1.235), Some(1e9), None]);
        assert_eq!(
            [0.0, 0.000_4, 12.345_6, 100_000.0, 100_000.1].map(length_mm),
            [None, Some(0.001), Some(12.346), Some(100_000.0), None]
        );
        assert_eq!([0.0, 0.4, 10.0, 10.001].map(nozzle_mm), [None, Some(0.4), Some(10.0), None]);
        assert_eq!(
            [-0.001, 0.0, 1.5, 32_503_679_999.999, 32_503_680_000.0].map(unix_seconds),
            [None, Some(EARLIEST), Some(Timestamp(1_500)), Some(LATEST), None]
        );
        let temperatures = [-10_000.1, -10_000.0, 20.123_4, 10_000.0, 10_000.1].map(|degrees| Some(celsius(degrees)));
        assert_eq!(temperatures, [Some(0.0), Some(-10_000.0), Some(20.123), Some(10_000.0), Some(0.0)]);
    }
}
