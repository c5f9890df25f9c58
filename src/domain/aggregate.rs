//! Definition of an aggregate: a pure state machine whose every change is part of one durable commit.
//!
//! Rules perform no I/O. [`Aggregate::effects`] names the outside work; `actors/` carries it out.

#[cfg(test)]
mod tests;

pub use crate::decision_context::{DecisionContext, Ids, LastNumbers, NumberSeries};

use std::convert::Infallible;
use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::event::Event;
use crate::id::Id;
use crate::refusal::Refusal;
use crate::requirement::Requirement;

/// Aggregate that another aggregate's commit creates, at version 1. Creation needs no coordination because nothing else
/// knows the fresh id; only an aggregate's own actor may change it afterwards.
pub trait NewAggregate: Debug + Send + Sync + 'static {
    /// Returns [`Aggregate::KIND`] of the new aggregate.
    fn kind(&self) -> &'static str;
    /// Returns the id of the new aggregate, which no other has used.
    fn id(&self) -> Id;
}

/// Placeholder for aggregates that create no others.
impl NewAggregate for Infallible {
    fn kind(&self) -> &'static str {
        match *self {}
    }
    fn id(&self) -> Id {
        match *self {}
    }
}

/// Outcome of a command: the complete next state, only the rows that differ, and the answer `A` to its caller.
#[derive(Debug)]
pub struct Decision<T: Aggregate, A = Confirmation> {
    /// Next state; `None` when the command changes nothing ("already").
    pub next: Option<T>,
    /// Rows of changed parts.
    pub rows: Vec<T::Row>,
    /// Events published to subscribers, in order.
    pub events: Vec<Event>,
    /// Aggregates that this commit creates.
    pub created: Vec<T::Created>,
    /// Conditions outside the aggregate that must hold at commit; otherwise the command is refused.
    pub requirements: Vec<Requirement>,
    /// Answer to the caller.
    pub answer: A,
}

impl<T: Aggregate, A> Decision<T, A> {
    /// Creates a decision that changes the snapshot row alone.
    pub fn to(next: T, answer: A) -> Self {
        Self { next: Some(next), ..Self::unchanged(answer) }
    }
    /// Creates a decision that answers without any change.
    pub fn unchanged(answer: A) -> Self {
        Self { next: None, rows: Vec::new(), events: Vec::new(), created: Vec::new(), requirements: Vec::new(), answer }
    }
    /// Returns the same decision with another answer, built from the present one.
    pub fn map_answer<B>(self, answer: impl FnOnce(A) -> B) -> Decision<T, B> {
        let Self { next, rows, events, created, requirements, answer: present } = self;
        Decision { next, rows, events, created, requirements, answer: answer(present) }
    }
    /// Adds rows of changed parts.
    pub fn rows(mut self, rows: impl IntoIterator<Item = T::Row>) -> Self {
        self.rows.extend(rows);
        self
    }
    /// Adds events, in the order in which they happened.
    pub fn events(mut self, events: impl IntoIterator<Item = Event>) -> Self {
        self.events.extend(events);
        self
    }
    /// Adds aggregates that the commit creates.
    pub fn created(mut self, created: impl IntoIterator<Item = T::Created>) -> Self {
        self.created.extend(created);
        self
    }
    /// Adds conditions that must hold outside the aggregate.
    pub(super) fn requires(mut self, requirements: impl IntoIterator<Item = Requirement>) -> Self {
        self.requirements.extend(requirements);
        self
    }
}

