#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Mutex};

use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, PaginatorTrait, QueryFilter, Statement};

use super::samples::{at, claim, delivery, event, file, id, job, mail, movement, on_each, order, sku, write};
use super::{
    Batch, IdempotentAnswer, Snapshot, WriteError, purge_deliveries, purge_events, purge_exports, purge_idempotency,
    purge_mails, purge_sign_in_links,
};
use domain::access::{AccessRow, User};
use domain::endpoint::{Delivery, DeliveryState};
use domain::mail::{Mail, MailState};
use domain::material::MaterialRow;
use domain::order::OrderRow;
use entities::{claims, deliveries, events, idempotency, jobs, mails, movements, users};

fn snapshots<T: Snapshot>(aggregates: impl IntoIterator<Item = (domain::id::Id, i64, T)>) -> Batch {
    let mut batch = Batch::default();
    for (id, version, aggregate) in aggregates {
        batch.push_snapshot(aggregate.snapshot(id, version, false).unwrap());
    }
    batch
}

fn user(n: u128, archived: bool) -> User {
    serde_json::from_value(serde_json::json!({
        "id": id(n), "email": "a@example.org", "name": "A", "passwordHash": "", "role": "admin", "archived": archived,
        "createdAt": at(0), "updatedAt": at(0),
    }))
    .unwrap()
}

/// Returns that there is time for another portion.
fn has_time() -> bool {
    true
}

fn key(key: &str, expires: i64) -> IdempotentAnswer {
    IdempotentAnswer {
        key: key.to_owned(),
        body_hash: "ab".to_owned(),
        kind: "order".to_owned(),
        aggregate_id: id(1),
        version: 1,
        answer: "{}".to_owned(),
        created_at: at(0),
        expires_at: at(expires),
    }
}

