//! What every aggregate is: a pure state machine whose every change is part of one durable commit.
//!
//! Rules perform no I/O. Outside work is named by [`Aggregate::effects`] and carried out by `actors/`.

pub use crate::domain::decision_context::{DecisionContext, Ids, LastNumbers, NumberSeries};

use std::convert::Infallible;
use std::fmt::Debug;
use std::hash::Hash;

use serde::{Serialize, de::DeserializeOwned};

use crate::domain::event::Event;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::requirement::Requirement;

/// An aggregate that the commit of another one brings into being, at version 1. Creating needs no coordination, because
/// nobody else knows the fresh id; changing an aggregate is up to its own actor alone.
pub trait NewAggregate: Debug + Send + Sync + 'static {
    /// [`Aggregate::KIND`] of the new aggregate.
    fn kind(&self) -> &'static str;
    /// The id that it gets; none had it before.
    fn id(&self) -> Id;
}

/// For aggregates that create no others.
impl NewAggregate for Infallible {
    fn kind(&self) -> &'static str {
        match *self {}
    }
    fn id(&self) -> Id {
        match *self {}
    }
}

/// The outcome of a command: the whole next state, and only the rows that differ.
#[derive(Debug)]
pub struct Decision<T: Aggregate> {
    /// The next state; `None` when the command changes nothing ("already").
    pub next: Option<T>,
    /// Rows of parts that differ.
    pub rows: Vec<T::Row>,
    /// What is told to subscribers, in order.
    pub events: Vec<Event>,
    /// Aggregates that this commit creates.
    pub created: Vec<T::Created>,
    /// What must hold outside the aggregate when this is written; else the command is refused.
    pub requirements: Vec<Requirement>,
    /// What the caller hears.
    pub answer: T::Answer,
}

impl<T: Aggregate> Decision<T> {
    /// A change of the snapshot row alone.
    pub fn to(next: T, answer: T::Answer) -> Self {
        Self { next: Some(next), ..Self::unchanged(answer) }
    }
    /// An answer without any change.
    pub fn unchanged(answer: T::Answer) -> Self {
        Self { next: None, rows: Vec::new(), events: Vec::new(), created: Vec::new(), requirements: Vec::new(), answer }
    }
    /// Adds changed rows of parts.
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
    /// Adds what must hold outside the aggregate.
    pub(super) fn requires(mut self, requirements: impl IntoIterator<Item = Requirement>) -> Self {
        self.requirements.extend(requirements);
        self
    }
}

/// Something with an identity and a life. Its serialized form is the `doc` of its snapshot row (≤ 4 KB): growing parts
/// are persistent maps, skipped by serde, written as [`Aggregate::Row`]s and put back by the store's load.
pub trait Aggregate: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The kind's word: `order`, `printer`, … (errors, events, `/api/system/actors`).
    const KIND: &'static str;
    /// What somebody may ask of it.
    type Command: Clone + Debug + Send + Sync + 'static;
    /// What the caller hears; kept with its idempotency key.
    type Answer: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// A row of another table that a commit writes besides the snapshot row, under the same version guard. Only the
    /// store knows the table. [`Infallible`] when the aggregate is its snapshot row alone.
    type Row: Debug + Send + Sync + 'static;
    /// The aggregates of other kinds that its commits create; [`Infallible`]: none.
    type Created: NewAggregate;
    /// Outside work this state calls for, keyed so that it is recognised when it is already under way.
    type Effect: Hash + Eq + Clone + Debug + Send + Sync + 'static;

    /// The rule. `this` is `None` until the aggregate exists: everything but a creating command is then refused with
    /// [`Refusal::not_found`].
    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &Self::Command,
    ) -> Result<Decision<Self>, Refusal>;
    /// The command's name for the audit log (`order.cancel`).
    fn name(command: &Self::Command) -> &'static str;
    /// What the audit log names as the subject, where that is a part of the aggregate (a user of access) and not the
    /// whole.
    fn subject(command: &Self::Command, answer: &Self::Answer) -> Option<(&'static str, Id)> {
        let _ = (command, answer);
        None
    }
    /// What the audit log says came of a command that was decided.
    fn audit_facts(command: &Self::Command) -> AuditFacts {
        let _ = command;
        AuditFacts::done()
    }
    /// The version that the caller saw (`If-Match`); the actor refuses the command when it is another one.
    fn if_version(command: &Self::Command) -> Option<i64> {
        let _ = command;
        None
    }
    /// The number that people read as the version and send back in `If-Match`, which counts the changes that people
    /// make; `None` for kinds that only people change, which show the number of their commits.
    fn revision(&self) -> Option<i64> {
        None
    }
    /// A database constraint said no (a taken code): as a business answer.
    fn clash(constraint: &str) -> Refusal {
        Refusal::conflict("conflict", format!("{constraint} is taken"))
    }
    /// Level-triggered: asked after every load and every commit. Recovery is this function and nothing else.
    fn effects(&self) -> Vec<Self::Effect> {
        Vec::new()
    }
    /// May leave memory when nobody asks for it.
    fn at_rest(&self) -> bool {
        true
    }
}

/// What the audit log says of a command besides who asked for what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditFacts {
    /// `done`, or a word for what came of it.
    pub outcome: String,
    /// Further facts as JSON.
    pub detail: Option<String>,
}

impl AuditFacts {
    /// The command was carried out, and there is no more to say.
    pub fn done() -> Self {
        Self { outcome: "done".to_owned(), detail: None }
    }
}

/// A state as it is on disk.
#[derive(Clone, Debug)]
pub struct Versioned<T> {
    /// Number of commits of the aggregate; 0 before the first.
    pub version: i64,
    /// `None` until it exists.
    pub state: Option<T>,
}

impl<T: Aggregate> Versioned<T> {
    /// The version that people read: [`Aggregate::revision`], or the number of commits.
    pub fn revision(&self) -> i64 {
        self.state.as_ref().and_then(T::revision).unwrap_or(self.version)
    }
}

impl<T> Versioned<T> {
    /// Not on disk yet.
    pub const fn nothing() -> Self {
        Self { version: 0, state: None }
    }
}
