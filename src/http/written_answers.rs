//! Answers about aggregates in memory that were written as JSON before. Whoever reads an aggregate that has not changed
//! receives the same bytes, instead of having the same text written again.
//!
//! An answer counts only for the very state that it was written from, and for equal other inputs: what else it shows,
//! such as a forecast, and to whom it is shown. These are part of its key, so that no reader sees the answer to another
//! kind of reader.

use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::Bytes;
use serde::Serialize;

use crate::error::ApiError;
use crate::reply::to_json;
use crate::resource_state::ResourceState;
use crate::state_cache::{CacheBounds, StateCache};
use actors::app::App;
use config::Config;
use domain::aggregate::{Aggregate, Versioned};
use domain::id::Id;

/// Bounds of the answers of one resource. docs/SCALING.md counts the bytes.
const BOUNDS: CacheBounds = CacheBounds { entries: 4096, bytes: 16 * 1024 * 1024 };
/// Size of an answer, in bytes, above which it is written anew each time, so that a few large ones do not take the room
/// of all others.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// Answers about the aggregates of type `A` to readers of the kinds `R`. Besides the aggregate, they depend on `D`.
/// There is one value of these for each resource that shares its answers.
pub struct WrittenAnswers<A, R, D> {
    answers: StateCache<(Id, R), Versioned<A>, SharedAnswer<D>>,
}

/// Answer that was written with these details.
struct SharedAnswer<D> {
    details: D,
    text: Bytes,
}

/// JSON of a resource of type `T`.
pub struct WrittenAnswer<T> {
    text: Bytes,
    resource: PhantomData<fn() -> T>,
}

impl<T> WrittenAnswer<T> {
    /// Returns the JSON.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.text
    }
}

impl<A, R: Hash + Eq, D> Default for WrittenAnswers<A, R, D> {
    fn default() -> Self {
        Self { answers: StateCache::new(BOUNDS) }
    }
}

impl<A, R, D> ResourceState for WrittenAnswers<A, R, D>
where
    A: Aggregate,
    R: Hash + Eq + Send + Sync + 'static,
    D: Send + Sync + 'static,
{
    fn create(_: &App, _: &Config) -> Self {
        Self::default()
    }
}

impl<A: Aggregate, R: Hash + Eq + Copy, D: PartialEq> WrittenAnswers<A, R, D> {
    /// Returns the answer about the aggregate with the given ID and state to a reader. `resource` builds it if it has
    /// not been written yet from this state and with these details.
    pub fn get<T: Serialize>(
        &self,
        (id, reader): (Id, R),
        state: &Arc<Versioned<A>>,
        details: D,
        resource: impl FnOnce() -> T,
    ) -> Result<WrittenAnswer<T>, ApiError> {
        let text_for = |answer: &SharedAnswer<D>| (answer.details == details).then(|| answer.text.clone());
        let existing = self.answers.find(&(id, reader), state, text_for);
        let text = match existing {
            Some(text) => text,
            None => self.write((id, reader), state, details, &resource())?,
        };
        Ok(WrittenAnswer { text, resource: PhantomData })
    }