#[tokio::test]
async fn a_snapshot_row_is_written_only_over_the_version_before() {
    on_each(async |db| {
        write(db, snapshots([(id(1), 1, file(1)), (id(2), 1, file(2))])).await.unwrap();
        write(db, snapshots([(id(1), 2, file(1)), (id(3), 1, file(3))])).await.unwrap();
        // One stale snapshot row among good ones is noticed, and nothing of the batch stays.
        let stale = write(db, snapshots([(id(1), 3, file(1)), (id(2), 3, file(2))])).await;
        assert!(matches!(stale, Err(WriteError::Guard("files"))), "{stale:?}");
        let again = write(db, snapshots([(id(1), 1, file(1))])).await;
        assert!(matches!(again, Err(WriteError::Guard("files"))), "{again:?}");
        let twice = write(db, snapshots([(id(1), 3, file(1)), (id(1), 4, file(1))])).await;
        assert!(matches!(twice, Err(WriteError::Guard("files"))), "{twice:?}");
        write(db, snapshots([(id(1), 3, file(1)), (id(2), 2, file(2))])).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn of_rows_with_the_same_key_the_last_word_counts() {
    on_each(async |db| {
        let mut batch = Batch::default();
        let mut later = job(10, 1);
        batch.push_row(&OrderRow::Job(Arc::new(later.clone()))).unwrap();
        later.priority = 9;
        batch.push_row(&OrderRow::Job(Arc::new(later))).unwrap();
        for row in [
            MaterialRow::Claim(claim(1, 200)),
            MaterialRow::ClaimGone(claim(1, 200).id),
            MaterialRow::Claim(claim(2, 200)),
            MaterialRow::ClaimGone(claim(2, 200).id),
            MaterialRow::Claim(claim(2, 200)),
        ] {
            batch.push_row(&row).unwrap();
        }
        write(db, batch).await.unwrap();
        let jobs = jobs::Entity::find().all(db).await.unwrap();
        assert_eq!(jobs.iter().map(|job| job.priority).collect::<Vec<_>>(), [9]);
        let left = claims::Entity::find().all(db).await.unwrap();
        assert_eq!(left.into_iter().map(|claim| claim.id).collect::<Vec<_>>(), [format!("{}/1", id(2))]);

        // Over rows that are on disk: replaced, deleted, deleted and made again.
        let mut batch = Batch::default();
        let mut changed = claim(2, 200);
        changed.priority = 1;
        batch.push_row(&MaterialRow::ClaimGone(changed.id)).unwrap();
        batch.push_row(&MaterialRow::Claim(changed)).unwrap();
        write(db, batch).await.unwrap();
        assert!(claims::Entity::find().one(db).await.unwrap().unwrap().doc.contains("\"priority\":1"));
        let mut batch = Batch::default();
        batch.push_row(&MaterialRow::ClaimGone(claim(2, 200).id)).unwrap();
        write(db, batch).await.unwrap();
        assert_eq!(claims::Entity::find().count(db).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn an_address_is_free_again_when_its_owner_is_deleted() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_row(&AccessRow::User(user(1, false))).unwrap();
        write(db, batch).await.unwrap();
        let mut batch = Batch::default();
        batch.push_row(&AccessRow::User(user(2, false))).unwrap();
        let result = write(db, batch).await;
        assert!(matches!(&result, Err(WriteError::Constraint(what)) if what == "users.email_key"), "{result:?}");
        let mut batch = Batch::default();
        batch.push_row(&AccessRow::User(user(1, true))).unwrap();
        batch.push_row(&AccessRow::User(user(2, false))).unwrap();
        write(db, batch).await.unwrap();
        assert_eq!(users::Entity::find().count(db).await.unwrap(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_taken_value_is_told_by_table_and_columns() {
    on_each(async |db| {
        let name = async |batch: Batch| match write(db, batch).await {
            Err(WriteError::Constraint(name)) => name,
            other => format!("{other:?}"),
        };
        write(db, snapshots([(id(1), 1, sku(1, "A"))])).await.unwrap();
        assert_eq!(name(snapshots([(id(2), 1, sku(2, "A"))])).await, "skus.code");

        let mut batch = Batch::default();
        batch.push_idempotency(key("k", 0));
        batch.push_idempotency(key("k", 0));
        assert_eq!(name(batch).await, "idempotency.key");

        let mut batch = Batch::default();
        batch.push_row(&delivery(1, 600, 700)).unwrap();
        batch.push_row(&delivery(2, 600, 700)).unwrap();
        assert_eq!(name(batch).await, "deliveries.endpoint_id,event_id,replay");

        let mut batch = Batch::default();
        batch.push_event(1, &event(1, "order.paid", 1)).unwrap();
        batch.push_event(1, &event(2, "order.paid", 1)).unwrap();
        assert_eq!(name(batch).await, "events.seq");

        let mut batch = snapshots([(id(1), 1, order(1))]);
        batch.push_row(&MaterialRow::Movement(movement(1, 200, 1))).unwrap();
        batch.push_row(&MaterialRow::Movement(movement(1, 200, 1))).unwrap();
        assert_eq!(name(batch).await, "movements.id");
    })
    .await;
}

#[tokio::test]
async fn large_batches_are_cut_below_the_limit_on_parameters() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 0..40_000 {
            batch.push_row(&MaterialRow::Movement(movement(n, 200, 1))).unwrap();
        }
        for n in 0..5_000 {
            batch.push_row(&mail(n)).unwrap();
            batch.push_row(&MaterialRow::Claim(claim(n, 200))).unwrap();
        }
        write(db, batch).await.unwrap();
        assert_eq!(movements::Entity::find().count(db).await.unwrap(), 40_000);
        assert_eq!(mails::Entity::find().count(db).await.unwrap(), 5_000);
        let mut batch = Batch::default();
        for n in 0..5_000 {
            batch.push_row(&MaterialRow::ClaimGone(claim(n, 200).id)).unwrap();
        }
        write(db, batch).await.unwrap();
        assert_eq!(claims::Entity::find().count(db).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn what_is_kept_for_a_time_is_purged_and_nothing_else() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_idempotency(key("old", 10));
        batch.push_idempotency(key("new", 1000));
        for n in 1..=3 {
            batch.push_event(n as i64, &event(n, "order.paid", 1)).unwrap();
        }
        let mut sent = delivery(1, 600, 1);
        sent.state = DeliveryState::Delivered;
        batch.push_row(&sent).unwrap();
        batch.push_row(&delivery(2, 600, 2)).unwrap();
        write(db, batch).await.unwrap();

        assert_eq!(purge_idempotency(db, at(10), &has_time).await.unwrap().rows, 1);
        assert_eq!(purge_events(db, at(2), &has_time).await.unwrap().rows, 1);
        assert_eq!(purge_events(db, at(1000), &has_time).await.unwrap().rows, 1, "the last event stays");
        assert_eq!(events::Entity::find().one(db).await.unwrap().unwrap().seq, 3);
        assert_eq!(purge_deliveries(db, at(1000), &has_time).await.unwrap().rows, 1, "the pending one stays");
        assert_eq!(deliveries::Entity::find().count(db).await.unwrap(), 1);

        let mut batch = Batch::default();
        for (n, state) in [
            (1, MailState::Sent),
            (2, MailState::Failed),
            (3, MailState::Queued),
            (4, MailState::Dismissed),
            (9, MailState::Sent),
        ] {
            let mail = Mail { state, next_at: at(n as i64), created_at: at(0), ..mail(n) };
            batch.push_snapshot(mail.snapshot(mail.id, 1, true).unwrap());
        }
        write(db, batch).await.unwrap();
        let gone = purge_mails(db, at(5), &has_time).await.unwrap().rows;
        assert_eq!(gone, 3, "the one that waits and the one that was tried lately stay");
        assert_eq!(mails::Entity::find().count(db).await.unwrap(), 2);
    })
    .await;
}

#[tokio::test]
async fn very_many_mails_are_purged_in_portions() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 0..6_100 {
            let state = if n < 6_000 { MailState::Sent } else { MailState::Queued };
            batch.push_snapshot(Mail { state, ..mail(n) }.snapshot(id(n), 1, true).unwrap());
        }
        write(db, batch).await.unwrap();
        for expected in [5_000, 1_000, 0] {
            assert_eq!(purge_mails(db, at(5), &has_time).await.unwrap().rows, expected);
        }
        assert_eq!(mails::Entity::find().count(db).await.unwrap(), 100);
    })
    .await;
}

#[tokio::test]
async fn very_many_events_deliveries_and_answers_are_purged_in_portions() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 1..=6_000 {
            batch.push_idempotency(key(&format!("old {n}"), 10));
            batch.push_event(n as i64, &event(n, "order.paid", 1)).unwrap();
            batch.push_row(&Delivery { state: DeliveryState::Delivered, ..delivery(n, 600, n) }).unwrap();
        }
        batch.push_idempotency(key("new", 1000));
        batch.push_row(&delivery(7_000, 600, 7_000)).unwrap();
        write(db, batch).await.unwrap();
        for expected in [5_000, 1_000, 0] {
            assert_eq!(purge_idempotency(db, at(10), &has_time).await.unwrap().rows, expected);
            assert_eq!(purge_deliveries(db, at(10_000), &has_time).await.unwrap().rows, expected);
        }
        for expected in [5_000, 999, 0] {
            assert_eq!(purge_events(db, at(10_000), &has_time).await.unwrap().rows, expected, "the last event stays");
        }
        assert_eq!(idempotency::Entity::find().count(db).await.unwrap(), 1);
        assert_eq!(deliveries::Entity::find().count(db).await.unwrap(), 1);
        assert_eq!(events::Entity::find().one(db).await.unwrap().unwrap().seq, 6_000);
    })
    .await;
}

#[tokio::test]
async fn old_mails_are_found_by_an_index() {
    on_each(async |db| {
        if db.get_database_backend() != DbBackend::Sqlite {
            return;
        }
        let deletions: Arc<Mutex<Vec<Statement>>> = Arc::default();
        let (mut watched, log) = (db.clone(), deletions.clone());
        watched.set_metric_callback(move |info| log.lock().unwrap().push(info.statement.clone()));
        purge_mails(&watched, at(5), &has_time).await.unwrap();
        let deletion = deletions.lock().unwrap()[0].clone();
        let sql = format!("EXPLAIN QUERY PLAN {}", deletion.sql);
        let rows = db.query_all_raw(Statement { sql, ..deletion }).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.try_get("", "detail").unwrap()).collect();
        assert!(plan.iter().any(|line| line.contains("ix__mails__state__next_at (state=? AND next_at<?)")), "{plan:?}");
    })
    .await;
}

