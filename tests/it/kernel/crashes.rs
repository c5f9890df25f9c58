//! Responses to callers when actors crash.

use std::time::Duration;

use printfloor::actors::kernel::directory::{ASK_TIMEOUT, Directory};
use printfloor::actors::kernel::entry::ActorSummary;
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::handle::AskError;
use printfloor::actors::kernel::restart_policy::RestartPolicy;
use printfloor::domain::id::Id;

use crate::store::rig::{Rig, patient};
use crate::store::submit::gate;
use crate::store::tally::{Do, Tally, curse};
use crate::support::database::{TestDatabase, on_both_databases, until};

on_both_databases!(
    poison_hears_so_and_its_neighbours_do_not_notice,
    what_was_being_written_is_unknown_and_the_successor_starts_from_it,
    whoever_was_admitted_stays_admitted_through_crashes,
    an_actor_that_crashes_too_often_is_parked_and_its_sibling_does_not_notice,
    after_a_crash_of_the_supervisor_callers_only_wait,
    a_supervisor_that_crashes_loses_nobody_who_asks,
);

pub fn observed(tallies: &Directory<Tally>, id: Id) -> ActorSummary {
    tallies.observe().into_iter().find(|line| line.id == id).unwrap()
}

async fn poison_hears_so_and_its_neighbours_do_not_notice(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(patient()).await;
    let id = rig.make(&tallies, 1).await[0];
    let handle = tallies.resident(id).unwrap();
    let gate = gate(&rig).await;
    let asks: Vec<_> = (0..60)
        .map(|n| {
            let (handle, command) = (handle.clone(), if n % 20 == 10 { Do::Poison } else { Do::Add(1) });
            tokio::spawn(async move { handle.ask(CommandOrigin::system(), command, ASK_TIMEOUT).await })
        })
        .collect();
    until("all wait", async || observed(&tallies, id).waiting == 60).await;
    drop(gate);
    for (n, ask) in asks.into_iter().enumerate() {
        match (n % 20, ask.await.unwrap()) {
            (10, Err(AskError::Poison)) => {}
            (other, Ok(_)) if other != 10 => {}
            (_, answer) => panic!("{n}: {answer:?}"),
        }
    }
    assert_eq!(observed(&tallies, id).restarts, 3);
    assert_eq!(rig.stored(&[id]).await, 57);
    assert_eq!(handle.read().state.as_ref().unwrap().count, 57);
}

async fn what_was_being_written_is_unknown_and_the_successor_starts_from_it(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(patient()).await;
    let id = rig.make(&tallies, 1).await[0];
    let handle = tallies.resident(id).unwrap();
    let gate = gate(&rig).await;
    let flying = {
        let handle = handle.clone();
        tokio::spawn(async move { handle.ask(CommandOrigin::system(), Do::Add(10), ASK_TIMEOUT).await })
    };
    until("it is on its way", async || observed(&tallies, id).waiting == 1).await;
    tallies.crash(id);
    drop(gate);
    assert!(matches!(flying.await.unwrap(), Err(AskError::Unknown)));
    // Whoever finds out by the key that it was written, reads it, too.
    assert_eq!(handle.read().state.as_ref().unwrap().count, 10);
    assert_eq!(handle.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await.unwrap().answer, 11);
    assert_eq!(observed(&tallies, id).restarts, 1);
}

async fn whoever_was_admitted_stays_admitted_through_crashes(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.crowded_tallies(patient(), 16).await;
    let id = rig.make(&tallies, 1).await[0];
    // As many callers as may wait: each asks again the moment it was answered.
    let callers: Vec<_> = (0..16)
        .map(|caller| {
            let (handle, tallies) = (tallies.resident(id).unwrap(), tallies.clone());
            tokio::spawn(async move {
                let mut unknown = 0;
                for n in 0..100 {
                    if n % 25 == caller {
                        tallies.crash(id);
                    }
                    match handle.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await {
                        Ok(_) => {}
                        Err(AskError::Unknown) => unknown += 1,
                        Err(other) => panic!("{other:?}"),
                    }
                }
                unknown
            })
        })
        .collect();
    let mut unknown = 0;
    for caller in callers {
        unknown += caller.await.unwrap();
    }
    tallies.ask(id, CommandOrigin::system(), Do::Look).await.unwrap();
    let stored = rig.stored(&[id]).await;
    assert!(1600 - unknown <= stored && stored <= 1600, "{stored} stored, {unknown} unknown");
    assert!(observed(&tallies, id).restarts > 0);
    assert_eq!(observed(&tallies, id).waiting, 0);
}

