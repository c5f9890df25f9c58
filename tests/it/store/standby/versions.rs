//! Two servers of different versions on one database during an upgrade: the newer one migrates only once it leads, and
//! the older one does not take over again.

use printfloor::store::lease::is_followed;

use super::{Pair, beside, shared_folders, stands_by, with_settings};
use crate::cli::newer::{PLANT_NEWER, refuses_newer};
use crate::support::database::TestDatabase;
use crate::support::{App, Db, until};

/// SQL that turns the tables into those of a version without one migration, which adds an index.
const BECOME_OLDER: [&str; 2] =
    ["DELETE FROM seaql_migrations WHERE version LIKE '%_000042_%'", "DROP INDEX ix__files__archived__kind"];
const MIGRATED: &str = "SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'ix__files__archived__kind'";
const TERM: &str = "SELECT term FROM printfloor_leader";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_server_that_stands_by_migrates_when_it_leads_and_not_before() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let (url, shared) = (db.url().unwrap(), tempfile::tempdir().unwrap());
    let settings = shared_folders(shared.path());
    let mut first = with_settings(App::on(db), &settings).with_public_url().start().await;
    for statement in BECOME_OLDER {
        first.db.execute(&first, statement).await;
    }
    let mut second = beside(&first, &url, &settings);
    second.spawn();
    stands_by(&second, &first).await;
    let database = TestDatabase::at(&url);
    until("the standby to be ready", || async { is_followed(&database.settings).await.unwrap().then_some(()) }).await;
    assert_eq!(first.db.query_number(&first, MIGRATED).await, 0, "the older server still works on these tables");
    first.gcode("meanwhile", 60, 1.0).await;
    first.command(&["handover"], "");
    assert!(first.ended().await, "{}", first.log().join("\n"));
    second.until_ready().await;
    assert_eq!(first.db.query_number(&first, MIGRATED).await, 1);
    assert_eq!(second.get("/api/files").await.expect(200)["pagination"]["total"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_of_an_older_version_ends_in_words_and_takes_nothing_over() {
    let Some(mut pair) = Pair::start().await else { return };
    pair.first.db.execute(&pair.first, PLANT_NEWER).await;
    assert!(!pair.second.ended().await, "it could not take over");
    refuses_newer(&pair.second.log().join("\n"));
    pair.first.get("/readyz").await.expect(200);

    // Nor when nobody leads any more, and the lease is there for the taking.
    pair.first.stop().await;
    let term = pair.first.db.query_number(&pair.first, TERM).await;
    pair.second.spawn();
    assert!(!pair.second.ended().await, "it could not lead");
    assert_eq!(pair.first.db.query_number(&pair.first, TERM).await, term);
}
