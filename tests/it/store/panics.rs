//! Crashes in the middle of a transaction: the writer continues.

use std::sync::atomic::Ordering::Relaxed;

use printfloor::domain::aggregate::Aggregate;
use printfloor::domain::id::Id;
use printfloor::store::{AggregateKey, Settlement, Unavailable};

use super::rig::Rig;
use super::submit::{gate, submit, tally};
use super::tally::Tally;
use crate::support::database::{TestDatabase, on_both_databases, until};

on_both_databases!(
    a_crashed_transaction_does_not_hold_the_writer,
    a_crashed_writer_lets_its_transaction_end_before_the_next_begins,
);

async fn a_crashed_transaction_does_not_hold_the_writer(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    rig.store.load::<Tally>(AggregateKey(Tally::KIND, Id::ONLY), 1, |_| panic!("asked to crash"));
    let id = rig.environment.id();
    until("a commit after the crash", async || {
        submit(&rig, tally(&rig, id, "a", 1, 1)).await.unwrap() == Settlement::Durable
    })
    .await;
    assert_eq!(rig.stored(&[id]).await, 1);
    assert_eq!(rig.fenced.load(Relaxed), 0);
}

/// Checks the order of transactions around a crash: otherwise the successor's epoch would fence off the predecessor,
/// and the process would exit.
async fn a_crashed_writer_lets_its_transaction_end_before_the_next_begins(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let epoch = database.number("SELECT epoch FROM writer").await;
    let gate = gate(&rig).await;
    let (a, b) = (rig.environment.id(), rig.environment.id());
    let before = submit(&rig, tally(&rig, a, "a", 1, 1));
    rig.writer_crashes();
    assert_eq!(before.await.unwrap(), Settlement::NotDurable(Unavailable::Database));
    for _ in 0..10 {
        let settled = submit(&rig, tally(&rig, b, "b", 1, 1)).await.unwrap();
        assert_eq!(settled, Settlement::NotDurable(Unavailable::Database));
        assert_eq!(database.number("SELECT epoch FROM writer").await, epoch);
    }
    drop(gate);
    until("a commit after the crash", async || {
        submit(&rig, tally(&rig, b, "b", 1, 1)).await.unwrap() == Settlement::Durable
    })
    .await;
    assert_eq!(rig.stored(&[a, b]).await, 1);
    assert_eq!(rig.fenced.load(Relaxed), 0);
}
