//! Types of settings: secrets, and durations given as a number of units, which can be fractional.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// Secret value. Its `Debug` output is `***` (or `unset`); only [`Secret::expose`] returns the value.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret from a value, which is then no longer printed.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value. Callers must never put it into a log line, an error or a response.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the secret is not set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "unset" } else { "***" })
    }
}

/// Duration, written in the settings as a number of units of `UNIT` seconds; the number can be fractional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span<const UNIT: u32>(Duration);

/// Setting measured in seconds.
pub type Seconds = Span<1>;
/// Setting measured in hours.
pub type Hours = Span<3_600>;
/// Setting measured in days.
pub type Days = Span<86_400>;

/// Maximum duration of a setting, in seconds: a hundred years, chosen so that adding it to a clock's time cannot
/// overflow.
const MAX_SECONDS: f64 = 100.0 * 365.0 * 86_400.0;

impl<const UNIT: u32> Span<UNIT> {
    /// Returns the duration as a standard library [`Duration`].
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// Returns the duration in whole milliseconds.
    pub const fn millis(self) -> i64 {
        // 100 years of milliseconds fit into 42 bits.
        self.0.as_millis() as i64
    }

    /// Returns whether the duration is zero.
    pub const fn is_zero(self) -> bool {
        self.0.is_zero()
    }
}

impl<const UNIT: u32> From<Duration> for Span<UNIT> {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl<'de, const UNIT: u32> Deserialize<'de> for Span<UNIT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let seconds = number * f64::from(UNIT);
        if !(0.0..=MAX_SECONDS).contains(&seconds) {
            return Err(de::Error::custom(format!("{number} is not a duration from 0 to 100 years")));
        }
        Ok(Self(Duration::from_secs_f64(seconds)))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_secret_never_shows_its_value() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "***");
        assert_eq!(format!("{:?}", Secret::default()), "unset");
        assert_eq!(Secret::new("hunter2").expose(), "hunter2");
    }

    #[test]
    fn spans_take_fractions_in_their_unit_and_refuse_the_rest() {
        assert_eq!(serde_json::from_str::<Seconds>("0.25").unwrap().duration(), Duration::from_millis(250));
        assert_eq!(serde_json::from_str::<Hours>("12").unwrap().duration(), Duration::from_hours(12));
        assert_eq!(serde_json::from_str::<Days>("0.5").unwrap().duration(), Duration::from_hours(12));
        for wrong in ["-1", "1e300", "\"5\""] {
            assert!(serde_json::from_str::<Seconds>(wrong).is_err(), "{wrong} was accepted");
        }
    }
}
