//! JSON of aggregates in memory, retained from earlier answers. Anyone who reads an unchanged aggregate receives the
//! same bytes, on their own or joined with others into a list, so that the text is not written again.
//!
//! An answer is valid only for the exact state from which it was written, and for equal other inputs: additional
//! content, such as a forecast, and the kind of reader. These are part of its key, so that no reader sees an answer
//! meant for another kind of reader.

use std::hash::Hash;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, Weak};

use axum::body::Bytes;
use serde::Serialize;

use crate::error::ApiError;
use crate::json_text::to_json;
use crate::resource_state::ResourceState;
use crate::state_cache::{CacheBounds, StateCache};
use actors::app::App;
use config::Config;
use domain::aggregate::{Aggregate, Versioned};
use domain::id::Id;

/// Bounds on the answers for one resource. docs/SCALING.md counts the bytes.
const BOUNDS: CacheBounds = CacheBounds { entries: 4096, bytes: 16 * 1024 * 1024 };
/// Size of an answer, in bytes, above which it is written again each time, so that a few large ones do not take up the
/// space of all others.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// Details on which an answer depends besides the state of its aggregate.
pub trait AnswerDetails {
    /// Returns the bytes that they keep on the heap.
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// Details of answers that depend on nothing else.
impl AnswerDetails for () {}

/// Reference to the state of another aggregate that an answer shows; empty if that aggregate was not in memory. It is
/// weak, so that an old state can leave memory.
pub struct StateReference<A>(Option<Weak<Versioned<A>>>);

impl<A> StateReference<A> {
    /// Bytes that stay occupied as long as the state is referred to.
    pub const HEAP_BYTES: usize = size_of::<Versioned<A>>();

    /// Creates a reference to the state of an aggregate, if it is in memory.
    pub fn new(state: Option<&Arc<Versioned<A>>>) -> Self {
        Self(state.map(Arc::downgrade))
    }

    /// Returns whether the aggregate still has this very state or, for an empty reference, is still not in memory.
    pub fn is_of(&self, state: Option<&Arc<Versioned<A>>>) -> bool {
        match (&self.0, state) {
            // The weak reference keeps the address from being used again for another state.
            (Some(own), Some(state)) => ptr::eq(own.as_ptr(), Arc::as_ptr(state)),
            (own, state) => own.is_none() && state.is_none(),
        }
    }
}

/// Answers about the aggregates of type `A` to readers of the kinds `R`. Besides the aggregate, they depend on `D`.
/// There is one value of these for each resource that shares its answers.
pub struct WrittenAnswers<A, R, D> {
    answers: StateCache<(Id, R), Versioned<A>, SharedAnswer<D>>,
}

/// Answer written with these details.
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
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the JSON.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.text
    }
}

