//! Audit log entries for rejected attempts: individual entries for a sample, and counts for the rest, so that rejected
//! requests cannot flood the log.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::handles::handles;
use domain::id::Id;
use domain::time::Timestamp;
use kernel::environment::Environment;
use platform::observe::meters::Counter;
use store::Store;
use store::rows::Audit;

const MINUTE_MS: i64 = 60_000;
/// Maximum number of entries per source and minute; further attempts are combined into one entry.
const MAX_LINES_OF_ONE: u64 = 5;
/// Maximum number of entries per minute across all sources.
const MAX_LINES_OF_ALL: u64 = 60;
/// Maximum number of sources counted separately per minute; further sources are counted together.
const MAX_SOURCES: usize = 1000;
/// Maximum number of sources for which an entry with the number of further attempts is written.
const MAX_COUNTED_SOURCES: usize = 10;
/// Name used for all sources that are not counted separately.
const OTHERS: &str = "others";

/// Source of an attempt: an authenticated caller or an address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AttemptSource {
    /// Authenticated caller ([`domain::principal::Principal`] as text).
    pub actor: String,
    /// Address of an unauthenticated caller, so that one caller cannot hide the attempts of another.
    pub address: Option<IpAddr>,
}

impl AttemptSource {
    /// Returns the source that represents all sources not counted separately.
    fn others() -> Self {
        Self { actor: OTHERS.to_owned(), address: None }
    }
}

/// Rejected attempt, as recorded in the audit log.
#[derive(Debug)]
pub struct RefusedAttempt {
    /// Source of the attempt.
    pub source: AttemptSource,
    /// Method and route, such as `POST /api/users`.
    pub action: String,
    /// ID in the path, if any.
    pub subject: Option<Id>,
    /// `X-Request-Id` of the request.
    pub request_id: Option<String>,
    /// Error code of the rejection.
    pub code: String,
    /// Further details, such as the kind of credentials.
    pub detail: Value,
}

#[derive(Debug, Default)]
struct SampledWindow {
    minute: i64,
    written: u64,
    /// Number of attempts per source, and the number of those that have their own entry.
    sources: HashMap<AttemptSource, (u64, u64)>,
    /// Number of attempts from sources beyond [`MAX_SOURCES`].
    others: u64,
}

/// Number of attempts per source, within one minute, that do not have their own entries.
type Unwritten = Vec<(AttemptSource, u64)>;

impl SampledWindow {
    /// Starts a new window if `now` is in a different minute, and returns the unwritten counts from the previous
    /// window.
    fn turn(&mut self, now: Timestamp) -> Unwritten {
        let minute = now.0.div_euclid(MINUTE_MS);
        if minute == self.minute {
            return Vec::new();
        }
        let last = std::mem::replace(self, Self { minute, ..Self::default() });
        let left = last.sources.into_iter().map(|(source, (all, lines))| (source, all - lines));
        let mut left: Unwritten = left.filter(|(_, count)| *count > 0).collect();
        left.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let rest: u64 = left.split_off(left.len().min(MAX_COUNTED_SOURCES)).iter().map(|(_, count)| count).sum();
        left.extend((rest + last.others > 0).then(|| (AttemptSource::others(), rest + last.others)));
        left
    }

    /// Counts the attempt and returns whether to write an entry for it.
    fn takes(&mut self, source: &AttemptSource) -> bool {
        if !self.sources.contains_key(source) {
            if self.sources.len() >= MAX_SOURCES {
                self.others += 1;
                return false;
            }
            self.sources.insert(source.clone(), (0, 0));
        }
        let Some((all, lines)) = self.sources.get_mut(source) else { return false };
        *all += 1;
        let takes = *lines < MAX_LINES_OF_ONE && self.written < MAX_LINES_OF_ALL;
        if takes {
            *lines += 1;
            self.written += 1;
        }
        takes
    }
}

/// Sampler for the rejected attempts in the current minute.
#[derive(Debug, Default)]
pub struct RefusalSampler {
    window: Mutex<SampledWindow>,
    /// Number of rejected attempts since startup.
    pub all: Counter,
}

impl RefusalSampler {
    fn look(&self, now: Timestamp, source: Option<&AttemptSource>) -> (Unwritten, bool) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let left = window.turn(now);
        (left, source.is_some_and(|source| window.takes(source)))
    }
}