#[tokio::test]
async fn portions_follow_an_index() {
    on_each(async |db| {
        let deletions: Arc<Mutex<Vec<Statement>>> = Arc::default();
        let (mut watched, log) = (db.clone(), deletions.clone());
        watched.set_metric_callback(move |info| log.lock().unwrap().push(info.statement.clone()));
        purge_idempotency(&watched, at(5), &has_time).await.unwrap();
        purge_deliveries(&watched, at(5), &has_time).await.unwrap();
        purge_events(&watched, at(5), &has_time).await.unwrap();
        purge_sign_in_links(&watched, at(5), &has_time).await.unwrap();
        purge_exports(&watched, at(5), &has_time).await.unwrap();
        purge_mails(&watched, at(5), &has_time).await.unwrap();
        let deletions = std::mem::take(&mut *deletions.lock().unwrap());
        assert_eq!(deletions.len(), 6);
        for deletion in deletions {
            assert!(deletion.sql.contains(" ORDER BY "), "{}", deletion.sql);
            // There are few exports: SQLite selects them by their state and sorts them.
            if db.get_database_backend() != DbBackend::Sqlite || deletion.sql.contains("exports") {
                continue;
            }
            let sql = format!("EXPLAIN QUERY PLAN {}", deletion.sql);
            let rows = db.query_all_raw(Statement { sql, ..deletion }).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.try_get("", "detail").unwrap()).collect();
            assert!(!plan.iter().any(|line| line.contains("TEMP B-TREE")), "{plan:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_oldest_of_very_many_rows_are_purged_first() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 1..=5_500 {
            batch.push_idempotency(key(&format!("old {n}"), 10_000 - n));
        }
        write(db, batch).await.unwrap();
        assert_eq!(purge_idempotency(db, at(10_000), &has_time).await.unwrap().rows, 5_000);
        let latest = idempotency::Column::ExpiresAt.gte(at(9_500).0);
        assert_eq!(idempotency::Entity::find().filter(latest).count(db).await.unwrap(), 500);
    })
    .await;
}