/// Entity with an identity and a lifecycle, changed by nothing but its [`Command`]s. Its serialized form is the `doc`
/// of its snapshot row (≤ 4 KB): growing parts are persistent maps that serde skips, are written as [`Aggregate::Row`]s
/// and are restored by the store's load.
pub trait Aggregate: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Name of the kind: `order`, `printer`, … (errors, events, `/api/system/actors`).
    const KIND: &'static str;
    /// Row of another table that a commit writes besides the snapshot row, under the same version guard. Only the store
    /// knows the table. [`Infallible`] when the aggregate consists of its snapshot row alone.
    type Row: Debug + Send + Sync + 'static;
    /// Aggregates of other kinds that its commits create; [`Infallible`] for none.
    type Created: NewAggregate;
    /// Outside work that a state calls for; equality tells whether the same work is already in flight.
    type Effect: Hash + Eq + Clone + Debug + Send + Sync + 'static;

    /// Returns the version number shown to clients and sent back in `If-Match`, which counts only changes made by
    /// users; `None` for kinds that only users change, whose number of commits is shown instead.
    fn revision(&self) -> Option<i64> {
        None
    }
    /// Translates a violated database constraint (such as a duplicate code) to a refusal.
    fn clash(constraint: &str) -> Refusal {
        Refusal::conflict("conflict", format!("{constraint} is already in use"))
    }
    /// Returns the outside work that this state calls for. Level-triggered: called after every load and every commit.
    /// Recovery consists of nothing else.
    fn effects(&self) -> Vec<Self::Effect> {
        Vec::new()
    }
    /// Returns whether users have deleted the aggregate; it stays stored for what refers to it.
    fn is_archived(&self) -> bool {
        false
    }
    /// Returns whether the aggregate may be unloaded from memory while idle.
    fn at_rest(&self) -> bool {
        true
    }
}

/// Commands to an aggregate `T` that are answered alike: whoever sends one gets an answer of this type and of no other.
/// A kind has a type of commands for each answer, and for each such type the rules that decide it.
pub trait Command<T: Aggregate>: Clone + Debug + Send + Sync + 'static {
    /// Answer to the caller; stored with its idempotency key.
    type Answer: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Decides the command. `this` is `None` until the aggregate exists: every command that does not create it is then
    /// refused with [`Refusal::not_found`].
    fn decide(&self, this: Option<&T>, id: Id, cx: &DecisionContext<'_>) -> Result<Decision<T, Self::Answer>, Refusal>;
    /// Returns the command's name for the audit log (`order.cancel`).
    fn name(&self) -> &'static str;
    /// Returns the audit log's subject if it is a part of the aggregate (such as a user of access) rather than the
    /// whole.
    fn subject(&self, answer: &Self::Answer) -> Option<(&'static str, Id)> {
        let _ = answer;
        None
    }
    /// Returns the audit log's facts about the outcome of a decided command.
    fn audit_facts(&self) -> AuditFacts {
        AuditFacts::done()
    }
    /// Returns the version that the caller saw (`If-Match`); the actor refuses the command if the current version
    /// differs.
    fn if_version(&self) -> Option<i64> {
        None
    }
}

/// Answer to a command of which the caller learns no more than that it took effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Confirmation {
    /// The command took effect, now or earlier.
    Done,
}

/// Facts in the audit log about a command, besides the principal and the command itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditFacts {
    /// `done`, or another word for the outcome.
    pub outcome: String,
    /// Further facts as JSON.
    pub detail: Option<String>,
}

impl AuditFacts {
    /// Returns the facts of a command that was carried out without further detail.
    pub fn done() -> Self {
        Self { outcome: "done".to_owned(), detail: None }
    }
}

/// State of an aggregate as stored on disk, with its version.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// Number of commits of the aggregate; 0 before the first.
    pub version: i64,
    /// Stored state; `None` until the aggregate exists.
    pub state: Option<T>,
}

impl<T: Aggregate> Versioned<T> {
    /// Returns the version shown to clients: [`Aggregate::revision`], or the number of commits.
    pub fn revision(&self) -> i64 {
        self.state.as_ref().and_then(T::revision).unwrap_or(self.version)
    }

    /// Returns the state, unless nothing is stored yet or the aggregate is archived.
    pub fn present(&self) -> Option<&T> {
        self.state.as_ref().filter(|state| !state.is_archived())
    }
}

impl<T> Versioned<T> {
    /// Returns version 0 without a state: nothing is stored yet.
    pub const fn nothing() -> Self {
        Self { version: 0, state: None }
    }
}
