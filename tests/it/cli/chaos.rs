//! Backups, verifications, restores and transfers killed at times chosen by the run's seed. The source shop is
//! unchanged, the output is clearly unfinished or complete, and the next attempt reports that and succeeds.

mod backups;
mod restores;
mod source;
mod transfers;
mod verifications;

use std::cell::Cell;
use std::time::{Duration, Instant};

use self::source::Source;
use super::backup_places::BUCKET;
use crate::chaos::from_env;
use crate::support::drawing::{draw, run_seed};
use crate::support::moto::Moto;
use crate::support::{App, Db};

/// Number of kills, unless `PRINTFLOOR_TEST_KILLS` is set.
const KILLS: u64 = 200;
/// Number of complete runs from which the duration of a command is measured.
const WHOLE_RUNS: u64 = 3;
/// Resolution of the random times: number of steps into which a share of the duration is divided.
const DRAWN_PARTS: u64 = 1000;

/// Command to kill.
#[derive(Clone, Copy, Debug)]
enum Act {
    Backup,
    BackupToBucket,
    Verify,
    VerifyFromBucket,
    Restore,
    RestoreFromBucket,
    RestoreIntoBucket,
    Transfer,
}

/// State that a killed command leaves behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remains {
    Nothing,
    /// Clearly not usable.
    Unfinished,
    /// Complete: the command finished before the kill.
    Whole,
}

/// Kill of a command.
pub struct Kill {
    /// Unique number of the round.
    round: u64,
    /// Time until the kill; `None` if the command is not killed.
    after: Option<Duration>,
    /// `true` if the command was still running at the time of the kill.
    has_hit: Cell<bool>,
}

impl Kill {
    fn new(round: u64, after: Option<Duration>) -> Self {
        Self { round, after, has_hit: Cell::new(false) }
    }

    /// Runs a command and kills it.
    fn strike(&self, app: &App, arguments: &[&str]) {
        if let Some(after) = self.after {
            self.has_hit.set(app.command_killed(arguments, after));
        }
    }
}

/// Complete run of a command.
pub struct Attempt {
    is_done: bool,
    words: String,
    took: Duration,
}

impl Attempt {
    fn of(app: &App, arguments: &[&str]) -> Self {
        let began = Instant::now();
        let (is_done, words) = app.command_with_notes(arguments);
        Self { is_done, words, took: began.elapsed() }
    }

    /// Checks that the command succeeded with output that contains these parts.
    #[track_caller]
    fn succeeded(&self, parts: &[&str]) {
        assert!(self.is_done && parts.iter().all(|part| self.words.contains(part)), "{parts:?}: {}", self.words);
    }

    /// Checks that the command failed with output that contains this part.
    #[track_caller]
    fn was_refused(&self, part: &str) {
        assert!(!self.is_done && self.words.contains(part), "{part}: {}", self.words);
    }
}

/// Outcome of a round: a kill, and the attempts after it.
pub struct Round {
    remains: Remains,
    /// Duration of the first attempt after the kill.
    took: Duration,
}

/// Command on a shop, which is killed again and again.
struct Case<'a> {
    act: Act,
    source: &'a Source,
    moto: Option<&'a Moto>,
}

