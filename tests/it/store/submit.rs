//! Hand-made submissions, and a gate that blocks the store so that several submissions become one transaction.

use std::sync::mpsc;

use printfloor::actors::kernel::environment::Environment;
use printfloor::domain::aggregate::Aggregate;
use printfloor::domain::id::Id;
use printfloor::domain::material::MaterialRow;
use printfloor::domain::principal::Principal;
use printfloor::domain::time::Timestamp;
use printfloor::store::rows::{IdempotentAnswer, Snapshot};
use printfloor::store::{AggregateKey, CommandWrites, CommitOwner, Settlement, Store, Submission};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::rig::Rig;
use super::tally::{Tally, event, movement};

/// A store under test, with the environment for decisions.
pub trait Subject {
    fn store(&self) -> &Store;
    fn environment(&self) -> &Environment;
}

impl Subject for Rig {
    fn store(&self) -> &Store {
        &self.store
    }
    fn environment(&self) -> &Environment {
        &self.environment
    }
}

/// Returns a submission for a tally with this code and version, with `groups` commands that count one each.
pub fn tally(rig: &impl Subject, id: Id, code: &str, version: i64, groups: usize) -> Submission {
    let state = Tally { id, code: code.to_owned(), count: groups as i64 };
    let snapshot = Some(state.snapshot(id, version, true).unwrap());
    let groups = (0..groups).map(|_| counting(rig, id)).collect();
    Submission { key: AggregateKey(Tally::KIND, id), generation: 1, snapshot, commands: groups }
}

/// Returns the rows and events that a command that counts one writes in addition to the snapshot.
pub fn counting(rig: &impl Subject, id: Id) -> CommandWrites {
    let cx = rig.environment().cx(&Principal::System);
    let row = MaterialRow::Movement(movement(&cx, id, 1, 1));
    CommandWrites { rows: vec![Box::new(row)], events: vec![event(&cx, id, 1)], ..CommandWrites::default() }
}

/// Returns a clock that stands still, so that the time for a deletion of old rows does not run out.
pub fn clock_at_rest() -> impl Fn() -> Instant + Send + Sync + 'static {
    let now = Instant::now();
    move || now
}

/// Returns an answer stored under this idempotency key.
pub fn keyed_answer(id: Id, key: &str) -> IdempotentAnswer {
    IdempotentAnswer {
        key: key.to_owned(),
        body_hash: "hash".to_owned(),
        kind: Tally::KIND.to_owned(),
        aggregate_id: id,
        version: 1,
        answer: "{\"Ok\":1}".to_owned(),
        created_at: Timestamp(0),
        expires_at: Timestamp(i64::MAX),
    }
}

/// Queues it.
pub fn submit(rig: &impl Subject, submission: Submission) -> oneshot::Receiver<Settlement> {
    let (tell, receiver) = oneshot::channel();
    rig.store().commit(submission, CommitOwner::new(move |settlement| drop(tell.send(settlement))));
    receiver
}

/// Guard that keeps the writer busy until it is dropped; submissions queued meanwhile become one transaction.
pub struct Gate(#[expect(dead_code, reason = "dropping it opens the gate")] mpsc::Sender<()>);

pub async fn gate(rig: &impl Subject) -> Gate {
    let (open, opened) = mpsc::channel();
    let (reached, here) = oneshot::channel();
    rig.store().load::<Tally>(AggregateKey(Tally::KIND, Id::ONLY), 1, move |_| {
        let _ = reached.send(());
        let _ = opened.recv();
    });
    here.await.unwrap();
    Gate(open)
}

/// Submits everything in one transaction, and returns the settlements in the same order.
pub async fn together(rig: &impl Subject, submissions: Vec<Submission>) -> Vec<Settlement> {
    let gate = gate(rig).await;
    let receivers: Vec<_> = submissions.into_iter().map(|submission| submit(rig, submission)).collect();
    drop(gate);
    let mut settled = Vec::new();
    for receiver in receivers {
        settled.push(receiver.await.unwrap());
    }
    settled
}
