//! Killed verifications: they change nothing in the shop, and their remains are clearly identifiable.

use std::collections::BTreeSet;

use super::source::Source;
use super::{Attempt, Kill, Remains, Round};
use crate::support::database::TestDatabase;
use crate::support::db::until_unused;

/// Databases in which backups are being or were verified.
const TEMPORARY_DATABASES: &str =
    "SELECT datname::text FROM pg_database WHERE starts_with(datname::text, 'printfloor_verify_')";

/// Verifies a backup; the first attempt is killed.
pub async fn verify(source: &Source, place: &str, kill: &Kill) -> Round {
    let before = temporary_databases(source).await;
    let arguments = ["backup", "verify", place];
    kill.strike(&source.app, &arguments);
    let left: Vec<String> = temporary_databases(source).await.difference(&before).cloned().collect();
    assert!(left.len() <= 1, "{left:?}");
    let has_files = source.clear_temporary();
    for name in &left {
        // A program of PostgreSQL outlives the command, and is not an interrupted run as long as it works.
        until_unused(&in_database(source, name)).await;
    }
    let attempt = Attempt::of(&source.app, &arguments);
    attempt.succeeded(&["all verified", "records can be read"]);
    assert!(!source.clear_temporary(), "no file is left");
    for name in &left {
        attempt.succeeded(&[&format!("the temporary database {name} is left from an interrupted run")]);
        let database = TestDatabase::at(&source.app.db.url().unwrap());
        database.execute(&format!("DROP DATABASE {name}")).await;
    }
    let after = temporary_databases(source).await;
    assert!(after.is_subset(&before), "no database is left: {after:?}");
    let remains = if has_files || !left.is_empty() { Remains::Unfinished } else { Remains::Nothing };
    Round { remains, took: attempt.took }
}

/// Returns the names of the databases in which backups are verified, after waiting until nothing uses the shop's own
/// database: a killed command may still be creating another one through it.
async fn temporary_databases(source: &Source) -> BTreeSet<String> {
    let Some(url) = source.app.db.url() else { return BTreeSet::new() };
    until_unused(&url).await;
    let rows = TestDatabase::at(&url).rows(TEMPORARY_DATABASES).await;
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

/// Returns the URL of another database on the same database server.
fn in_database(source: &Source, name: &str) -> String {
    let url = source.app.db.url().unwrap();
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}
