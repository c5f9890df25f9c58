//! Failover of a database with several hosts: nothing acknowledged is lost or done twice, a former primary is not
//! written to, and a setup that may lose changes is reported.

mod cluster;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use printfloor::actors::kernel::directory::Directory;
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::handle::AskError;
use printfloor::actors::kernel::restart_policy::RestartPolicy;
use printfloor::domain::id::Id;
use printfloor::store::connect;
use serde_json::json;

use self::cluster::Cluster;
use super::rig::Rig;
use super::takeover::END_SESSIONS;
use super::tally::{Do, Tally};
use crate::support::database::{TestDatabase, until};
use crate::support::{self, App, Db};

/// Number of tallies, each incremented by one caller.
const CALLERS: usize = 8;
/// Pause of a caller after a rejected command.
const PAUSE: Duration = Duration::from_millis(5);
/// SQL for the sum of all increments.
const LEDGER: &str = "SELECT CAST(COALESCE(SUM(delta_quantity), 0) AS BIGINT) FROM movements";
/// Start of the warning that commits wait for no replica.
const WARNING: &str = "the database replicates asynchronously";

/// Starts a rig on both hosts, with the given number of tallies.
async fn rig_on(cluster: &Cluster, many: usize) -> (Rig, Arc<Directory<Tally>>, Vec<Id>) {
    let rig = Rig::start(&TestDatabase::at(&cluster.address())).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, many).await;
    (rig, tallies, ids)
}

async fn add_one(tallies: &Directory<Tally>, id: Id) -> bool {
    tallies.ask(id, CommandOrigin::system(), Do::Add(1)).await.is_ok()
}

/// Waits until the count of a tally can be read; returns it.
async fn count_of(tallies: &Directory<Tally>, id: Id) -> i64 {
    support::until("the count of a tally", || async {
        tallies.ask(id, CommandOrigin::system(), Do::Look).await.ok().map(|answer| answer.answer)
    })
    .await
}

