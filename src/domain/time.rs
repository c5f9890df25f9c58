//! Points in time: milliseconds since 1970 UTC internally, RFC 3339 with milliseconds and `Z` in the API.
//!
//! Parsing accepts only points in time between [`EARLIEST`] and [`LATEST`], and a point outside of this range is
//! written as the nearer limit, so that every written value can be read back.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Earliest accepted point in time: 1970-01-01T00:00:00.000Z.
pub const EARLIEST: Timestamp = Timestamp(0);
/// Latest accepted point in time: 2999-12-31T23:59:59.999Z.
pub const LATEST: Timestamp = Timestamp(32_503_679_999_999);

/// Number of milliseconds in an hour.
pub const HOUR_MS: i64 = 3_600_000;
/// Number of milliseconds in a day.
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// Point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the time `ms` milliseconds later, limited to [`EARLIEST`] and [`LATEST`].
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms)).within_bounds()
    }
    fn within_bounds(self) -> Self {
        self.clamp(EARLIEST, LATEST)
    }
    /// Converts to a `jiff::Timestamp`.
    pub fn jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
    /// Returns the number of milliseconds from `earlier` to this time; negative if `earlier` is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.within_bounds().jiff())
    }
}

/// Parse error: the text is not a valid point in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be an RFC 3339 date and time between 1970 and 2999")]
pub struct TimestampError;

impl FromStr for Timestamp {
    type Err = TimestampError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let at = text.parse::<jiff::Timestamp>().map_err(|_| TimestampError)?;
        Some(Self(at.as_millisecond())).filter(|at| (EARLIEST..=LATEST).contains(at)).ok_or(TimestampError)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_can_be_written_is_read() {
        for text in
            ["9999-12-30T22:00:00.001Z", "3000-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "-000001-01-01T00:00:00Z"]
        {
            assert_eq!(text.parse::<Timestamp>(), Err(TimestampError), "{text}");
        }
        for bound in [EARLIEST, LATEST] {
            assert_eq!(bound.to_string().parse(), Ok(bound));
        }
        assert_eq!(LATEST.to_string(), "2999-12-31T23:59:59.999Z");
        assert_eq!(LATEST.plus_ms(1), LATEST);
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read(ms: i64) {
            let read = Timestamp(ms).to_string().parse();
            prop_assert_eq!(read, Ok(Timestamp(ms).within_bounds()));
        }
    }

    #[test]
    fn shown_with_milliseconds_and_z() {
        assert_eq!(Timestamp(1_700_000_000_000).to_string(), "2023-11-14T22:13:20.000Z");
        assert_eq!("2023-11-14T23:13:20.5+01:00".parse().ok(), Some(Timestamp(1_700_000_000_500)));
    }

    #[test]
    fn arithmetic_stays_within_what_can_be_written() {
        let at = Timestamp(5_000);
        assert_eq!((at.plus_ms(2), at.plus_ms(-6_000), at.plus_ms(i64::MAX)), (Timestamp(5_002), EARLIEST, LATEST));
        assert_eq!((at.since(Timestamp(7_000)), Timestamp(i64::MAX).since(Timestamp(-1))), (-2_000, i64::MAX));
        assert_eq!(at.jiff().as_millisecond(), 5_000);
        let beyond = [i64::MIN, i64::MAX].map(|ms| Timestamp(ms).jiff());
        assert_eq!(beyond, [jiff::Timestamp::MIN, jiff::Timestamp::MAX]);
    }
}
