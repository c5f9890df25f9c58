#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use sea_orm::{EntityTrait, PaginatorTrait, Statement};

use super::*;
use crate::rows::samples::{at, event, id, on_each, write};
use crate::rows::{Batch, IdempotentAnswer};
use entities::{events, idempotency};

/// Number of old rows of a kind; more than two portions.
const ROWS: u128 = 1_200;

/// Returns a time at which the rows are old.
fn later() -> Timestamp {
    at(60 * DAY_MS)
}

/// Writes old answers for idempotency keys, and old events.
async fn write_old_rows(db: &DatabaseConnection) {
    let mut batch = Batch::default();
    for n in 1..=ROWS {
        batch.push_idempotency(IdempotentAnswer {
            key: format!("key {n}"),
            body_hash: "ab".to_owned(),
            kind: "order".to_owned(),
            aggregate_id: id(1),
            version: 1,
            answer: "{}".to_owned(),
            created_at: at(0),
            expires_at: at(1),
        });
        batch.push_event(n as i64, &event(n, "order.paid", 1)).unwrap();
    }
    write(db, batch).await.unwrap();
}

/// Runs a deletion with a clock that advances by `step` each time it is read; returns whether there is more.
async fn run(db: &DatabaseConnection, turn: usize, step: Duration) -> bool {
    let (back, has_more) = oneshot::channel();
    let (began, looks) = (Instant::now(), AtomicU32::new(0));
    let clock = move || began + step * looks.fetch_add(1, Relaxed);
    assert!(OrderedWork::retention(later(), turn, clock, back).run(&Reader::Database(db.clone())).await);
    has_more.await.unwrap()
}

#[tokio::test]
async fn each_kind_of_row_has_its_turn() {
    on_each(async |db| {
        write_old_rows(db).await;
        // The last event stays.
        let expected = [500, 500, 500, 500, 200, 199];
        for (turn, rows) in expected.into_iter().enumerate() {
            let deletion = delete_old_rows(db, later(), turn, &|| false).await.unwrap();
            assert_eq!(deletion, Deletion { rows, has_more: true }, "turn {turn}");
        }
        // However slow the database is, there is an end.
        assert_eq!(delete_old_rows(db, later(), 0, &|| false).await.unwrap(), Deletion::default());
    })
    .await;
}

#[tokio::test]
async fn a_run_ends_with_its_time_and_not_with_the_first_kind() {
    on_each(async |db| {
        write_old_rows(db).await;
        // The first reading of the clock starts the time, and the second one follows the first portion.
        assert!(run(db, 1, DELETION_TIME).await, "there was nothing of the kind whose turn it was");
        assert_eq!(idempotency::Entity::find().count(db).await.unwrap(), 1_200);
        assert!(run(db, 0, DELETION_TIME).await);
        assert_eq!(idempotency::Entity::find().count(db).await.unwrap(), 700);
        assert!(!run(db, 1, Duration::ZERO).await);
        assert_eq!(idempotency::Entity::find().count(db).await.unwrap(), 0);
        assert_eq!(events::Entity::find().count(db).await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn only_the_first_run_truncates_the_write_ahead_log() {
    on_each(async |db| {
        if db.get_database_backend() != DatabaseBackend::Sqlite {
            return;
        }
        let files = Statement::from_string(DatabaseBackend::Sqlite, "PRAGMA database_list");
        let file: String = db.query_one_raw(files).await.unwrap().unwrap().try_get("", "file").unwrap();
        let log_bytes = || std::fs::metadata(format!("{file}-wal")).unwrap().len();
        write_old_rows(db).await;
        for turn in [1, 2, 70] {
            run(db, turn, Duration::ZERO).await;
            assert!(log_bytes() > 0, "turn {turn}");
        }
        run(db, 0, Duration::ZERO).await;
        assert_eq!(log_bytes(), 0);
    })
    .await;
}
