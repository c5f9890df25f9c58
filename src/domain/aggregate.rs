//! Definition of an aggregate: a pure state machine whose every change is part of one durable commit.
//!
//! Rules perform no I/O. [`Aggregate::effects`] declares the external work; `actors/` carries it out.

#[cfg(test)]
mod tests;

pub use crate::decision_context::{DecisionContext, Ids, LastNumbers, NumberSeries};

use std::convert::Infallible;
use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::audit::AuditedAct;
use crate::event::Event;
use crate::id::Id;
use crate::refusal::Refusal;
use crate::requirement::Requirement;

/// Aggregate created in the commit of a different aggregate, at version 1. Creation needs no coordination, because
/// nothing else knows the new ID; afterwards, only the aggregate's own actor may change it.
pub trait NewAggregate: Debug + Send + Sync + 'static {
    /// Returns the [`Aggregate::KIND`] of the new aggregate.
    fn kind(&self) -> &'static str;
    /// Returns the ID of the new aggregate, which was never used before.
    fn id(&self) -> Id;
}

/// Implementation for aggregates that create no others.
impl NewAggregate for Infallible {
    fn kind(&self) -> &'static str {
        match *self {}
    }
    fn id(&self) -> Id {
        match *self {}
    }
}

/// Outcome of a command: the complete next state, only the rows that differ, and the response `A` to the caller.
#[derive(Debug)]
pub struct Decision<T: Aggregate, A = Confirmation> {
    /// Next state; `None` if the command changes nothing, for example because it was already carried out.
    pub next: Option<T>,
    /// Rows of the parts that changed.
    pub rows: Vec<T::Row>,
    /// Events published to subscribers, in order.
    pub events: Vec<Event>,
    /// Aggregates that this commit creates.
    pub created: Vec<T::Created>,
    /// Conditions outside of the aggregate that must hold at the time of the commit; otherwise, the command is
    /// rejected.
    pub requirements: Vec<Requirement>,
    /// Response to the caller.
    pub answer: A,
}

/// Decision about a command, or the reason why the command is rejected.
pub type DecisionResult<T, A = Confirmation> = Result<Decision<T, A>, Refusal>;

impl<T: Aggregate, A> Decision<T, A> {
    /// Creates a decision that changes only the snapshot row.
    pub fn to(next: T, answer: A) -> Self {
        Self { next: Some(next), ..Self::unchanged(answer) }
    }
    /// Creates a decision that returns a response without changing anything.
    pub fn unchanged(answer: A) -> Self {
        Self { next: None, rows: Vec::new(), events: Vec::new(), created: Vec::new(), requirements: Vec::new(), answer }
    }
    /// Returns the same decision with a different response, built from the current one.
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
    /// Adds conditions that must hold outside of the aggregate.
    pub(super) fn requires(mut self, requirements: impl IntoIterator<Item = Requirement>) -> Self {
        self.requirements.extend(requirements);
        self
    }
}

/// Entity with an identity and a lifecycle, changed only by its [`Command`]s. Its serialized form is the `doc` of its
/// snapshot row (≤ 4 KB): growing parts are persistent maps that serde skips; they are written as [`Aggregate::Row`]s
/// and restored by the store on load.
pub trait Aggregate: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Name of the kind, such as `order` or `printer`, used in errors, in events and in `/api/system/actors`.
    const KIND: &'static str;
    /// Row of a separate table that a commit writes in addition to the snapshot row, under the same version guard. Only
    /// the store knows the table. [`Infallible`] if the aggregate consists only of its snapshot row.
    type Row: Debug + Send + Sync + 'static;
    /// Aggregates of other kinds that a commit of the aggregate may create; [`Infallible`] if there are none.
    type Created: NewAggregate;
    /// External work required by a state. Equal effects represent the same work, which never runs more than once at a
    /// time.
    type Effect: Hash + Eq + Clone + Debug + Send + Sync + 'static;

    /// Returns the version number shown to clients and sent back in `If-Match`, if it counts only changes made by
    /// users. Returns `None` for kinds that only users change; the number of commits is shown instead.
    fn revision(&self) -> Option<i64> {
        None
    }
    /// Translates a violation of a database constraint (such as a duplicate code) into a refusal.
    fn clash(constraint: &str) -> Refusal {
        Refusal::conflict("conflict", format!("{constraint} is already in use"))
    }
    /// Returns the external work that the state requires. It is level-triggered: called after every load and every
    /// commit. Recovery requires nothing else.
    fn effects(&self) -> Vec<Self::Effect> {
        Vec::new()
    }
    /// Returns whether users have deleted the aggregate; it stays stored because other records refer to it.
    fn is_archived(&self) -> bool {
        false
    }
    /// Returns whether the aggregate may be unloaded from memory while idle.
    fn at_rest(&self) -> bool {
        true
    }
}

/// Commands for an aggregate `T` that all return the same type of response. Each kind has one command type per response
/// type, with the rules that decide its commands.
pub trait Command<T: Aggregate>: Clone + Debug + Send + Sync + 'static {
    /// Response to the caller; stored with the idempotency key.
    type Answer: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Decides the command. `this` is `None` until the aggregate exists; until then, every command that does not create
    /// the aggregate is rejected with [`Refusal::not_found`].
    fn decide(&self, this: Option<&T>, id: Id, cx: &DecisionContext<'_>) -> DecisionResult<T, Self::Answer>;
    /// Returns the act recorded for the command in the audit log (`order.cancel`).
    fn audited_act(&self) -> AuditedAct;
    /// Returns the subject for the audit log if it is part of the aggregate (such as a staff member) rather than the
    /// aggregate itself.
    fn subject(&self, answer: &Self::Answer) -> Option<(&'static str, Id)> {
        let _ = answer;
        None
    }
    /// Returns the audit log facts about the outcome of a decided command.
    fn audit_facts(&self) -> AuditFacts {
        AuditFacts::done()
    }
    /// Returns the version that the caller read (`If-Match`); the actor rejects the command if the current version
    /// differs.
    fn if_version(&self) -> Option<i64> {
        None
    }
}

/// Response that only confirms that the command took effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Confirmation {
    /// The command took effect, now or earlier.
    Done,
}

/// Facts recorded about a command in the audit log, in addition to the principal and the command itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditFacts {
    /// Outcome of the command: `done` or an error code.
    pub outcome: String,
    /// Further facts as JSON.
    pub detail: Option<String>,
}

impl AuditFacts {
    /// Returns the facts for a command that was carried out, without further detail.
    pub fn done() -> Self {
        Self { outcome: "done".to_owned(), detail: None }
    }
}

/// State of an aggregate as stored, with its version.
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

    /// Returns the state; `None` if nothing is stored yet or the aggregate is archived.
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
