//! Submissions made by hand, and a gate that holds the writer so that many come into one transaction.

use super::rig::Rig;
use super::tally::{Tally, event, movement};
use printfloor::domain::aggregate::Aggregate;
use printfloor::domain::id::Id;
use printfloor::domain::material::MaterialRow;
use printfloor::domain::principal::Principal;
use printfloor::domain::time::Timestamp;
use printfloor::store::rows::{Idempotency, Snapshot};
use printfloor::store::{Group, Key, Owner, Settlement, Submission};
use std::sync::mpsc;
use tokio::sync::oneshot;

/// A tally with this code at this version, each group counting one.
pub fn tally(rig: &Rig, id: Id, code: &str, version: i64, groups: usize) -> Submission {
    let state = Tally { id, code: code.to_owned(), count: groups as i64 };
    let snapshot = Some(state.snapshot(id, version, true).unwrap());
    let groups = (0..groups).map(|_| counting(rig, id)).collect();
    Submission { key: Key(Tally::KIND, id), generation: 1, snapshot, groups }
}

/// What a command that counts one writes besides the snapshot.
pub fn counting(rig: &Rig, id: Id) -> Group {
    let cx = rig.environment.cx(&Principal::System);
    let row = MaterialRow::Movement(movement(&cx, id, 1, 1));
    Group { rows: vec![Box::new(row)], events: vec![event(&cx, id, 1)], ..Group::default() }
}

/// An answer kept under this key.
pub fn kept(id: Id, key: &str) -> Idempotency {
    Idempotency {
        key: key.to_owned(),
        body_hash: "hash".to_owned(),
        kind: Tally::KIND.to_owned(),
        thing_id: id,
        version: 1,
        answer: "{\"Ok\":1}".to_owned(),
        created_at: Timestamp(0),
        expires_at: Timestamp(i64::MAX),
    }
}

/// Queues it.
pub fn submit(rig: &Rig, submission: Submission) -> oneshot::Receiver<Settlement> {
    let (tell, told) = oneshot::channel();
    rig.store.commit(submission, Owner::new(move |settlement| drop(tell.send(settlement))));
    told
}

/// The writer is at work until this is dropped; what is queued meanwhile is one transaction.
pub struct Gate(#[expect(dead_code, reason = "dropping it opens the gate")] mpsc::Sender<()>);

pub async fn gate(rig: &Rig) -> Gate {
    let (open, opened) = mpsc::channel();
    let (reached, here) = oneshot::channel();
    rig.store.load::<Tally>(Key(Tally::KIND, Id::ONLY), 1, move |_| {
        let _ = reached.send(());
        let _ = opened.recv();
    });
    here.await.unwrap();
    Gate(open)
}

/// Everything in one transaction, and what became of each.
pub async fn together(rig: &Rig, submissions: Vec<Submission>) -> Vec<Settlement> {
    let gate = gate(rig).await;
    let told: Vec<_> = submissions.into_iter().map(|submission| submit(rig, submission)).collect();
    drop(gate);
    let mut settled = Vec::new();
    for told in told {
        settled.push(told.await.unwrap());
    }
    settled
}