impl Case<'_> {
    /// Returns the cases for a shop; without a bucket, only those that need none.
    fn of<'a>(source: &'a Source, moto: Option<&'a Moto>, can_transfer: bool) -> Vec<Case<'a>> {
        let mut acts = vec![Act::Backup, Act::Verify, Act::Restore];
        if moto.is_some() {
            acts.push(Act::RestoreFromBucket);
        }
        if moto.is_some() && source.is_sqlite() {
            acts.extend([Act::BackupToBucket, Act::VerifyFromBucket, Act::RestoreIntoBucket]);
        }
        if can_transfer {
            acts.push(Act::Transfer);
        }
        acts.into_iter().map(|act| Case { act, source, moto }).collect()
    }

    fn name(&self) -> String {
        format!("{:?} on {}", self.act, if self.source.is_sqlite() { "SQLite" } else { "PostgreSQL" })
    }

    async fn round(&self, kill: &Kill) -> Round {
        let (source, moto) = (self.source, self.moto);
        let object = || source.object.as_deref().unwrap();
        match self.act {
            Act::Backup => backups::to_file(source, kill).await,
            Act::BackupToBucket => backups::to_bucket(source, moto.unwrap(), kill).await,
            Act::Verify => verifications::verify(source, source.backup(), kill).await,
            Act::VerifyFromBucket => verifications::verify(source, object(), kill).await,
            Act::Restore => restores::restore(source, source.backup(), None, kill).await,
            Act::RestoreFromBucket => restores::restore(source, object(), moto, kill).await,
            Act::RestoreIntoBucket => restores::restore_into_bucket(source, moto.unwrap(), kill).await,
            Act::Transfer => transfers::transfer(source, kill).await,
        }
    }

    /// Returns the median duration of several runs without a kill.
    async fn whole(&self, first_round: u64) -> Duration {
        let mut took = Vec::new();
        for run in 0..WHOLE_RUNS {
            let round = Box::pin(self.round(&Kill::new(first_round + run, None))).await;
            assert_eq!(round.remains, Remains::Nothing, "{}", self.name());
            took.push(round.took);
        }
        took.sort();
        took[took.len() / 2]
    }

    /// Kills the command `kills` times, once in each equal part of its duration, at a time within that part chosen by
    /// the seed.
    async fn kill(&self, first_round: u64, kills: u64) {
        let whole = self.whole(first_round).await;
        let (mut all, mut hits) = (Vec::new(), 0);
        for part in 0..kills {
            let drawn = draw(("interruption", self.name(), part), DRAWN_PARTS);
            let share = (part * DRAWN_PARTS + drawn) as f64 / (kills * DRAWN_PARTS) as f64;
            let after = whole.mul_f64(share);
            let kill = Kill::new(first_round + WHOLE_RUNS + part, Some(after));
            let Round { remains, took } = Box::pin(self.round(&kill)).await;
            self.source.must_be_sound().await;
            eprintln!("{}: killed after {after:?} of {whole:?}: {remains:?}; then {took:?}", self.name());
            hits += u64::from(kill.has_hit.get());
            all.push(remains);
        }
        let count = |which: Remains| all.iter().filter(|remains| **remains == which).count();
        let [nothing, unfinished, whole] = [Remains::Nothing, Remains::Unfinished, Remains::Whole].map(count);
        eprintln!("{}: {hits} of {kills} hit; {nothing} left nothing, {unfinished} a part, {whole} all", self.name());
        assert!(hits * 2 >= kills, "{}: too few of the kills came before the end", self.name());
    }
}

/// Returns the first of a case's round numbers, which no other case uses.
fn first_round(case: usize) -> u64 {
    case as u64 * 10_000
}

async fn kill_commands(kills: u64) {
    eprintln!("seed {}", run_seed());
    let moto = Moto::start(BUCKET).await;
    let moto = moto.as_ref();
    let mut sources = vec![Source::create(Db::sqlite(), moto).await];
    if let Some(db) = Db::postgres_with_shop().await {
        sources.push(Source::create(db, moto).await);
    }
    let can_transfer = sources.len() > 1;
    let cases: Vec<Case<'_>> = sources.iter().flat_map(|source| Case::of(source, moto, can_transfer)).collect();
    let count = cases.len() as u64;
    for (number, case) in cases.iter().enumerate() {
        let own = kills / count + u64::from((number as u64) < kills % count);
        Box::pin(case.kill(first_round(number), own)).await;
    }
    drop(cases);
    for source in sources {
        source.must_start().await;
    }
}

mod long {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn two_hundred_killed_commands_leave_a_sound_shop_and_nothing_that_is_half_there() {
        kill_commands(from_env("PRINTFLOOR_TEST_KILLS", KILLS)).await;
    }
}