async fn an_actor_that_crashes_too_often_is_parked_and_its_sibling_does_not_notice(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let policy = RestartPolicy { max_crashes: 3, probe: Duration::from_millis(300), ..RestartPolicy::default() };
    let tallies = rig.tallies(policy).await;
    let ids = rig.make(&tallies, 2).await;
    let (bad, good) = (tallies.resident(ids[0]).unwrap(), tallies.resident(ids[1]).unwrap());
    let worker = tokio::spawn(async move {
        for n in 1..=200 {
            assert_eq!(good.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await.unwrap().answer, n);
        }
    });
    curse(ids[0], true);
    tallies.crash(ids[0]);
    until("it is parked", async || observed(&tallies, ids[0]).status == "parked").await;
    let line = observed(&tallies, ids[0]);
    assert!(line.restarts > 3 && line.last_error.as_deref().is_some_and(|why| why.contains("cursed")), "{line:?}");
    // Parked again and again as long as it crashes, and told at once.
    until("it is probed", async || observed(&tallies, ids[0]).restarts > line.restarts).await;
    until("it is parked again", async || observed(&tallies, ids[0]).status == "parked").await;
    // A probe may begin before the question.
    until("it says that it is parked", async || {
        matches!(bad.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await, Err(AskError::Parked))
    })
    .await;
    curse(ids[0], false);
    until("a probe brings it back", async || bad.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await.is_ok())
        .await;
    worker.await.unwrap();
    let sibling = observed(&tallies, ids[1]);
    assert_eq!((sibling.restarts, sibling.generation), (0, 1));
    assert_eq!(rig.stored(&ids).await, 201);
}

async fn after_a_crash_of_the_supervisor_callers_only_wait(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 8).await;
    let callers: Vec<_> = (0..32)
        .map(|n| {
            let handle = tallies.resident(ids[n % 8]).unwrap();
            tokio::spawn(async move {
                let (mut done, mut unknown) = (0, 0);
                for _ in 0..100 {
                    match handle.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await {
                        Ok(_) => done += 1,
                        Err(AskError::Unknown) => unknown += 1,
                        Err(other) => panic!("{other:?}"),
                    }
                }
                (done, unknown)
            })
        })
        .collect();
    for crash in 1..=3 {
        let before = observed(&tallies, ids[0]).generation;
        tallies.crash_supervisor();
        until("the children are back", async || {
            tallies.observe().iter().all(|line| line.status == "running" && line.generation > before)
        })
        .await;
        assert!(before >= crash);
    }
    let (mut done, mut unknown) = (0, 0);
    for caller in callers {
        let counts = caller.await.unwrap();
        (done, unknown) = (done + counts.0, unknown + counts.1);
    }
    let stored = rig.stored(&ids).await;
    assert!(done <= stored && stored <= done + unknown, "{done} done, {unknown} unknown, {stored} stored");
    assert_eq!(done + unknown, 3200);
    assert!(tallies.observe().iter().all(|line| line.restarts == 0), "none of its children crashed");
}

/// Checks that a crash of the supervisor, which wakes and creates actors, loses no command.
async fn a_supervisor_that_crashes_loses_nobody_who_asks(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy { rest_after: Duration::from_millis(1), ..RestartPolicy::default() }).await;
    let ids = rig.make(&tallies, 4).await;
    let callers: Vec<_> = (0..8)
        .map(|n| {
            let (tallies, id) = (tallies.clone(), ids[n % 4]);
            tokio::spawn(async move {
                let (mut done, mut unknown, mut creations) = (0, 0, 0);
                for _ in 0..40 {
                    match tallies.ask(id, CommandOrigin::system(), Do::Add(1)).await {
                        Ok(_) => done += 1,
                        Err(AskError::Unknown) => unknown += 1,
                        Err(other) => panic!("{other:?}"),
                    }
                    match tallies.create(CommandOrigin::system(), Do::Make).await {
                        Ok(_) => creations += 1,
                        Err(AskError::Unknown) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
                (done, unknown, creations)
            })
        })
        .collect();
    for crash in 1..=5 {
        let reached = crash * 30;
        until("tallies are made", async || database.number("SELECT COUNT(*) FROM skus").await > reached).await;
        tallies.crash_supervisor();
    }
    let (mut done, mut unknown, mut creations) = (0, 0, 0);
    for caller in callers {
        let counts = caller.await.unwrap();
        (done, unknown, creations) = (done + counts.0, unknown + counts.1, creations + counts.2);
    }
    until("all are at rest", async || tallies.count() == 0).await;
    let stored = rig.stored(&ids).await;
    assert!(done <= stored && stored <= done + unknown, "{done} done, {unknown} unknown, {stored} stored");
    let on_disk = database.number("SELECT COUNT(*) FROM skus").await;
    assert!(on_disk >= creations + 4, "{on_disk} on disk, {creations} made");
}
