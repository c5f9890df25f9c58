//! Start and end of a time span in requests, each given as a point in time or as a whole day in UTC.

use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::time::{DAY_MS, Timestamp, TimestampError};

/// First moment of a span. If it is given as a day, `YYYY-MM-DD`, the span starts with the first moment of that day in
/// UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpanStart(pub Timestamp);

/// First moment after a span. If it is given as a day, `YYYY-MM-DD`, the span includes the whole of that day in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpanEnd(pub Timestamp);

impl FromStr for SpanStart {
    type Err = TimestampError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        day(text).map_or_else(|| text.parse(), Ok).map(Self)
    }
}

impl FromStr for SpanEnd {
    type Err = TimestampError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        day(text).map_or_else(|| text.parse(), |start| Ok(start.plus_ms(DAY_MS))).map(Self)
    }
}

impl Serialize for SpanStart {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl Serialize for SpanEnd {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

/// Returns the first moment of a day in UTC. Returns `None` if the text is not a day from 1970 to 2999.
fn day(text: &str) -> Option<Timestamp> {
    if text.len() != "2026-01-31".len() {
        return None;
    }
    text.parse::<jiff::civil::Date>().ok()?;
    format!("{text}T00:00:00Z").parse().ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_day_is_part_of_the_span_that_it_begins_or_ends() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!("2026-01-01".parse(), Ok(SpanStart(at("2026-01-01T00:00:00Z"))));
        assert_eq!("2026-01-31".parse(), Ok(SpanEnd(at("2026-02-01T00:00:00Z"))));
        for moment in ["2026-01-31T12:30:00Z", "2026-01-31T12:30:00.5+01:00"] {
            assert_eq!(moment.parse(), Ok(SpanStart(at(moment))));
            assert_eq!(moment.parse(), Ok(SpanEnd(at(moment))));
        }
    }

    #[test]
    fn days_that_are_none_are_refused() {
        for text in ["", "2026-02-30", "2026-1-31", "20260131", "1969-12-31", "3000-01-01", "2026-01-31T", "tomorrow"] {
            assert_eq!(text.parse::<SpanStart>(), Err(TimestampError), "{text}");
            assert_eq!(text.parse::<SpanEnd>(), Err(TimestampError), "{text}");
        }
    }
}
