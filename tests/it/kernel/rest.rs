//! Aggregates at rest: they leave memory, and are loaded again when a caller needs them.

use std::time::Duration;

use printfloor::actors::kernel::directory::ASK_TIMEOUT;
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::restart_policy::RestartPolicy;

use crate::store::rig::Rig;
use crate::store::tally::Do;
use crate::support::database::{TestDatabase, on_both_databases, until};

on_both_databases!(
    every_command_arrives_once_however_often_it_goes_to_rest,
    a_handle_that_is_held_never_goes_stale,
    an_unknown_id_leaves_nothing_in_memory,
);

async fn every_command_arrives_once_however_often_it_goes_to_rest(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy { rest_after: Duration::from_millis(1), ..RestartPolicy::default() }).await;
    let ids = rig.make(&tallies, 3).await;
    let callers: Vec<_> = (0..16u64)
        .map(|caller| {
            let (tallies, id) = (tallies.clone(), ids[caller as usize % 3]);
            tokio::spawn(async move {
                let mut pause = caller;
                for _ in 0..60 {
                    tallies.ask(id, CommandOrigin::system(), Do::Add(1)).await.unwrap();
                    pause = (pause * 7 + 3) % 11;
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(rig.stored(&ids).await, 960);
    until("all are at rest", async || tallies.count() == 0).await;
    let versions: i64 = database.number("SELECT CAST(SUM(version) AS BIGINT) FROM skus").await;
    assert!(versions <= 960 + 3, "{versions}");
}

async fn a_handle_that_is_held_never_goes_stale(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy { rest_after: Duration::from_millis(1), ..RestartPolicy::default() }).await;
    let id = rig.make(&tallies, 1).await[0];
    let held = tallies.activate(id);
    for n in 1..=20 {
        until("it rests", async || tallies.observe().iter().all(|line| line.status == "resting")).await;
        // Through the directory, not through the handle.
        assert_eq!(tallies.ask(id, CommandOrigin::system(), Do::Add(1)).await.unwrap().answer, n * 2 - 1);
        assert_eq!(held.read().state.as_ref().unwrap().count, n * 2 - 1);
        assert_eq!(held.ask(CommandOrigin::system(), Do::Add(1), ASK_TIMEOUT).await.unwrap().answer, n * 2);
        assert_eq!(tallies.read(id).await.unwrap().unwrap().state.as_ref().unwrap().count, n * 2);
    }
    drop(held);
    until("nothing is in memory", async || tallies.count() == 0).await;
}

async fn an_unknown_id_leaves_nothing_in_memory(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    assert!(tallies.find(rig.environment.id()).await.unwrap().is_none());
    assert!(tallies.read(rig.environment.id()).await.unwrap().is_none());
    assert!(tallies.ask(rig.environment.id(), CommandOrigin::system(), Do::Look).await.is_err());
    assert_eq!(tallies.count(), 0);
}
