//! Loss of the connection to PostgreSQL at the worst possible times.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use printfloor::actors::kernel::directory::{ASK_TIMEOUT, Directory};
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::handle::AskError;
use printfloor::actors::kernel::restart_policy::RestartPolicy;
use printfloor::domain::id::Id;
use printfloor::store::Unavailable;

use crate::store::proxy::{Proxy, Wire};
use crate::store::rig::Rig;
use crate::store::tally::{Do, Tally};
use crate::support::database::{TestDatabase, on_migrated_postgres, until};

/// Starts a rig that reaches the database only through the proxy, with this many tallies.
async fn through(database: &TestDatabase, many: usize) -> (Rig, Proxy, Arc<Directory<Tally>>, Vec<Id>) {
    let proxy = Proxy::to(database.address()).await;
    let mut rig = Rig::start(&database.through(proxy.port)).await;
    rig.database = database.clone();
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, many).await;
    for id in &ids {
        tallies.ask(*id, CommandOrigin::system(), Do::Add(1)).await.unwrap();
    }
    (rig, proxy, tallies, ids)
}

async fn back(tallies: &Directory<Tally>, id: Id) {
    until("it is back by itself", async || tallies.ask(id, CommandOrigin::system(), Do::Add(1)).await.is_ok()).await;
}

