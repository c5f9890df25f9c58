//! Crashes under load: many concurrent callers, while everything crashes.

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use printfloor::actors::kernel::directory::{ASK_TIMEOUT, Directory};
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::handle::AskError;
use printfloor::actors::kernel::restart_policy::RestartPolicy;
use printfloor::domain::id::Id;

use crate::store::rig::{Rig, patient};
use crate::store::tally::{Do, Tally};
use crate::support::database::{TestDatabase, on_both_databases, on_sqlite, until};
use crate::support::drawing::takes_all;

/// Number of crashes of the writer, in each run and in the long profile. The delay before a restart doubles from 10 ms,
/// so that the last three take most of the time.
const WRITER_CRASHES: [usize; 2] = [7, 10];

on_both_databases!(
    many_callers_of_one_aggregate,
    many_callers_of_many_aggregates,
    nothing_acknowledged_is_lost_when_one_actor_crashes,
    nothing_acknowledged_is_lost_when_many_actors_crash,
    nothing_acknowledged_is_lost_when_the_writer_crashes,
    nothing_acknowledged_is_lost_when_everything_crashes,
);

/// Number of responses to callers, by kind.
#[derive(Default, Debug, Clone, Copy)]
struct Heard {
    done: i64,
    unknown: i64,
    turned_away: i64,
    poison: i64,
}

impl AddAssign for Heard {
    fn add_assign(&mut self, other: Self) {
        self.done += other.done;
        self.unknown += other.unknown;
        self.turned_away += other.turned_away;
        self.poison += other.poison;
    }
}

struct Storm {
    callers: usize,
    each: usize,
    /// One in this many commands makes the actor panic; 0 means none.
    poison: usize,
    /// `true` if actors are crashed during the storm, by one caller after another.
    crashes: bool,
}

impl Storm {
    async fn rage(&self, tallies: &Arc<Directory<Tally>>, ids: &[Id]) -> Heard {
        let mut callers = Vec::new();
        for caller in 0..self.callers {
            let (id, tallies) = (ids[caller % ids.len()], tallies.clone());
            let (each, poison, crashes) = (self.each, self.poison, self.crashes);
            callers.push(tokio::spawn(async move {
                let handle = tallies.activate(id);
                let mut totals = Heard::default();
                for n in 0..each {
                    if crashes && n % 100 == caller {
                        tallies.crash(id);
                    }
                    let poisonous = poison > 0 && (n * 64 + caller) % poison == 1;
                    let command = if poisonous { Do::Poison } else { Do::Add(1) };
                    match handle.ask(CommandOrigin::system(), command, ASK_TIMEOUT).await {
                        Ok(_) => totals.done += 1,
                        Err(AskError::Unknown) => totals.unknown += 1,
                        Err(AskError::Poison) if poisonous => totals.poison += 1,
                        Err(AskError::Unavailable(_)) => {
                            totals.turned_away += 1;
                            tokio::time::sleep(Duration::from_millis(2)).await;
                        }
                        Err(other) => panic!("{other:?}"),
                    }
                }
                totals
            }));
        }
        let mut totals = Heard::default();
        for caller in callers {
            totals += caller.await.unwrap();
        }
        totals
    }
}

/// Waits until every command is settled: nothing is queued, and every aggregate responds again.
async fn wait_until_settled(tallies: &Directory<Tally>, ids: &[Id]) {
    for id in ids {
        until("it answers again", async || tallies.ask(*id, CommandOrigin::system(), Do::Look).await.is_ok()).await;
    }
    until("nothing waits", async || tallies.observe().iter().all(|line| line.waiting == 0)).await;
}

async fn throughput(database: TestDatabase, tallies_count: usize) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, tallies_count).await;
    let (began, transactions) = (Instant::now(), rig.counters.transactions.load(Relaxed));
    let storm = Storm { callers: 64, each: 100, poison: 0, crashes: false };
    let totals = storm.rage(&tallies, &ids).await;
    let took = began.elapsed().as_secs_f64();
    let transactions = rig.counters.transactions.load(Relaxed) - transactions;
    eprintln!(
        "{tallies_count} tallies: {:.0} commands/s, {:.1} commands a transaction",
        totals.done as f64 / took,
        totals.done as f64 / transactions as f64
    );
    assert_eq!(totals.done, 6400, "{totals:?}");
    assert_eq!(rig.stored(&ids).await, 6400);
    assert!(transactions < 6400 / 4, "commands share transactions: {transactions}");
    assert!(tallies.observe().iter().all(|line| line.restarts == 0 && line.generation == 1));
}

async fn many_callers_of_one_aggregate(database: TestDatabase) {
    throughput(database, 1).await;
}

async fn many_callers_of_many_aggregates(database: TestDatabase) {
    throughput(database, 16).await;
}

async fn nothing_acknowledged_is_lost_when_one_actor_crashes(database: TestDatabase) {
    crashing_actors(database, 1).await;
}

async fn nothing_acknowledged_is_lost_when_many_actors_crash(database: TestDatabase) {
    crashing_actors(database, 16).await;
}

async fn crashing_actors(database: TestDatabase, tallies_count: usize) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(patient()).await;
    let ids = rig.make(&tallies, tallies_count).await;
    let storm = Storm { callers: 64, each: 100, poison: 500, crashes: true };
    let totals = storm.rage(&tallies, &ids).await;
    wait_until_settled(&tallies, &ids).await;
    let stored = rig.stored(&ids).await;
    eprintln!("{tallies_count} tallies: {totals:?}, {stored} stored");
    assert!(totals.done <= stored && stored <= totals.done + totals.unknown, "{totals:?}, {stored} stored");
    assert_eq!(totals.done + totals.unknown + totals.poison, 6400, "{totals:?}");
    assert!(totals.poison >= 10, "{totals:?}");
}

