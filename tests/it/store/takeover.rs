//! Takeover of the database by another server: the former one exits at once, even if it is not writing and while the
//! other one holds the lock.

use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use printfloor::store::connect::{self, OpenError, WriteConnection};
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database};

use super::rig::Rig;
use crate::support::database::{TestDatabase, on_both_databases, on_migrated_postgres, until};
use crate::support::{App, Db};

on_both_databases!(whoever_was_taken_over_leaves_though_nobody_writes);

/// SQL that terminates all other sessions of the database, as a long network outage does.
pub const END_SESSIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Opens the database like another server that finds no holder of the lock.
async fn take_over(database: &TestDatabase) -> WriteConnection {
    loop {
        if database.is_postgres() {
            database.execute(END_SESSIONS).await;
        }
        // On PostgreSQL the one before may have been quicker: it is cut off again.
        match connect::start(&database.settings).await {
            Ok(writing) => return writing,
            Err(OpenError::InUse) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

async fn whoever_was_taken_over_leaves_though_nobody_writes(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let other = take_over(&database).await;
    let began = Instant::now();
    until("the one before leaves", async || rig.fenced.load(Relaxed) == 1).await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(database.number("SELECT epoch FROM writer").await, other.epoch, "it took no epoch any more");
}

/// SQL for the number of sessions that have requested the lock in vain.
const FAILED_LOCKS: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND query LIKE 'SELECT pg_try_advisory_lock%'";

/// Starts a server while another session holds the lock, as a reconnecting former leader does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_waits_for_whoever_has_the_lock_for_a_moment() {
    on_migrated_postgres(|database| async move {
        let mut options = ConnectOptions::new(&database.settings.url);
        options.max_connections(1).sqlx_logging(false);
        let holder = Database::connect(options).await.unwrap();
        holder.execute_unprepared("SELECT pg_advisory_lock(x'5072696e74666c6f'::bigint)").await.unwrap();
        let leave = async {
            until("the lock is asked for", || async { database.number(FAILED_LOCKS).await > 0 }).await;
            holder.close().await.unwrap();
        };
        let (started, ()) = tokio::join!(connect::start(&database.settings), leave);
        started.unwrap().db.close().await.unwrap();
    })
    .await;
}

/// Resumes a frozen server after another server has taken over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_that_wakes_up_behind_another_ends() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let url = db.url().unwrap();
    let mut first = App::new(db).await;
    signal(&first, "STOP");
    first.db.execute(&first, END_SESSIONS).await;
    // The key of its admin is made before it starts: nothing else holds the lock.
    let second = App::on(Db::sqlite()).env("DATABASE_URL", url).secrets_of(&first).start().await;
    signal(&first, "CONT");
    assert!(!first.ended().await, "being taken over is an error");
    assert!(first.log().iter().any(|line| line.contains("another server has taken over the database")));
    assert_eq!(second.get("/readyz").await.status, 200);
}

/// Sends a signal to the server.
pub fn signal(app: &App, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &app.pid().to_string()]).status().unwrap().success());
}
