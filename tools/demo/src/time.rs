//! Demo clock, and durations between points in time.

use std::sync::Arc;

use jiff::Timestamp;

/// System clock, which the server uses too.
pub type DemoClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Returns the system clock.
pub fn machine_clock() -> DemoClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    let now = Timestamp::now;
    Arc::new(now)
}

/// Returns the number of milliseconds between two times; negative if `to` is earlier than `from`.
pub fn ms_between(from: Timestamp, to: Timestamp) -> i64 {
    to.as_millisecond() - from.as_millisecond()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn milliseconds_have_a_direction() {
        let [early, late] = [1_000, 3_500].map(|ms| Timestamp::from_millisecond(ms).unwrap());
        assert_eq!((ms_between(early, late), ms_between(late, early)), (2_500, -2_500));
    }
}
