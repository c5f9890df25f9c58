//! Tests of the directory's view of its aggregates, and of crashes and the shutdown.

use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use crate::directory::AnyDirectory;

/// Waits until a condition holds.
async fn wait_until(condition: impl Fn() -> bool) {
    let waits = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(ASK_TIMEOUT, waits).await.unwrap();
}

#[tokio::test]
async fn a_directory_finds_what_exists_and_creates_nothing() {
    let rig = Rig::new(10).await;
    let directory = &rig.directory;
    assert!(directory.find(id(2)).await.unwrap().is_none() && directory.resident(id(2)).is_none());
    assert!(directory.read(id(2)).await.unwrap().is_none() && directory.present(id(2)).await.unwrap().is_none());
    let handle = directory.find(id(1)).await.unwrap().unwrap();
    assert_eq!((handle.id(), handle.is_parked(), handle.read().version), (id(1), false, 1));
    for state in [directory.read(id(1)).await.unwrap(), directory.present(id(1)).await.unwrap()] {
        assert_eq!(state.unwrap().state.as_ref().map(|state| state.cursor), Some(5));
    }
    assert_eq!((directory.count(), directory.kind()), (1, "integration"));
    assert_eq!(directory.all_resident().iter().map(|(id, _)| *id).collect::<Vec<_>>(), [id(1)]);
    assert_eq!(directory.all_present().len(), 1);
    let origin = CommandOrigin::system();
    let unknown = directory.ask(id(2), origin.clone(), IntegrationCommand::Read(9)).await.unwrap_err();
    assert_eq!(unknown.to_string(), "no such integration");
    assert_eq!(directory.ask(id(1), origin.clone(), IntegrationCommand::Read(9)).await.unwrap().answer, 9);
    // An aggregate whose creation was refused has an actor, but does not exist.
    assert!(directory.create_as(id(3), origin, IntegrationCommand::Read(9)).await.is_err());
    assert_eq!((directory.count(), directory.all_resident().len(), directory.all_present().len()), (2, 1, 1));
    assert!(directory.find(id(3)).await.unwrap().is_none() && directory.read(id(3)).await.unwrap().is_none());
    let summary = directory.summary();
    assert_eq!((summary.kind, summary.statuses), ("integration", BTreeMap::from([("running", 2)])));
    let observed: Vec<_> = directory.observe().iter().map(|one| (one.id, one.status, one.generation)).collect();
    assert_eq!(observed, [(id(1), "running", 1), (id(3), "running", 1)]);
}

#[tokio::test]
async fn too_many_commands_are_refused_and_counted() {
    let rig = Rig::new(1).await;
    let (one, two) = tokio::join!(rig.read(11), rig.read(12));
    let overloaded = "too many commands are queued; try again shortly".to_owned();
    assert_eq!((one, two), (Ok((11, 2)), Err(overloaded)));
    let summary = rig.directory.summary();
    assert_eq!((summary.overloaded, summary.waiting, summary.crashes), (1, 0, 0));
    assert_eq!(rig.read(12).await, Ok((12, 3)), "there is room again");
}

#[tokio::test]
async fn a_command_outlives_crashes_of_the_actor_and_of_the_supervisor() {
    let rig = Rig::new(10).await;
    rig.directory.crash(id(1));
    assert_eq!(rig.read(11).await, Ok((11, 2)));
    let observed = rig.directory.observe().remove(0);
    assert_eq!((observed.status, observed.generation, observed.restarts, observed.waiting), ("running", 2, 1, 0));
    assert_eq!(rig.directory.summary().crashes, 1);
    assert!(observed.last_error.is_some_and(|error| error.contains("crash requested by a test")));
    let health = || rig.health.all().remove("integration").unwrap_or_default();
    assert_eq!((health().up, health().crashes, health().last_error), (true, 0, None));
    rig.directory.crash_supervisor();
    wait_until(|| health().crashes == 1).await;
    assert!(health().last_error.is_some_and(|error| error.contains("crash requested by a test")));
    assert_eq!(rig.read(12).await, Ok((12, 3)));
    wait_until(|| health().up).await;
}

#[tokio::test]
async fn a_kind_that_is_closed_finishes_what_it_accepted_and_accepts_nothing_more() {
    let rig = Rig::new(10).await;
    let (last, ()) = tokio::join!(rig.read(11), rig.directory.close(Duration::from_secs(10)));
    assert_eq!(last, Ok((11, 2)));
    assert_eq!(rig.read(12).await, Err("the server is shutting down".to_owned()));
    assert_eq!(rig.directory.summary().statuses, BTreeMap::from([("closed", 1)]));
}

#[tokio::test]
async fn an_actor_that_crashes_too_often_is_parked() {
    let rig = Rig::new(10).await;
    for crashes in 1..=6 {
        rig.directory.crash(id(1));
        let (upto, version) = (10 + crashes, 1 + crashes);
        let parked = "out of service after repeated faults".to_owned();
        assert_eq!(rig.read(upto).await, if crashes <= 5 { Ok((upto, version)) } else { Err(parked) });
    }
    assert!(rig.directory.resident(id(1)).unwrap().is_parked());
    let summary = rig.directory.summary();
    assert_eq!((summary.statuses, summary.crashes), (BTreeMap::from([("parked", 1)]), 6));
}

#[tokio::test]
async fn an_aggregate_at_rest_is_unloaded_and_comes_back_with_the_next_command() {
    let policy = RestartPolicy { rest_after: Duration::from_millis(10), ..RestartPolicy::default() };
    let rig = Rig::with_policy(policy, 10).await;
    wait_until(|| rig.directory.count() == 0).await;
    assert_eq!(rig.read(11).await, Ok((11, 2)));
    let handle = rig.directory.resident(id(1)).unwrap();
    wait_until(|| rig.directory.summary().statuses == BTreeMap::from([("resting", 1)])).await;
    assert_eq!(handle.read().version, 2, "it can be read without an actor");
    let answered = handle.ask(CommandOrigin::system(), IntegrationCommand::Read(12), ASK_TIMEOUT).await.unwrap();
    assert_eq!((answered.answer, answered.version), (12, 3));
    drop(handle);
    wait_until(|| rig.directory.count() == 0).await;
}
