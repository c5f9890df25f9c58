//! Takeovers: the leader is killed, frozen, disconnected from the database, or stopped; the standby takes over in time,
//! and the former leader does nothing more.

mod cells;

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{iter, mem};

use futures::FutureExt as _;
use futures::future::{LocalBoxFuture, join_all};
use serde_json::json;
use simulator::PrinterKind;
use simulator::faults::SlowUpload;
use tokio::net::TcpListener;

use super::{Pair, beside, shared_folders, stands_by, with_settings};
use crate::machines::{FAST, Floor, JUDGE_CALMLY, SLOW, attempts};
use crate::store::proxy::{Proxy, Wire};
use crate::store::takeover::signal;
use crate::support::database::TestDatabase;
use crate::support::drawing::{draw, run_seed};
use crate::support::stream::Stream;
use crate::support::{App, Client, Db, until};

/// Maximum time from the end of a leader until the standby is ready.
const TAKEOVER_TIME: Duration = Duration::from_secs(5);
/// Duration of a lease. A faster takeover did not wait for the lease to expire.
const LEASE_TIME: Duration = Duration::from_millis(2500);
const EPOCH: &str = "SELECT epoch FROM writer";

/// Waits until the server is ready, and checks that this took at most `within` after the leader's end. Returns the time
/// that it took.
async fn takes_over(server: &App, ended: Instant, within: Duration) -> Duration {
    server.until_ready().await;
    let took = ended.elapsed();
    assert!(took < within, "it took {took:?}");
    took
}

/// Places an order for a new SKU; returns its ID and that of the SKU's file.
async fn draft(client: &Client, code: &str) -> (String, String) {
    let material = client.material(code, 100.0).await;
    let file = client.gcode(code, 60, 1.0).await;
    let sku = client.sku(code, &material, &file, 100).await;
    (client.order(&sku, 1).await, file)
}

/// Checks that the former leader exits by itself, and that only the new leader has written since.
async fn ends_and_writes_nothing(former: &mut App, epoch: i64) {
    assert!(!former.ended().await, "being taken over is an error");
    let log = former.log().join("\n");
    assert!(log.contains("another server has taken over the database"), "{log}");
    assert_eq!(former.db.query_number(former, EPOCH).await, epoch, "it took no epoch any more");
}

