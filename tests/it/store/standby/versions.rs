//! Two servers of different versions on one database during an upgrade: the newer one migrates only once it leads, and
//! the older one does not take over again.

use super::Pair;
use crate::cli::newer::{PLANT_NEWER, refuses_newer};

/// SQL that turns the schema into that of a version without one migration, which adds an index.
pub(super) const BECOME_OLDER: [&str; 2] =
    ["DELETE FROM seaql_migrations WHERE version LIKE '%_000042_%'", "DROP INDEX ix__files__archived__kind"];
/// SQL expression that is 1 if that migration has been applied, else 0.
pub(super) const MIGRATED: &str = "SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'ix__files__archived__kind'";
const TERM: &str = "SELECT term FROM printfloor_leader";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_server_that_stands_by_migrates_when_it_leads_and_not_before() {
    let Some(mut pair) = Pair::start_older().await else { return };
    pair.is_followed().await;
    let (second, first) = (&pair.second, &mut pair.first);
    assert_eq!(first.db.query_number(first, MIGRATED).await, 0, "the older server still works on these tables");
    first.gcode("meanwhile", 60, 1.0).await;
    first.command(&["handover"], "");
    assert!(first.ended().await, "{}", first.log().join("\n"));
    second.until_ready().await;
    assert_eq!(first.db.query_number(first, MIGRATED).await, 1);
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