/// Adds one to a tally repeatedly. Returns how many additions were made, either acknowledged or found on disk after the
/// response was lost. Fails if the tally ever has another count.
async fn add_until(over: Arc<AtomicBool>, tallies: Arc<Directory<Tally>>, id: Id) -> i64 {
    let mut count = 0;
    while !over.load(Relaxed) {
        match tallies.ask(id, CommandOrigin::system(), Do::Add(1)).await {
            Ok(answer) => {
                count += 1;
                assert_eq!(answer.answer, count, "nothing is lost, nothing is done twice");
            }
            Err(AskError::Unavailable(_)) => tokio::time::sleep(PAUSE).await,
            Err(AskError::Unknown | AskError::Timeout) => {
                let present = count_of(&tallies, id).await;
                assert!(present == count || present == count + 1, "{present} after {count}");
                count = present;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    count
}

/// Waits until 50 more commits have been made.
async fn commits_go_on(rig: &Rig) {
    let commits = rig.counters.commits.load(Relaxed);
    until("commits go on", async || rig.counters.commits.load(Relaxed) > commits + 50).await;
}

/// Kills the primary and promotes the standby this many times, while callers count.
async fn promote_under_load(promotions: u32) {
    let Some(mut cluster) = Cluster::start(true).await else { return };
    let (mut rig, tallies, ids) = rig_on(&cluster, CALLERS).await;
    let over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = ids.iter().map(|id| tokio::spawn(add_until(over.clone(), tallies.clone(), *id))).collect();
    for promotion in 1..=promotions {
        commits_go_on(&rig).await;
        cluster.fail_over().await;
        cluster.rejoin().await;
        commits_go_on(&rig).await;
        eprintln!("promotion {promotion}");
    }
    over.store(true, Relaxed);
    let mut done = 0;
    for caller in callers {
        done += caller.await.unwrap();
    }
    rig.database = cluster.primary();
    assert_eq!(rig.stored(&ids).await, done, "each addition is there once");
    cluster.until_received().await;
    assert_eq!(rig.fenced.load(Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promotions_under_load_lose_and_double_nothing() {
    promote_under_load(2).await;
}

mod long {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn twenty_promotions_under_load_lose_and_double_nothing() {
        super::promote_under_load(20).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_former_primary_that_still_runs_is_not_written() {
    let Some(mut cluster) = Cluster::start(false).await else { return };
    let (mut rig, tallies, ids) = rig_on(&cluster, 1).await;
    let settings = rig.database.settings.clone();
    assert!(add_one(&tallies, ids[0]).await);
    cluster.until_received().await;
    cluster.promote().await;
    // Both accept changes now. Whoever connects anew, to either, goes to the one that was promoted.
    for database in [cluster.standby(), cluster.primary(), cluster.primary()] {
        database.execute(END_SESSIONS).await;
        until("it is back by itself", async || add_one(&tallies, ids[0]).await).await;
    }
    assert_eq!(cluster.standby().number(LEDGER).await, 1, "the former primary has nothing new");
    rig.database = cluster.primary();
    assert_eq!(rig.stored(&ids).await, 4);
    assert_eq!(rig.fenced.load(Relaxed), 0);
    // When the one that was promoted accepts no changes any more, the former one gets none either.
    rig.database.execute("ALTER SYSTEM SET default_transaction_read_only = on").await;
    rig.database.execute("SELECT pg_reload_conf()").await;
    until("no host to be left", async || match connect::reading(&settings).await {
        Ok(reading) => reading.close().await.is_err(),
        Err(error) => error.to_string().contains("(it was replaced by another host)"),
    })
    .await;
    until("nothing to be written", async || !add_one(&tallies, ids[0]).await).await;
    assert_eq!(cluster.standby().number(LEDGER).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_whose_changes_were_lost_ends() {
    let Some(mut cluster) = Cluster::start(false).await else { return };
    let (rig, tallies, ids) = rig_on(&cluster, 1).await;
    assert!(add_one(&tallies, ids[0]).await);
    cluster.until_received().await;
    cluster.stop_receiving().await;
    assert!(add_one(&tallies, ids[0]).await);
    cluster.fail_over().await;
    until("it ends", async || rig.fenced.load(Relaxed) == 1).await;
    assert!(!add_one(&tallies, ids[0]).await, "nothing is written on what it remembers");
    assert_eq!(cluster.primary().number(LEDGER).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_goes_on_with_the_host_that_was_promoted() {
    let Some(mut cluster) = Cluster::start(true).await else { return };
    let app = App::on(Db::sqlite()).env("DATABASE_URL", cluster.address()).start().await;
    let material = app.material("BEFORE", 100.0).await;
    cluster.fail_over().await;
    cluster.rejoin().await;
    let (app, mut tries) = (&app, 0);
    support::until("something to be written", || {
        tries += 1;
        let body = json!({"name": format!("after {tries}"), "type": "filament", "quantity": 1});
        async move { (app.post("/api/inventory/materials", &body).await.status == 201).then_some(()) }
    })
    .await;
    app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
    app.until_ready().await;
    let (Ok(checked) | Err(checked)) = app.try_command(&["check"], "");
    let log = app.log().join("\n");
    for text in [&log, &checked] {
        assert!(!text.contains(WARNING) && !text.contains(cluster.password()), "{text}");
    }
    assert!(log.contains("another host of the database writes"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_database_replicates_asynchronously_says_what_can_be_lost() {
    let Some(cluster) = Cluster::start(false).await else { return };
    let app = App::on(Db::sqlite()).env("DATABASE_URL", cluster.address()).start().await;
    let (Ok(checked) | Err(checked)) = app.try_command(&["check"], "");
    for text in [app.log().join("\n"), checked] {
        assert!(text.contains(WARNING) && !text.contains(cluster.password()), "{text}");
    }
}