handles! {
    /// Dependencies for recording rejected attempts.
    pub struct AuditHandles {
        refusals: Arc<RefusalSampler>,
        environment: Arc<Environment>,
        store: Store,
    }
}

/// Counts an attempt and writes an audit entry if it is sampled.
pub fn note(app: &AuditHandles, attempt: RefusedAttempt) {
    app.refusals.all.one();
    let environment = &app.environment;
    let now = environment.now();
    let (left, takes) = app.refusals.look(now, Some(&attempt.source));
    let mut lines = summaries(app, now, left);
    if takes {
        lines.push(Audit {
            subject_id: attempt.subject.unwrap_or(Id::ONLY),
            request_id: attempt.request_id,
            ..line(environment.id(), now, attempt.source, (attempt.action, attempt.code), attempt.detail)
        });
    }
    app.store.note(lines);
}

/// Writes the counts of the previous minute once it is over.
pub fn sweep(app: &AuditHandles) {
    let now = app.environment.now();
    let (left, _) = app.refusals.look(now, None);
    app.store.note(summaries(app, now, left));
}

fn summaries(app: &AuditHandles, now: Timestamp, left: Unwritten) -> Vec<Audit> {
    let counted = |(source, count)| {
        let words = ("refused".to_owned(), "counted".to_owned());
        let detail = json!({"count": count, "seconds": MINUTE_MS / 1000});
        line(app.environment.id(), now, source, words, detail)
    };
    left.into_iter().map(counted).collect()
}

/// Builds an audit entry without a subject.
fn line(id: Id, at: Timestamp, source: AttemptSource, (action, outcome): (String, String), mut detail: Value) -> Audit {
    if let Some(address) = source.address {
        detail["address"] = json!(address);
    }
    Audit {
        id,
        at,
        actor: source.actor,
        action,
        subject_kind: "request".to_owned(),
        subject_id: Id::ONLY,
        request_id: None,
        outcome,
        detail: Some(detail.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(name: &str) -> AttemptSource {
        AttemptSource { actor: name.to_owned(), address: None }
    }

    #[test]
    fn nobody_is_told_apart_by_address() {
        let refused = RefusalSampler::default();
        let from = |last| AttemptSource { address: Some([10, 0, 0, last].into()), ..actor("anonymous") };
        (0..10).for_each(|_| drop(refused.look(Timestamp(60_000), Some(&from(1)))));
        assert!(refused.look(Timestamp(60_001), Some(&from(2))).1, "one address does not hide another");
        assert_eq!(refused.look(Timestamp(120_000), None).0, [(from(1), 5)]);
    }

    #[test]
    fn a_source_gets_a_few_lines_a_minute_and_then_a_count() {
        let refused = RefusalSampler::default();
        let written = (0..100).filter(|n| refused.look(Timestamp(60_000 + n), Some(&actor("a"))).1).count() as u64;
        assert_eq!(written, MAX_LINES_OF_ONE);
        assert!(refused.look(Timestamp(60_500), Some(&actor("b"))).1);
        let (left, takes) = refused.look(Timestamp(120_000), Some(&actor("a")));
        assert_eq!((left, takes), (vec![(actor("a"), 95)], true));
        assert_eq!(refused.look(Timestamp(180_000), None).0, []);
    }

    #[test]
    fn many_sources_together_stay_bounded_in_lines_and_in_memory() {
        let refused = RefusalSampler::default();
        let written =
            (0..5000).filter(|n| refused.look(Timestamp(60_000), Some(&actor(&n.to_string()))).1).count() as u64;
        assert_eq!(written, MAX_LINES_OF_ALL);
        assert_eq!(refused.window.lock().map(|window| window.sources.len()).unwrap_or_default(), MAX_SOURCES);
        let (left, _) = refused.look(Timestamp(120_000), None);
        assert_eq!(left.len(), MAX_COUNTED_SOURCES + 1);
        assert_eq!(left.iter().map(|(_, count)| count).sum::<u64>(), 5000 - MAX_LINES_OF_ALL);
        assert_eq!(left.last().map(|(source, _)| source), Some(&AttemptSource::others()));
    }
}