/// Runs parts of a test side by side, each to its end; fails with the names of those that failed.
async fn run_side_by_side<const N: usize>(parts: [(&'static str, LocalBoxFuture<'static, ()>); N]) {
    let outcomes = parts.map(|(name, part)| async move {
        if AssertUnwindSafe(part).catch_unwind().await.is_ok() {
            return None;
        }
        // After the message of the panic, which does not name the part.
        eprintln!("failed: {name}");
        Some(name)
    });
    let failed: Vec<&str> = join_all(outcomes).await.into_iter().flatten().collect();
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// Kills the leader: the standby has all that the leader acknowledged, and continues its stream of events.
async fn kill_leader(mut pair: Pair) {
    let (second, first) = (&pair.second, &mut pair.first);
    let (order, file) = draft(first, "BEFORE").await;
    let mut stream = Stream::open(first, "/api/events/stream?after=0", None).await;
    let last = stream.take(1).await[0].id.unwrap();
    first.kill_9();
    takes_over(second, Instant::now(), TAKEOVER_TIME).await;
    second.get(&format!("/api/orders/{order}")).await.expect(200);
    assert_eq!(second.get(&format!("/api/files/{file}/content")).await.status, 200);
    // The stream goes on where it was cut.
    let mut stream = Stream::open(second, "/api/events/stream", Some(&last.to_string())).await;
    draft(second, "AFTER").await;
    assert!(stream.take(1).await[0].id.unwrap() > last);
    // The former leader comes back as the standby.
    first.spawn();
    stands_by(first, second).await;
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_ends_in_order_hands_over_at_once() {
    let Some(mut pair) = Pair::start().await else { return };
    pair.first.stop().await;
    takes_over(&pair.second, Instant::now(), LEASE_TIME).await;
}

/// Freezes the leader until the standby has taken over: when it wakes up, it writes nothing and ends.
async fn freeze_leader(mut pair: Pair) {
    let (second, first) = (&pair.second, &mut pair.first);
    let (order, _) = draft(first, "BEFORE").await;
    signal(first, "STOP");
    takes_over(second, Instant::now(), TAKEOVER_TIME).await;
    let epoch = first.db.query_number(first, EPOCH).await;
    let paid = json!({"method": "cash"});
    second.post(&format!("/api/orders/{order}/mark-paid"), &paid).await.expect(200);
    signal(first, "CONT");
    ends_and_writes_nothing(first, epoch).await;
}

/// Starts a pair whose leader reaches the database through a proxy; `None` without PostgreSQL.
async fn pair_with_proxy() -> Option<(Pair, Proxy)> {
    let db = Db::postgres().await?;
    let (url, shared) = (db.url().unwrap(), tempfile::tempdir().unwrap());
    let database = TestDatabase::at(&url);
    let proxy = Proxy::to(database.address()).await;
    let settings = shared_folders(shared.path());
    let through = database.through(proxy.port).settings.url;
    let first = with_settings(App::on(db).env("DATABASE_URL", &through), &settings).start().await;
    let mut second = beside(&first, &url, &settings);
    second.spawn();
    stands_by(&second, &first).await;
    Some((Pair { second, first, _shared: shared }, proxy))
}

/// Disconnects the leader from the database in the given way until the standby has taken over: it writes nothing more
/// and ends.
async fn disconnect_leader(mut pair: Pair, proxy: Proxy, wire: Wire) {
    let (second, first) = (&pair.second, &mut pair.first);
    let (order, _) = draft(first, "BEFORE").await;
    proxy.is(wire);
    takes_over(second, Instant::now(), TAKEOVER_TIME).await;
    let epoch = first.db.query_number(first, EPOCH).await;
    second.get(&format!("/api/orders/{order}")).await.expect(200);
    proxy.is(Wire::Whole);
    ends_and_writes_nothing(first, epoch).await;
}

/// Ends several leaders at once: most of a takeover is the wait for the lease to expire, which the pairs share. There
/// are not more of them because all standbys start their shops at the same moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaders_that_are_killed_or_frozen_are_followed_with_all_that_they_acknowledged() {
    let Some(first) = Pair::start().await else { return };
    let Some(second) = Pair::start().await else { return };
    let Some((third, bucket)) = pair_with_silent_bucket().await else { return };
    run_side_by_side([
        ("a leader is killed", kill_leader(first).boxed_local()),
        ("a leader is frozen", freeze_leader(second).boxed_local()),
        ("a leader with a silent bucket is killed", kill_leader_with_silent_bucket(third, bucket).boxed_local()),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaders_that_lose_the_database_are_followed_and_write_nothing_more() {
    let Some((first, first_proxy)) = pair_with_proxy().await else { return };
    let Some((second, second_proxy)) = pair_with_proxy().await else { return };
    run_side_by_side([
        ("connections are cut", disconnect_leader(first, first_proxy, Wire::Cut).boxed_local()),
        ("the database no longer answers", disconnect_leader(second, second_proxy, Wire::Silent).boxed_local()),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_without_another_server_outlasts_an_outage() {
    let Some(db) = Db::postgres().await else { return };
    let database = TestDatabase::at(&db.url().unwrap());
    let proxy = Proxy::to(database.address()).await;
    let app = App::on(db).env("DATABASE_URL", database.through(proxy.port).settings.url).start().await;
    proxy.is(Wire::Cut);
    let warning = "cannot renew the lease of the database";
    until("the outage to be noticed", || async { app.log().iter().any(|line| line.contains(warning)).then_some(()) })
        .await;
    proxy.is(Wire::Whole);
    app.until_ready().await;
    let (app, mut tries) = (&app, 0);
    until("something to be written", || {
        tries += 1;
        let material = json!({"name": format!("late {tries}"), "type": "filament", "quantity": 1});
        async move { (app.post("/api/inventory/materials", &material).await.status == 201).then_some(()) }
    })
    .await;
}

/// Starts a pair whose bucket accepts connections but never responds; `None` without PostgreSQL.
async fn pair_with_silent_bucket() -> Option<(Pair, TcpListener)> {
    let db = Db::postgres_with_shop().await?;
    let (url, shared) = (db.url().unwrap(), tempfile::tempdir().unwrap());
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let [files, _] = shared_folders(shared.path());
    let bucket = [
        ("PRINTFLOOR_OBJECT_STORAGE__BUCKET", "documents".to_owned()),
        ("PRINTFLOOR_OBJECT_STORAGE__ENDPOINT", format!("http://{}", silent.local_addr().unwrap())),
        ("PRINTFLOOR_OBJECT_STORAGE__ACCESS_KEY_ID", "AKIATEST".to_owned()),
        ("OBJECT_STORAGE_SECRET_KEY", "a secret of the test".to_owned()),
        ("PRINTFLOOR_OBJECT_STORAGE__PUBLIC_URL", "https://papers.example".to_owned()),
        ("PRINTFLOOR_OBJECT_STORAGE__TIMEOUT_SECONDS", "20".to_owned()),
    ];
    let settings: Vec<_> = iter::once(files).chain(bucket).collect();
    let first = with_settings(App::on(db), &settings).start().await;
    let mut second = beside(&first, &url, &settings);
    second.spawn();
    stands_by(&second, &first).await;
    Some((Pair { second, first, _shared: shared }, silent))
}

/// Kills the leader of a pair whose bucket does not respond, which keeps nobody from taking over.
async fn kill_leader_with_silent_bucket(mut pair: Pair, bucket: TcpListener) {
    let probe = bucket.accept().await.unwrap();
    pair.first.kill_9();
    takes_over(&pair.second, Instant::now(), TAKEOVER_TIME).await;
    drop((probe, bucket));
}

/// Starts a floor with one printer, and a standby server for it; `None` without PostgreSQL.
async fn floor_of_two(speed: f64, shared: &Path) -> Option<(Floor, App)> {
    let db = Db::postgres_with_shop().await?;
    let url = db.url().unwrap();
    Some(floor_with_standby(db, speed, shared, (None, &url)).await)
}

/// Starts a floor as [`floor_of_two`] does, with a proxy between each server and the database.
async fn floor_behind_proxies(speed: f64, shared: &Path) -> Option<(Floor, App, [Proxy; 2])> {
    let db = Db::postgres().await?;
    let database = TestDatabase::at(&db.url().unwrap());
    let proxies = [Proxy::to(database.address()).await, Proxy::to(database.address()).await];
    let [first, second] = proxies.each_ref().map(|proxy| database.through(proxy.port).settings.url);
    let (floor, standby) = floor_with_standby(db, speed, shared, (Some(&first), &second)).await;
    Some((floor, standby, proxies))
}

/// Starts both servers on a database, which they reach at these addresses; the first one's address is usually that of
/// `db`.
async fn floor_with_standby(db: Db, speed: f64, shared: &Path, urls: (Option<&str>, &str)) -> (Floor, App) {
    let (first_url, second_url) = urls;
    let mut settings = shared_folders(shared).to_vec();
    settings.push((JUDGE_CALMLY.0, JUDGE_CALMLY.1.to_owned()));
    let mut env: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    env.extend(first_url.map(|url| ("DATABASE_URL", url)));
    let floor = Floor::on(db, PrinterKind::FwRest, 1, speed, &env).await;
    let mut second = beside(&floor.app, second_url, &settings);
    second.spawn();
    stands_by(&second, &floor.app).await;
    (floor, second)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_print_under_way_goes_on_and_is_not_started_twice() {
    let shared = tempfile::tempdir().unwrap();
    let Some((mut floor, second)) = floor_of_two(SLOW, shared.path()).await else { return };
    let (order, job) = floor.one().await;
    floor.attempt_is(&job, "confirmed").await;
    floor.app.kill_9();
    takes_over(&second, Instant::now(), TAKEOVER_TIME).await;
    let former = mem::replace(&mut floor.app, second);
    floor.hurry(0);
    floor.app.order_is(&order, "ready").await;
    assert_eq!(attempts(&floor.job(&job).await), ["finished"]);
    assert_eq!(floor.started(0), 1);
    floor.truth().await;
    drop(floor);
    drop(former);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_stopped_in_the_middle_of_a_start_does_not_start_it() {
    let shared = tempfile::tempdir().unwrap();
    let Some((mut floor, second)) = floor_of_two(FAST, shared.path()).await else { return };
    let file = floor.big_file("big", 200_000).await;
    let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
    floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 50_000 }));
    let order = floor.app.paid_order(&sku, 1).await;
    let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    floor.attempt_is(&job, "uploading").await;
    signal(&floor.app, "STOP");
    floor.faults(0, |faults| faults.slow_upload = None);
    takes_over(&second, Instant::now(), TAKEOVER_TIME).await;
    let mut former = mem::replace(&mut floor.app, second);
    floor.app.order_is(&order, "ready").await;
    signal(&former, "CONT");
    assert!(!former.ended().await, "being taken over is an error");
    assert_eq!(floor.started(0), 1);
    floor.truth().await;
    drop(floor);
    drop(former);
}

/// Number of ways in which [`exchange`] ends a leader.
const WAYS: u64 = 4;

/// Ends the leader in the given way (0: kill, 1: freeze, 2: cut from the database, otherwise stop), lets the standby
/// take over, and makes the former leader the standby. The first proxy is the leader's. Returns the time without one.
async fn exchange(leader: &mut App, standby: &mut App, proxies: &mut [Proxy; 2], way: u64) -> Duration {
    let ended = Instant::now();
    match way {
        0 => leader.kill_9(),
        1 => signal(leader, "STOP"),
        2 => proxies[0].is(Wire::Cut),
        _ => leader.stop().await,
    }
    let ended = if way > 2 { Instant::now() } else { ended };
    let took = takes_over(standby, ended, TAKEOVER_TIME).await;
    if way == 1 || way == 2 {
        if way == 1 {
            signal(leader, "CONT");
        }
        proxies[0].is(Wire::Whole);
        assert!(!leader.ended().await, "being taken over is an error");
    }
    leader.spawn();
    stands_by(leader, standby).await;
    mem::swap(leader, standby);
    proxies.swap(0, 1);
    took
}

mod long {
    use super::*;

    const ROUNDS: u64 = 50;

    /// Swaps leader and standby again and again, each time with a part being uploaded or printed.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn fifty_exchanges_print_each_part_once() {
        let shared = tempfile::tempdir().unwrap();
        let Some((mut floor, mut standby, mut proxies)) = floor_behind_proxies(FAST, shared.path()).await else {
            return;
        };
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let way = draw(("exchange", round), WAYS);
            eprintln!("round {round} of seed {}: way {way}", run_seed());
            let (order, job) = floor.one().await;
            if draw(("moment", round), 2) == 0 {
                floor.job_until("the job to begin", &job, |job| !attempts(job).is_empty()).await;
            }
            times.push(exchange(&mut floor.app, &mut standby, &mut proxies, way).await);
            floor.app.order_is(&order, "ready").await;
        }
        times.sort();
        eprintln!("{ROUNDS} takeovers: median {:?}, longest {:?}", times[times.len() / 2], times[times.len() - 1]);
        floor.truth().await;
        // The database goes with the server that was first, and is again.
        drop(standby);
        drop(floor);
    }
}
