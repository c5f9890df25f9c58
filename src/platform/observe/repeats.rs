//! Prevents repeated errors from flooding the log: a warning or error is suppressed if an identical line was logged
//! within the last minute. Work that is retried therefore logs its error once a minute instead of thousands of times.
//! Lines that differ in any way, for example in an ID or a number, are treated as different.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::request;

/// Time for which an identical line is suppressed.
const REPEAT_SILENCE: Duration = Duration::from_mins(1);
/// Maximum number of remembered lines. When it is exceeded, all are forgotten and may be logged once more.
const MAX_REMEMBERED_LINES: usize = 1024;

/// Log layer that lets each distinct line through once a minute.
#[derive(Debug, Default)]
pub(super) struct RepeatFilter {
    /// Time at which each line was last written, by line hash.
    written: Mutex<HashMap<u64, Instant>>,
}

impl RepeatFilter {
    /// Returns whether the line with the given hash may be written now.
    fn passes(&self, line: u64, now: Instant) -> bool {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.get(&line).is_some_and(|last| now.duration_since(*last) < REPEAT_SILENCE) {
            return false;
        }
        if written.len() >= MAX_REMEMBERED_LINES {
            written.retain(|_, last| now.duration_since(*last) < REPEAT_SILENCE);
        }
        if written.len() >= MAX_REMEMBERED_LINES {
            written.clear();
        }
        written.insert(line, now);
        true
    }
}

/// Implements a global layer instead of a per-layer filter: if the only filtered layer's filter rejects an event,
/// `tracing-subscriber` keeps the rejection for the next event, and fails an assertion in debug builds.
impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for RepeatFilter {
    fn event_enabled(&self, event: &Event<'_>, context: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        // An error within a request is looked for by the request's ID, so each of them is written.
        let within = || request::is_current() || context.event_span(event).is_some();
        let of_a_request = *metadata.level() == Level::ERROR && within();
        if *metadata.level() > Level::WARN || of_a_request {
            return true;
        }
        let mut line = LogLine(DefaultHasher::new());
        (metadata.target(), metadata.line()).hash(&mut line.0);
        event.record(&mut line);
        self.passes(line.0.finish(), Instant::now())
    }
}

/// Hash of a log line, computed from its fields.
struct LogLine(DefaultHasher);

impl Visit for LogLine {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        (field.name(), format!("{value:?}")).hash(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn a_line_passes_once_a_minute() {
        let (repeats, now) = (RepeatFilter::default(), Instant::now());
        assert!(repeats.passes(1, now));
        assert!(!repeats.passes(1, now + Duration::from_secs(59)));
        assert!(repeats.passes(2, now), "another line");
        assert!(repeats.passes(1, now + REPEAT_SILENCE));
        for line in 0..5000 {
            repeats.passes(line, now);
        }
        assert!(repeats.written.lock().unwrap_or_else(PoisonError::into_inner).len() <= MAX_REMEMBERED_LINES);
    }

    struct Counting(Arc<AtomicUsize>);

    impl<S: Subscriber> Layer<S> for Counting {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn what_fails_in_a_loop_is_one_line_and_news_are_not_held_back() {
        let count = Arc::new(AtomicUsize::new(0));
        let subscriber = tracing_subscriber::registry().with(RepeatFilter::default()).with(Counting(count.clone()));
        tracing::subscriber::with_default(subscriber, || {
            for tries in 0..300 {
                tracing::error!(printer = 7, "the key cannot be decrypted");
                tracing::info!(tries, "told again");
            }
            assert_eq!(count.load(Relaxed), 301);
            tracing::error!(printer = 8, "the key cannot be decrypted");
            tracing::info!("the same");
            tracing::info!("the same");
            assert_eq!(count.load(Relaxed), 304);
            for id in ["a", "b"] {
                tracing::info_span!("request", id).in_scope(|| {
                    tracing::error!("internal fault");
                    tracing::warn!("the database cannot be read");
                });
            }
            assert_eq!(count.load(Relaxed), 307, "each fault of a request, and the outage once");
        });
    }
}
