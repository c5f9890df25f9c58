//! PostgreSQL programs that outlive a killed command.

use std::fs;

use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, TransactionTrait as _};

use crate::billing::invoices::sent;
use crate::support::contents::contents_at;
use crate::support::{App, Db};

/// SQL that creates the mark of an unfinished restore, as the killed command would have done.
const UNFINISHED_MARK: &str =
    "CREATE TABLE IF NOT EXISTS printfloor_restore_unfinished (at TIMESTAMP NOT NULL DEFAULT now())";

/// Leaves a `pg_restore` in the middle of a transaction that holds a table which the next restore also creates.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_ends_what_an_interrupted_one_still_does_in_the_database() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let mut app = App::new(db).await;
    sent(&app, "ann@example.org").await;
    app.stop().await;
    let file = app.folder().join("shop.tar");
    let file = file.to_str().unwrap();
    app.command(&["backup", file], "");

    let restored = App::on(Db::postgres().await.unwrap()).secrets_of(&app).prepare();
    let (url, mark) = (restored.db.url().unwrap(), restored.data().join("restore.unfinished"));
    let is_marked = || fs::read(&mark).is_ok_and(|text| text.ends_with(b"}"));
    restored.command_killed_when(&["restore", file], is_marked);
    assert!(is_marked(), "it was interrupted");
    let mut options = ConnectOptions::new(format!("{url}?application_name=pg_restore"));
    options.max_connections(1).sqlx_logging(false);
    let session = Database::connect(options).await.unwrap();
    session.execute_unprepared(UNFINISHED_MARK).await.unwrap();
    let transaction = session.begin().await.unwrap();
    transaction.execute_unprepared("CREATE TABLE orders (id TEXT)").await.unwrap();

    let (is_done, words) = restored.command_with_notes(&["restore", file]);
    assert!(is_done && words.contains("all verified") && words.contains("was interrupted"), "{words}");
    assert!(transaction.commit().await.is_err(), "it was ended");
    assert_eq!(contents_at(&url).await["invoices"].rows, 1);
}