impl<T: Serialize> WrittenAnswer<T> {
    /// Writes an answer for a single reader.
    fn unshared(resource: &T) -> Result<Self, ApiError> {
        Ok(Self { text: Bytes::copy_from_slice(&to_json(resource)?), resource: PhantomData })
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

impl<A: Aggregate, R: Hash + Eq + Copy, D: AnswerDetails> WrittenAnswers<A, R, D> {
    /// Returns the answer about the aggregate with the given ID and state to a reader. `resource` builds it if it has
    /// not been written yet from this state and with these details.
    pub fn get<T: Serialize>(
        &self,
        key: (Id, R),
        state: &Arc<Versioned<A>>,
        details: D,
        resource: impl FnOnce() -> T,
    ) -> Result<WrittenAnswer<T>, ApiError>
    where
        D: PartialEq,
    {
        match self.find(key, state, |written| *written == details) {
            Some(answer) => Ok(answer),
            None => self.write(key, state, details, &resource()),
        }
    }

    /// Returns the answer like [`Self::get`]. It is retained only if the state is the `present` one, in memory: a state
    /// read for a single reader is not requested again.
    pub fn get_if_present<T: Serialize>(
        &self,
        key: (Id, R),
        state: &Arc<Versioned<A>>,
        present: Option<&Arc<Versioned<A>>>,
        details: D,
        resource: impl FnOnce() -> T,
    ) -> Result<WrittenAnswer<T>, ApiError>
    where
        D: PartialEq,
    {
        if present.is_some_and(|present| Arc::ptr_eq(present, state)) {
            return self.get(key, state, details, resource);
        }
        WrittenAnswer::unshared(&resource())
    }

    /// Returns the answer like [`Self::get`], for details that cost more to read than to compare. `is_current` returns
    /// whether those that an answer was written with are still the present ones. `build` reads the present ones, and
    /// builds the resource with exactly these.
    pub fn get_with<T: Serialize>(
        &self,
        key: (Id, R),
        state: &Arc<Versioned<A>>,
        is_current: impl FnOnce(&D) -> bool,
        build: impl FnOnce() -> (D, T),
    ) -> Result<WrittenAnswer<T>, ApiError> {
        if let Some(answer) = self.find(key, state, is_current) {
            return Ok(answer);
        }
        let (details, resource) = build();
        self.write(key, state, details, &resource)
    }

    fn find<T>(
        &self,
        key: (Id, R),
        state: &Arc<Versioned<A>>,
        is_current: impl FnOnce(&D) -> bool,
    ) -> Option<WrittenAnswer<T>> {
        let text = self.answers.find(&key, state, |answer| is_current(&answer.details).then(|| answer.text.clone()))?;
        Some(WrittenAnswer { text, resource: PhantomData })
    }

    fn write<T: Serialize>(
        &self,
        key: (Id, R),
        state: &Arc<Versioned<A>>,
        details: D,
        resource: &T,
    ) -> Result<WrittenAnswer<T>, ApiError> {
        let answer = WrittenAnswer::unshared(resource)?;
        let text = &answer.text;
        if text.len() <= MAX_ANSWER_BYTES {
            // The place of a state stays occupied as long as anything refers to it.
            let heap_bytes = text.len() + details.heap_bytes() + size_of::<Versioned<A>>();
            self.answers.insert(key, state, SharedAnswer { details, text: text.clone() }, heap_bytes);
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::cell::Cell;

    use serde_json::json;

    use super::*;
    use domain::material::Material;

    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    enum Reader {
        Customer,
        Staff,
    }

    impl AnswerDetails for i64 {}

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
    fn the_answer_about_a_state_that_is_not_in_memory_is_not_kept() {
        let (answers, read, present) = (Answers::default(), state(), state());
        let ask_for = |state: &Arc<Versioned<Material>>, present: Option<&Arc<Versioned<Material>>>, text: &str| {
            let key = (Id::ONLY, Reader::Staff);
            let answer = answers.get_if_present(key, state, present, 1, || json!(text)).unwrap();
            serde_json::from_slice::<String>(answer.text()).unwrap()
        };
        assert_eq!(ask_for(&read, None, "first"), "first");
        assert_eq!(ask_for(&read, Some(&present), "second"), "second");
        assert_eq!(answers.answers.len(), 0);
        assert_eq!(ask_for(&present, Some(&present), "third"), "third");
        assert_eq!(ask_for(&present, Some(&present), "fourth"), "third");
    }

    #[test]
    fn an_answer_with_other_details_is_another_one() {
        let (answers, state) = (Answers::default(), state());
        for (details, text) in [(1, "on time"), (2, "late"), (1, "on time again")] {
            assert_eq!(ask(&answers, Reader::Staff, &state, details, text), text);
        }
    }

    #[test]
    fn an_answer_is_shared_until_its_details_are_no_longer_current() {
        let (answers, state) = (Answers::default(), state());
        let builds = Cell::new(0);
        let ask_at = |present: i64| {
            let build = || {
                builds.set(builds.get() + 1);
                (present, json!(present))
            };
            let is_current = |written: &i64| *written == present;
            let answer = answers.get_with((Id::ONLY, Reader::Staff), &state, is_current, build).unwrap();
            serde_json::from_slice::<i64>(answer.text()).unwrap()
        };
        assert_eq!([1, 1, 2, 2, 1, 1].map(ask_at), [1, 1, 2, 2, 1, 1]);
        assert_eq!(builds.get(), 3, "once for each change");
    }

    #[test]
    fn a_reference_is_to_one_state_of_another_aggregate_only() {
        let (before, after) = (state(), state());
        let reference = StateReference::new(Some(&before));
        assert!(reference.is_of(Some(&before)) && reference.is_of(Some(&before.clone())));
        assert!(!reference.is_of(Some(&after)) && !reference.is_of(None));
        let empty = StateReference::<Material>::new(None);
        assert!(empty.is_of(None) && !empty.is_of(Some(&before)));
        // A state that has left memory leaves its address to no other one.
        let left = Arc::downgrade(&before);
        drop(before);
        assert!(left.upgrade().is_none());
        assert!((0..100).all(|_| !reference.is_of(Some(&state()))));
    }

    /// Details that take as much memory as the largest answer.
    struct LargeDetails;

    impl AnswerDetails for LargeDetails {
        fn heap_bytes(&self) -> usize {
            MAX_ANSWER_BYTES
        }
    }

    #[test]
    fn details_count_among_the_bytes_that_are_bounded() {
        let (answers, state) = (WrittenAnswers::<Material, (), LargeDetails>::default(), state());
        for number in 0..2 * BOUNDS.entries {
            let id = domain::testing::id(u32::try_from(number).unwrap());
            answers.get_with((id, ()), &state, |_| true, || (LargeDetails, json!(number))).unwrap();
            assert!(answers.answers.len() * MAX_ANSWER_BYTES <= BOUNDS.bytes);
        }
        assert!(answers.answers.len() > 0);
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