    fn write(
        &self,
        key: (Id, R),
        state: &Arc<Versioned<A>>,
        details: D,
        resource: &impl Serialize,
    ) -> Result<Bytes, ApiError> {
        let text = Bytes::copy_from_slice(&to_json(resource)?);
        if text.len() <= MAX_ANSWER_BYTES {
            // The place of a state stays occupied as long as anything refers to it.
            let heap_bytes = text.len() + size_of::<Versioned<A>>();
            self.answers.insert(key, state, SharedAnswer { details, text: text.clone() }, heap_bytes);
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use serde_json::json;

    use super::*;
    use domain::material::Material;

    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    enum Reader {
        Customer,
        Staff,
    }

    type Answers = WrittenAnswers<Material, Reader, i64>;

    fn state() -> Arc<Versioned<Material>> {
        Arc::new(Versioned::nothing())
    }

    /// Returns the answer to a reader; `text` is written if there is none yet.
    fn ask(answers: &Answers, reader: Reader, state: &Arc<Versioned<Material>>, details: i64, text: &str) -> String {
        let answer = answers.get((Id::ONLY, reader), state, details, || json!(text)).unwrap();
        serde_json::from_slice(&answer.into_bytes()).unwrap()
    }

    #[test]
    fn an_answer_is_written_once_for_each_state() {
        let (answers, before, after) = (Answers::default(), state(), state());
        assert_eq!(ask(&answers, Reader::Staff, &before, 1, "first"), "first");
        assert_eq!(ask(&answers, Reader::Staff, &before, 1, "second"), "first", "it is shared");
        assert_eq!(ask(&answers, Reader::Staff, &before.clone(), 1, "second"), "first");
        assert_eq!(ask(&answers, Reader::Staff, &after, 1, "new"), "new", "another state, although it is equal");
        assert_eq!(ask(&answers, Reader::Staff, &before, 1, "old"), "old", "whoever read it before the commit");
    }

    #[test]
    fn no_reader_gets_the_answer_to_another_kind_of_reader() {
        let (answers, state) = (Answers::default(), state());
        assert_eq!(ask(&answers, Reader::Staff, &state, 1, "with internal notes"), "with internal notes");
        assert_eq!(ask(&answers, Reader::Customer, &state, 1, "without them"), "without them");
        for _ in 0..2 {
            assert_eq!(ask(&answers, Reader::Staff, &state, 1, ""), "with internal notes");
            assert_eq!(ask(&answers, Reader::Customer, &state, 1, ""), "without them");
        }
    }

    #[test]
    fn an_answer_with_other_details_is_another_one() {
        let (answers, state) = (Answers::default(), state());
        for (details, text) in [(1, "on time"), (2, "late"), (1, "on time again")] {
            assert_eq!(ask(&answers, Reader::Staff, &state, details, text), text);
        }
    }

    #[test]
    fn a_state_whose_answer_was_written_can_leave_memory() {
        let (answers, state) = (Answers::default(), state());
        ask(&answers, Reader::Staff, &state, 1, "text");
        let left = Arc::downgrade(&state);
        drop(state);
        assert!(left.upgrade().is_none());
    }

    #[test]
    fn answers_are_bounded_in_number_and_size() {
        let (answers, state) = (Answers::default(), state());
        for number in 0..2 * BOUNDS.entries {
            let id = domain::testing::id(u32::try_from(number).unwrap());
            answers.get((id, Reader::Staff), &state, 1, || json!(number)).unwrap();
        }
        assert!(answers.answers.len() <= BOUNDS.entries);
        let answers = Answers::default();
        ask(&answers, Reader::Staff, &state, 1, &"x".repeat(MAX_ANSWER_BYTES));
        assert_eq!(answers.answers.len(), 0, "too large");
    }

    #[test]
    fn the_bytes_of_all_answers_are_bounded() {
        let (answers, state) = (Answers::default(), state());
        let text = "x".repeat(MAX_ANSWER_BYTES - 2);
        for number in 0..2 * BOUNDS.entries {
            let id = domain::testing::id(u32::try_from(number).unwrap());
            answers.get((id, Reader::Staff), &state, 1, || json!(text)).unwrap();
            assert!(answers.answers.len() * MAX_ANSWER_BYTES <= 16 * 1024 * 1024);
        }
        assert!(answers.answers.len() > 0, "the last ones are shared");
    }

    #[test]
    fn answers_for_earlier_states_make_room_first() {
        let (answers, before, after) = (Answers::default(), state(), state());
        let write = |number: usize, state: &Arc<Versioned<Material>>| {
            let id = domain::testing::id(u32::try_from(number).unwrap());
            answers.get((id, Reader::Staff), state, 1, || json!(number)).unwrap();
        };
        write(0, &after);
        (1..BOUNDS.entries).for_each(|number| write(number, &before));
        drop(before);
        write(BOUNDS.entries, &after);
        assert_eq!(answers.answers.len(), 2, "the first and the last");
    }
}
