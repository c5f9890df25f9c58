//! Settlement of several commits in one transaction: only the faulty one is rejected.

use std::sync::atomic::Ordering::Relaxed;

use printfloor::domain::aggregate::Aggregate;
use printfloor::store::reader::Reader;
use printfloor::store::{AggregateKey, CommandWrites, Settlement, Submission};

use super::rig::Rig;
use super::submit::{counting, keyed_answer, submit, tally, together};
use super::tally::Tally;
use crate::support::database::{TestDatabase, on_both_databases};

on_both_databases!(
    all_that_waits_is_one_transaction,
    a_taken_code_refuses_only_its_owner,
    a_used_key_names_its_command,
    a_head_that_several_commands_shaped_names_none,
    a_version_changed_behind_our_back_supersedes_only_its_owner,
    a_predecessors_late_commit_is_superseded,
    a_load_sees_what_was_queued_before_it,
    a_value_that_is_refused_is_its_own_commits_fault,
);

async fn all_that_waits_is_one_transaction(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let ids: Vec<_> = (0..300).map(|_| rig.environment.id()).collect();
    let all = ids.iter().map(|id| tally(&rig, *id, &id.to_string(), 1, 3)).collect();
    let settled = together(&rig, all).await;
    assert!(settled.iter().all(|s| *s == Settlement::Durable), "{settled:?}");
    assert_eq!(rig.counters.transactions.load(Relaxed), 1);
    assert_eq!(rig.counters.commits.load(Relaxed), 300);
    assert_eq!(rig.stored(&ids).await, 900);
}

/// Commits a text with a NUL character, which PostgreSQL rejects and SQLite accepts.
async fn a_value_that_is_refused_is_its_own_commits_fault(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let ids: Vec<_> = (0..3).map(|_| rig.environment.id()).collect();
    let all = ids.iter().zip(["a", "b\0", "c"]).map(|(id, code)| tally(&rig, *id, code, 1, 1)).collect();
    let settled = together(&rig, all).await;
    let refused = if database.is_postgres() { Settlement::BadValue { at: Some(0) } } else { Settlement::Durable };
    assert_eq!(settled, [Settlement::Durable, refused, Settlement::Durable]);
    assert_eq!(rig.counters.unavailable(), None, "the database is there");
    assert_eq!(rig.stored(&ids).await, if database.is_postgres() { 2 } else { 3 });
}

async fn a_taken_code_refuses_only_its_owner(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let [a, b, c] = [(); 3].map(|()| rig.environment.id());
    let all = vec![tally(&rig, a, "same", 1, 2), tally(&rig, b, "same", 1, 1), tally(&rig, c, "other", 1, 2)];
    let settled = together(&rig, all).await;
    let clash = Settlement::Clash { at: Some(0), constraint: "skus.code".to_owned() };
    assert_eq!(settled, [Settlement::Durable, clash, Settlement::Durable]);
    assert_eq!(rig.stored(&[a, b, c]).await, 4);
}

async fn a_used_key_names_its_command(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let [a, b] = [(); 2].map(|()| rig.environment.id());
    let mut first = tally(&rig, a, "a", 1, 1);
    first.commands[0].idempotent_answer = Some(keyed_answer(a, "key"));
    assert_eq!(submit(&rig, first).await.unwrap(), Settlement::Durable);
    let mut second = tally(&rig, a, "a", 2, 4);
    second.commands[0].idempotent_answer = Some(keyed_answer(a, "fresh"));
    second.commands[2].idempotent_answer = Some(keyed_answer(a, "key"));
    let settled = together(&rig, vec![second, tally(&rig, b, "b", 1, 1)]).await;
    let clash = Settlement::Clash { at: Some(2), constraint: "idempotency.key".to_owned() };
    assert_eq!(settled, [clash, Settlement::Durable]);
    assert_eq!(rig.stored(&[a, b]).await, 2);
    assert_eq!(database.number("SELECT COUNT(*) FROM idempotency").await, 1);
}

async fn a_head_that_several_commands_shaped_names_none(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let [a, b] = [(); 2].map(|()| rig.environment.id());
    let settled = together(&rig, vec![tally(&rig, a, "same", 1, 1), tally(&rig, b, "same", 1, 2)]).await;
    let clash = Settlement::Clash { at: None, constraint: "skus.code".to_owned() };
    assert_eq!(settled, [Settlement::Durable, clash]);
}

async fn a_version_changed_behind_our_back_supersedes_only_its_owner(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let ids: Vec<_> = (0..5).map(|_| rig.environment.id()).collect();
    let version = |version: i64, count: usize| {
        ids.iter().map(|id| tally(&rig, *id, &id.to_string(), version, count)).collect::<Vec<_>>()
    };
    together(&rig, version(1, 0)).await;
    database.execute(&format!("UPDATE skus SET version = 7 WHERE id = '{}'", ids[3])).await;
    let settled = together(&rig, version(2, 1)).await;
    for (at, settled) in settled.iter().enumerate() {
        let expected = if at == 3 { Settlement::Superseded } else { Settlement::Durable };
        assert_eq!(*settled, expected, "{at}");
    }
    assert_eq!(rig.stored(&ids).await, 4);
    assert_eq!(Reader::Database(rig.reading.clone()).load::<Tally>(ids[3]).await.unwrap().version, 7);
}

async fn a_predecessors_late_commit_is_superseded(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let id = rig.environment.id();
    assert_eq!(submit(&rig, tally(&rig, id, "a", 1, 1)).await.unwrap(), Settlement::Durable);
    let (loaded, state) = tokio::sync::oneshot::channel();
    rig.store.load::<Tally>(AggregateKey(Tally::KIND, id), 2, |answer| drop(loaded.send(answer.into_state())));
    assert_eq!(state.await.unwrap().unwrap().version, 1);
    let late = Submission { commands: vec![counting(&rig, id)], ..tally(&rig, id, "a", 2, 1) };
    assert_eq!(submit(&rig, late).await.unwrap(), Settlement::Superseded);
    assert_eq!(rig.stored(&[id]).await, 1);
}

async fn a_load_sees_what_was_queued_before_it(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let id = rig.environment.id();
    let gate = super::submit::gate(&rig).await;
    let first = submit(&rig, tally(&rig, id, "a", 1, 1));
    let refusal = Submission {
        snapshot: None,
        commands: vec![CommandWrites {
            idempotent_answer: Some(keyed_answer(id, "refused")),
            ..CommandWrites::default()
        }],
        ..tally(&rig, id, "a", 1, 0)
    };
    let refusal = submit(&rig, refusal);
    let (loaded, state) = tokio::sync::oneshot::channel();
    rig.store.load::<Tally>(AggregateKey(Tally::KIND, id), 2, |answer| drop(loaded.send(answer.into_state())));
    drop(gate);
    assert_eq!(state.await.unwrap().unwrap().version, 1);
    assert_eq!(first.await.unwrap(), Settlement::Durable);
    // A kept refusal is a commit of its key alone: it waits for no version.
    assert_eq!(refusal.await.unwrap(), Settlement::Durable);
}
