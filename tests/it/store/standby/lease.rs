//! The leader's lease on the database: it cannot be renewed for a while, or disappears.

use printfloor::store::lease::{LeaseAttempt, LeaseHolder, LeaseWatch};
use sea_orm::{
    ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DatabaseTransaction, TransactionTrait as _,
};

use super::{Pair, stands_by};
use crate::api::files::bytes_in;
use crate::support::database::TestDatabase;
use crate::support::{App, Db, until};

/// SQL that locks the lease's row, which only prevents its renewal.
const LOCK_LEASE: &str = "SELECT * FROM printfloor_leader FOR UPDATE";
/// SQL that locks the table of applied migrations.
const LOCK_MIGRATIONS: &str = "LOCK TABLE seaql_migrations";

/// Lock in the database, held by its own session.
struct DatabaseLock {
    transaction: DatabaseTransaction,
    session: DatabaseConnection,
}

impl DatabaseLock {
    async fn take(url: &str, lock: &str) -> Self {
        let mut options = ConnectOptions::new(url);
        options.max_connections(1).sqlx_logging(false);
        let session = Database::connect(options).await.unwrap();
        let transaction = session.begin().await.unwrap();
        transaction.execute_unprepared(lock).await.unwrap();
        Self { transaction, session }
    }

    async fn release(self) {
        self.transaction.rollback().await.unwrap();
        self.session.close().await.unwrap();
    }
}

/// Waits until the server's readiness has this status; returns the reported problems.
async fn problems(app: &App, status: &str) -> String {
    until(status, || async {
        let ready = app.get("/readyz").await.expect(200);
        (ready["status"] == status).then(|| ready["degraded"].to_string())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_cannot_renew_its_lease_says_that_it_starts_nothing() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let url = db.url().unwrap();
    let app = App::new(db).await;
    problems(&app, "ready").await;
    let lock = DatabaseLock::take(&url, LOCK_LEASE).await;
    let words = problems(&app, "degraded").await;
    assert!(words.contains("no print, payment or mail is started: the lease of the database"), "{words}");
    app.material("written meanwhile", 1.0).await;
    lock.release().await;
    problems(&app, "ready").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_content_of_a_file_is_removed_only_by_a_certain_leader() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let url = db.url().unwrap();
    let app = App::new(db).await;
    let folder = app.data().join("files");
    let [doubted, certain] = [app.gcode("doubted", 60, 1.0).await, app.gcode("certain", 120, 2.0).await];
    let stored = bytes_in(&folder);
    let lock = DatabaseLock::take(&url, LOCK_LEASE).await;
    problems(&app, "degraded").await;
    assert_eq!(app.delete(&format!("/api/files/{doubted}")).await.status, 204);
    assert_eq!(bytes_in(&folder), stored, "another server may have stored the same");
    lock.release().await;
    problems(&app, "ready").await;
    assert_eq!(app.delete(&format!("/api/files/{certain}")).await.status, 204);
    assert!(bytes_in(&folder) < stored);
}

/// Deletes the lease while both servers run; it is created again, the same server leads, and the other one can still
/// take over later.
async fn vanishes(sql: &str) {
    let Some(mut pair) = Pair::start().await else { return };
    let (second, first) = (&pair.second, &mut pair.first);
    first.db.execute(first, sql).await;
    until("the lease to be recreated", || async {
        first.log().iter().any(|line| line.contains("was missing; recreated it")).then_some(())
    })
    .await;
    stands_by(second, first).await;
    first.material("written afterwards", 1.0).await;
    first.kill_9();
    second.until_ready().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_whose_table_vanishes_is_made_again() {
    vanishes("DROP TABLE printfloor_leader").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_whose_row_vanishes_is_made_again() {
    vanishes("DELETE FROM printfloor_leader").await;
}

/// Makes the check for a newer version exceed its timeout: the standby must not forget what it has read of the lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_that_cannot_look_at_the_version_in_time_still_reads_the_lease() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let url = db.url().unwrap();
    let app = App::new(db).await;
    let settings = TestDatabase::at(&url).settings;
    let holder = LeaseHolder { id: "a standby".to_owned(), is_server: true, address: String::new() };
    let mut watch = LeaseWatch::open(settings, holder).await.unwrap();
    let lock = DatabaseLock::take(&url, LOCK_MIGRATIONS).await;
    for _ in 0..2 {
        let attempt = watch.attempt().await.unwrap_or_else(|error| panic!("{error}"));
        assert!(matches!(attempt, LeaseAttempt::Held(leader) if leader.is_server));
    }
    lock.release().await;
    app.get("/readyz").await.expect(200);
}
