//! The lease of the database under a leader: it cannot be renewed for a while, or vanishes.

use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, TransactionTrait as _};

use super::{Pair, stands_by};
use crate::support::{App, Db, until};

/// Waits until the server's readiness has this status; returns its problems.
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
    let mut options = ConnectOptions::new(db.url().unwrap());
    options.max_connections(1).sqlx_logging(false);
    let app = App::new(db).await;
    problems(&app, "ready").await;
    // Whoever locks the row keeps the lease from being renewed, and nothing else.
    let outside = Database::connect(options).await.unwrap();
    let locked = outside.begin().await.unwrap();
    locked.execute_unprepared("SELECT * FROM printfloor_leader FOR UPDATE").await.unwrap();
    let words = problems(&app, "degraded").await;
    assert!(words.contains("no print, payment or mail is started: the lease of the database"), "{words}");
    app.material("written meanwhile", 1.0).await;
    locked.rollback().await.unwrap();
    problems(&app, "ready").await;
    outside.close().await.unwrap();
}

/// Removes the lease under both servers, which make it again: the same one leads, and the other one takes over later.
async fn vanishes(sql: &str) {
    let Some(mut pair) = Pair::start().await else { return };
    let (second, first) = (&pair.second, &mut pair.first);
    first.db.execute(first, sql).await;
    until("the lease to be made again", || async {
        first.log().iter().any(|line| line.contains("it was made again")).then_some(())
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