fn nobody_crashed(tallies: &Directory<Tally>) {
    for line in tallies.observe() {
        assert_eq!((line.restarts, line.generation, line.status), (0, 1, "running"), "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_told_by_the_disk() {
    on_migrated_postgres(|database| async move {
        let (rig, proxy, tallies, ids) = through(&database, 1).await;
        for round in 0..5 {
            proxy.is(Wire::CutAfterCommit);
            let answer = tallies.ask(ids[0], CommandOrigin::system(), Do::Add(1)).await;
            assert_eq!(answer.unwrap().answer, 2 * round + 2, "it is on disk, so it is done");
            assert_eq!(proxy.wire(), Wire::Whole, "the wire was cut");
            back(&tallies, ids[0]).await;
        }
        assert_eq!(rig.stored(&ids).await, 11);
        nobody_crashed(&tallies);
        assert_eq!(rig.fenced.load(Relaxed), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_did_not_arrive_did_not_happen() {
    on_migrated_postgres(|database| async move {
        let (rig, proxy, tallies, ids) = through(&database, 1).await;
        proxy.is(Wire::CutBeforeCommit);
        let answer = tallies.ask(ids[0], CommandOrigin::system(), Do::Add(1)).await;
        assert!(matches!(answer, Err(AskError::Unavailable(Unavailable::Database))), "{answer:?}");
        assert_eq!(proxy.wire(), Wire::Whole, "the wire was cut");
        back(&tallies, ids[0]).await;
        assert_eq!(rig.stored(&ids).await, 2);
        nobody_crashed(&tallies);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cuts_under_load_lose_nothing_acknowledged() {
    cut_under_load(40).await;
}

mod long {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn cuts_under_load_lose_nothing_acknowledged() {
        super::cut_under_load(100).await;
    }
}

/// Cuts the connection again and again while callers add `each` times each.
async fn cut_under_load(each: i64) {
    on_migrated_postgres(|database| async move {
        let (rig, proxy, tallies, ids) = through(&database, 8).await;
        let callers: Vec<_> = (0..32)
            .map(|n| {
                let (tallies, id) = (tallies.clone(), ids[n % 8]);
                tokio::spawn(async move {
                    let (mut done, mut turned_away) = (1, 0);
                    while done < each {
                        match tallies.ask(id, CommandOrigin::system(), Do::Add(1)).await {
                            Ok(_) => done += 1,
                            Err(AskError::Unavailable(_)) => {
                                turned_away += 1;
                                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                            }
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                    (done - 1, turned_away)
                })
            })
            .collect();
        let counters = rig.counters.clone();
        let cuts = tokio::spawn(async move {
            let mut cuts = 0;
            loop {
                let commits = counters.commits.load(Relaxed);
                until("commits go on", async || counters.commits.load(Relaxed) > commits + 10).await;
                proxy.is(if cuts % 2 == 0 { Wire::CutAfterCommit } else { Wire::CutBeforeCommit });
                until("the wire was cut", async || proxy.wire() == Wire::Whole).await;
                cuts += 1;
                eprintln!("cut {cuts}");
            }
        });
        let (mut done, mut turned_away) = (0, 0);
        for caller in callers {
            let counts = caller.await.unwrap();
            (done, turned_away) = (done + counts.0, turned_away + counts.1);
        }
        cuts.abort();
        assert_eq!(rig.stored(&ids).await, done + 8, "nobody was left in doubt, {turned_away} were turned away");
        nobody_crashed(&tallies);
        assert_eq!(rig.fenced.load(Relaxed), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_database_away_reads_go_on_and_writes_are_refused_at_once() {
    on_migrated_postgres(|database| async move {
        let (rig, proxy, tallies, ids) = through(&database, 3).await;
        proxy.is(Wire::Cut);
        until("it is noticed", async || {
            let answer = tallies.ask(ids[0], CommandOrigin::system(), Do::Add(1)).await;
            assert!(matches!(answer, Err(AskError::Unavailable(Unavailable::Database))), "{answer:?}");
            rig.counters.unavailable() == Some(Unavailable::Database)
        })
        .await;
        for id in &ids {
            let began = Instant::now();
            let answer = tallies.ask(*id, CommandOrigin::system(), Do::Add(1)).await;
            assert!(matches!(answer, Err(AskError::Unavailable(Unavailable::Database))), "{answer:?}");
            assert!(began.elapsed() < ASK_TIMEOUT / 5, "{:?}", began.elapsed());
            assert_eq!(tallies.read(*id).await.unwrap().unwrap().state.as_ref().unwrap().count, 1);
        }
        proxy.is(Wire::Whole);
        back(&tallies, ids[0]).await;
        // Readers meet no dead connection of the pool.
        for _ in 0..20 {
            assert_eq!(rig.on_disk(ids[1]).await.state.unwrap().count, 1);
        }
        assert_eq!(rig.counters.unavailable(), None);
        assert_eq!(rig.stored(&ids).await, 4);
        nobody_crashed(&tallies);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_says_nothing_is_away_before_callers_give_up() {
    on_migrated_postgres(|database| async move {
        let (rig, proxy, tallies, ids) = through(&database, 2).await;
        proxy.is(Wire::Silent);
        let answer = tallies.ask(ids[0], CommandOrigin::system(), Do::Add(1)).await;
        assert!(matches!(answer, Err(AskError::Unavailable(Unavailable::Database))), "{answer:?}");
        let began = Instant::now();
        let answer = tallies.ask(ids[1], CommandOrigin::system(), Do::Add(1)).await;
        assert!(matches!(answer, Err(AskError::Unavailable(Unavailable::Database))), "{answer:?}");
        assert!(began.elapsed() < ASK_TIMEOUT / 5, "from now on at once: {:?}", began.elapsed());
        proxy.is(Wire::Cut);
        proxy.is(Wire::Whole);
        back(&tallies, ids[0]).await;
        assert_eq!(rig.stored(&ids).await, 3);
        nobody_crashed(&tallies);
        assert_eq!(rig.fenced.load(Relaxed), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_ended_by_the_server_are_opened_again() {
    on_migrated_postgres(|database| async move {
        let rig = Rig::start(&database).await;
        let tallies = rig.tallies(RestartPolicy::default()).await;
        let ids = rig.make(&tallies, 2).await;
        for round in 1..=3 {
            let ended = database
                .number(
                    "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
                     WHERE datname = current_database() AND pid <> pg_backend_pid()",
                )
                .await;
            assert!(ended >= 2, "the writer's and the readers': {ended}");
            back(&tallies, ids[0]).await;
            assert_eq!(rig.on_disk(ids[0]).await.state.unwrap().count, round);
        }
        assert_eq!(rig.stored(&ids).await, 3);
        nobody_crashed(&tallies);
    })
    .await;
}