async fn nothing_acknowledged_is_lost_when_the_writer_crashes(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 16).await;
    let crashes = WRITER_CRASHES[usize::from(takes_all())];
    let totals = crash_under_load(&rig, &tallies, &ids, |rig, _| rig.writer_crashes(), crashes).await;
    let stored = rig.stored(&ids).await;
    eprintln!("{totals:?}, {stored} stored");
    // Commits that were under way are told by the disk: nobody is left in doubt.
    assert_eq!((totals.unknown, stored), (0, totals.done), "{totals:?}");
    assert!(tallies.observe().iter().all(|line| line.restarts == 0 && line.generation == 1));
    assert_eq!(rig.fenced.load(Relaxed), 0);
}

async fn nothing_acknowledged_is_lost_when_everything_crashes(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(patient()).await;
    let ids = rig.make(&tallies, 16).await;
    let crashes = |rig: &Rig, n: usize| match n % 3 {
        0 => rig.writer_crashes(),
        1 => tallies.crash_supervisor(),
        _ => tallies.observe().iter().take(5).for_each(|line| tallies.crash(line.id)),
    };
    let totals = crash_under_load(&rig, &tallies, &ids, crashes, 12).await;
    let stored = rig.stored(&ids).await;
    eprintln!("{totals:?}, {stored} stored");
    assert!(totals.done <= stored && stored <= totals.done + totals.unknown, "{totals:?}, {stored} stored");
    assert_eq!(rig.fenced.load(Relaxed), 0);
}

/// Triggers this many crashes one after another, each once callers receive responses again.
async fn crash_under_load(
    rig: &Rig,
    tallies: &Arc<Directory<Tally>>,
    ids: &[Id],
    crash: impl Fn(&Rig, usize),
    crashes: usize,
) -> Heard {
    let stop = Arc::new(AtomicBool::new(false));
    let load = {
        let (tallies, ids, stop) = (tallies.clone(), ids.to_vec(), stop.clone());
        tokio::spawn(async move {
            let storm = Storm { callers: 64, each: 5, poison: 0, crashes: false };
            let mut totals = Heard::default();
            while !stop.load(Relaxed) {
                totals += storm.rage(&tallies, &ids).await;
            }
            totals
        })
    };
    for n in 0..crashes {
        let commits = rig.counters.commits.load(Relaxed);
        until("commits go on", async || rig.counters.commits.load(Relaxed) > commits + 20).await;
        crash(rig, n);
    }
    stop.store(true, Relaxed);
    let totals = load.await.unwrap();
    wait_until_settled(tallies, ids).await;
    totals
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn finished_aggregates_cost_no_memory() {
    on_sqlite(|database| memory_stays(database, 40_000, 20)).await;
}

mod long {
    use crate::support::database::{on_migrated_postgres, on_sqlite};

    // The mechanism is the same on both; a server's round trips make the whole number slow there.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn ten_thousand_finished_aggregates_of_postgres_cost_no_memory() {
        on_migrated_postgres(|database| super::memory_stays(database, 10_000, 40)).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_hundred_thousand_finished_aggregates_cost_no_memory() {
        on_sqlite(|database| super::memory_stays(database, 100_000, 40)).await;
    }
}

/// Checks that loading and passivating this many aggregates takes no more than this much memory, in MiB.
async fn memory_stays(database: TestDatabase, many: usize, most_mib: u64) {
    let rig = Rig::start(&database).await;
    let tallies =
        rig.tallies(RestartPolicy { rest_after: Duration::from_millis(20), ..RestartPolicy::default() }).await;
    // As they would be on disk after years.
    let digits = if database.is_postgres() { "lpad(i::text, 12, '0')" } else { "substr('000000000000' || i, -12)" };
    database
        .execute(&format!(
            r#"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {many}),
               ids AS (SELECT '00000000-0000-7000-8000-' || {digits} AS id FROM n)
               INSERT INTO skus (id, version, schema, doc, code, slug, name, material_id, public, active, archived, created_at)
               SELECT id, 1, 1, '{{"id":"' || id || '","code":"' || id || '","count":1}}', id, id, '', '', false, true, false, 0
               FROM ids"#
        ))
        .await;
    let touch = async |from: usize, to: usize| {
        let tasks = (0..32).map(|task| {
            let tallies = tallies.clone();
            tokio::spawn(async move {
                for n in (from..to).filter(|n| n % 32 == task) {
                    let id: Id = format!("00000000-0000-7000-8000-{n:012}").parse().unwrap();
                    assert_eq!(tallies.ask(id, CommandOrigin::system(), Do::Look).await.unwrap().answer, 1);
                }
            })
        });
        for task in futures::future::join_all(tasks).await {
            task.unwrap();
        }
        until("all left memory", async || tallies.count() == 0).await;
    };
    touch(1, 5_001).await;
    let (before, began) = (resident_kib(), Instant::now());
    touch(5_001, many + 1).await;
    let after = resident_kib();
    eprintln!("{many} tallies: {before} KiB before, {after} KiB after, {:?}", began.elapsed());
    // An idle actor costs about 8 KiB, a slot under 1: of 95,000 that were kept, they would be 700 MiB or 90; of
    // 35,000, 270 or 33.
    assert!(after < before + most_mib * 1024, "{before} KiB before, {after} KiB after");
}
