//! Points in time: milliseconds since 1970 UTC inside, RFC 3339 with milliseconds and `Z` in the API.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The moment `ms` milliseconds later; saturates at the ends of the range.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
    /// The same moment as a `jiff::Timestamp`.
    pub fn jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
    /// Milliseconds from `earlier` to this moment; negative if `earlier` is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<jiff::Timestamp>().map(|at| Self(at.as_millisecond()))
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
        text.parse().map_err(|_| D::Error::custom("not an RFC 3339 date and time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_with_milliseconds_and_z() {
        assert_eq!(Timestamp(1_700_000_000_000).to_string(), "2023-11-14T22:13:20.000Z");
        assert_eq!("2023-11-14T23:13:20.5+01:00".parse().ok(), Some(Timestamp(1_700_000_000_500)));
    }
}
