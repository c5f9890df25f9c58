#![expect(clippy::unwrap_used, reason = "tests")]

use std::convert::Infallible;
use std::sync::Arc;

use sea_orm::{ActiveModelTrait, ConnectionTrait, DatabaseConnection, EntityTrait, Set};
use serde_json::{Value, json};

use super::LoadedAggregate;
use crate::StoredAggregate;
use crate::reader::Reader;
use crate::rows::samples::{
    access, accounting, at, attempt, channel_order, claim, custom_request, delivery, endpoint, export, file, id,
    integration, job, kept_payment_event, mail, material, number_gap, on_each, order, payment, posting, printer, quote,
    restore, sales_channel, sku, variant, write,
};
use crate::rows::{Batch, LoadError, Snapshot, StoredRow};
use domain::access::{Access, AccessRow, ApiKey, StaffSession, User};
use domain::accounting::Accounting;
use domain::aggregate::Versioned;
use domain::channel_order::ChannelOrder;
use domain::custom_request::CustomRequest;
use domain::endpoint::{DELIVERY_WINDOW, DeliveryState, Endpoint};
use domain::export::Export;
use domain::file::File;
use domain::id::Id;
use domain::integration::Integration;
use domain::invoice::Invoice;
use domain::job::AttemptState;
use domain::kept_payment_event::KeptPaymentEvent;
use domain::mail::Mail;
use domain::material::{Material, MaterialRow};
use domain::order::{Order, OrderCommand, OrderCreated, OrderRow};
use domain::posting::Posting;
use domain::printer::Printer;
use domain::quote::Quote;
use domain::restore::RestoreRow;
use domain::sales_channel::{SalesChannel, SalesChannelRow};
use domain::sku::Sku;
use domain::testing::Bench;
use domain::testing::orders::order_to;
use entities::{files, jobs};

async fn load<T: StoredAggregate>(db: &DatabaseConnection, id: Id) -> Result<Versioned<T>, LoadError> {
    Reader::Database(db.clone()).load(id).await
}

async fn load_resident<T: StoredAggregate>(db: &DatabaseConnection) -> Result<Vec<(Id, Versioned<T>)>, LoadError> {
    let all = Reader::Database(db.clone()).load_resident().await?;
    all.into_iter().map(|LoadedAggregate { id, state }| Ok((id, state?))).collect()
}

/// Writes an aggregate with its rows, and asserts that it is found again, both individually and among the residents.
async fn round_trip<T: StoredAggregate + PartialEq, R: StoredRow>(
    db: &DatabaseConnection,
    id: Id,
    whole: T,
    rows: Vec<R>,
    resident: bool,
) {
    assert_eq!(load::<T>(db, id).await.unwrap().version, 0);
    let mut batch = Batch::default();
    batch.push_snapshot(whole.snapshot(id, 1, !resident).unwrap());
    for row in &rows {
        batch.push_row(row).unwrap();
    }
    write(db, batch).await.unwrap();
    let loaded = load::<T>(db, id).await.unwrap();
    assert_eq!((loaded.version, loaded.state.as_ref()), (1, Some(&whole)));
    let all = load_resident::<T>(db).await.unwrap();
    match all.as_slice() {
        [(loaded_id, versioned)] if resident => {
            assert_eq!((*loaded_id, versioned.version, versioned.state.as_ref()), (id, 1, Some(&whole)));
        }
        others => assert!(!resident && others.is_empty(), "{others:?}"),
    }
}

#[tokio::test]
async fn every_kind_comes_back_as_it_was_written() {
    on_each(async |db| {
        round_trip::<File, Infallible>(db, id(1), file(1), vec![], false).await;
        round_trip::<Sku, Infallible>(db, id(2), sku(2, "A"), vec![], false).await;
        round_trip::<Printer, Infallible>(db, id(3), printer(3), vec![], true).await;
        round_trip::<Mail, Infallible>(db, id(4), mail(4), vec![], true).await;
        round_trip::<KeptPaymentEvent, Infallible>(db, id(5), kept_payment_event(5), vec![], true).await;
        round_trip::<Integration, Infallible>(db, id(6), integration(6), vec![], false).await;
        round_trip::<ChannelOrder, Infallible>(db, id(7), channel_order(7, 8), vec![], true).await;
        let mut channel = sales_channel(8);
        let entry = Arc::new(variant(9, 8));
        channel.variants.insert_mut(entry.variant.clone(), entry.clone());
        let rows = vec![
            SalesChannelRow::Variant(entry),
            SalesChannelRow::Variant(Arc::new(variant(10, 8))),
            SalesChannelRow::VariantGone(id(10)),
        ];
        round_trip::<SalesChannel, _>(db, id(8), channel, rows, true).await;
        round_trip::<CustomRequest, Infallible>(db, id(7), custom_request(7), vec![], false).await;
        round_trip::<Quote, Infallible>(db, id(8), quote(8), vec![], true).await;
        round_trip::<Export, Infallible>(db, id(9), export(9), vec![], true).await;
        round_trip::<Accounting, Infallible>(db, Id::ONLY, accounting(), vec![], true).await;
        round_trip::<Posting, Infallible>(db, id(10), posting(10), vec![], false).await;
        let rows = vec![RestoreRow::Gap(number_gap(12, 11, 6, 105)), RestoreRow::NoGap(id(13))];
        round_trip(db, id(11), restore(11), rows, true).await;
    })
    .await;
}

/// Writes an aggregate, first in its initial and then in its final state, and asserts that it is loaded at startup only
/// until it is at rest.
async fn leaves_at_its_end<T: StoredAggregate>(db: &DatabaseConnection, n: u128, whole: T, end: (&str, Value)) {
    let mut doc = serde_json::to_value(&whole).unwrap();
    doc[end.0] = end.1;
    let over: T = serde_json::from_value(doc).unwrap();
    assert!(over.at_rest(), "{} {n} is at its end", T::KIND);
    for (version, state) in [(1, whole), (2, over)] {
        let mut batch = Batch::default();
        batch.push_snapshot(state.snapshot(id(n), version, state.at_rest()).unwrap());
        write(db, batch).await.unwrap();
        let resident = load_resident::<T>(db).await.unwrap();
        let is_loaded = resident.iter().any(|(one, _)| *one == id(n));
        assert_eq!(is_loaded, !state.at_rest(), "{} at version {version}", T::KIND);
    }
}

#[tokio::test]
async fn what_is_over_is_not_loaded_at_start() {
    on_each(async |db| {
        leaves_at_its_end(db, 1, order(1), ("status", json!("shipped"))).await;
        leaves_at_its_end(db, 2, printer(2), ("archived", json!(true))).await;
        leaves_at_its_end(db, 3, material(3), ("archived", json!(true))).await;
        leaves_at_its_end(db, 4, mail(4), ("state", json!("sent"))).await;
        leaves_at_its_end(db, 5, mail(5), ("state", json!("failed"))).await;
        leaves_at_its_end(db, 11, mail(11), ("state", json!("dismissed"))).await;
        leaves_at_its_end(db, 6, kept_payment_event(6), ("done", json!(true))).await;
        leaves_at_its_end(db, 7, endpoint(7), ("archived", json!(true))).await;
        leaves_at_its_end(db, 8, sales_channel(8), ("archived", json!(true))).await;
        leaves_at_its_end(db, 9, quote(9), ("status", json!("declined"))).await;
        leaves_at_its_end(db, 10, export(10), ("state", json!("expired"))).await;
    })
    .await;
}

/// Checks aggregates created by another aggregate's commit: those at rest from their first commit are never loaded at
/// startup.
#[tokio::test]
async fn what_a_commit_creates_at_rest_is_not_loaded_at_start() {
    let (bench, mut shop) = (Bench::new(), None::<Order>);
    bench.tell(&mut shop, id(1), &OrderCommand::Create(Box::new(order_to("DE", 1000)))).unwrap();
    let pay = OrderCommand::MarkPaid { amount_cents: None, method: "cash".to_owned(), reference: None };
    let paid = bench.tell(&mut shop, id(1), &pay).unwrap();
    assert!(paid.created.iter().any(|one| matches!(one, OrderCreated::Invoice(_))));
    on_each(async |db| {
        let mut batch = Batch::default();
        for created in &paid.created {
            batch.push_row(created).unwrap();
        }
        batch.push_row(&mail(9_999)).unwrap();
        write(db, batch).await.unwrap();
        assert_eq!(
            load_resident::<Invoice>(db).await.unwrap().len(),
            0,
            "it follows its order and has no work of its own"
        );
        let mails = load_resident::<Mail>(db).await.unwrap();
        assert!(mails.iter().any(|(one, _)| *one == id(9_999)), "a mail that waits is sent after a start");
    })
    .await;
}

#[tokio::test]
async fn an_order_comes_back_with_jobs_attempts_and_payments() {
    on_each(async |db| {
        let mut first = job(10, 1);
        first.attempts = vec![attempt(21, 10, 1, 1), attempt(20, 10, 1, 2)];
        let mut whole = order(1);
        whole.ledger.payments = vec![payment(30, 1), payment(31, 1)];
        whole.ledger.kept_cents = 5000;
        let rows = [
            OrderRow::Attempt(first.attempts[1].clone()),
            OrderRow::Attempt(first.attempts[0].clone()),
            OrderRow::Job(Arc::new(first.clone())),
            OrderRow::Job(Arc::new(job(11, 1))),
            OrderRow::Payment(whole.ledger.payments[1].clone()),
            OrderRow::Payment(whole.ledger.payments[0].clone()),
        ];
        for job in [first, job(11, 1)] {
            whole.jobs.insert_mut(job.id, Arc::new(job));
        }
        let order_before = whole.clone();
        round_trip(db, id(1), whole, rows.into(), true).await;
        let stored = jobs::Entity::find_by_id(id(10).to_string()).one(db).await.unwrap().unwrap();
        assert!(!stored.doc.contains(&id(20).to_string()), "attempts are stored once: {}", stored.doc);

        // An order at rest is not resident, and its rows come with nobody else's.
        let mut resting = Batch::default();
        resting.push_snapshot(order(2).snapshot(id(2), 1, true).unwrap());
        resting.push_row(&OrderRow::Job(Arc::new(job(12, 2)))).unwrap();
        write(db, resting).await.unwrap();
        let resident = load_resident::<Order>(db).await.unwrap();
        assert_eq!(resident.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [id(1)]);
        let other = load::<Order>(db, id(2)).await.unwrap().state.unwrap();
        assert_eq!(other.jobs.keys().copied().collect::<Vec<_>>(), [id(12)]);

        // A job that was written by an older release has copies of its attempts; their rows are newer.
        let doc = serde_json::to_string(&**order_before.jobs.get(&id(10)).unwrap()).unwrap().replace('\'', "''");
        db.execute_unprepared(&format!("UPDATE jobs SET doc = '{doc}' WHERE id = '{}'", id(10))).await.unwrap();
        let mut done = attempt(20, 10, 1, 2);
        done.state = AttemptState::Finished;
        let mut batch = Batch::default();
        batch.push_row(&OrderRow::Attempt(done)).unwrap();
        write(db, batch).await.unwrap();
        let loaded = load::<Order>(db, id(1)).await.unwrap().state.unwrap();
        assert_eq!(loaded.jobs.get(&id(10)).unwrap().attempts[1].state, AttemptState::Finished);
    })
    .await;
}

#[tokio::test]
async fn a_material_comes_back_with_its_claims() {
    on_each(async |db| {
        let claims = [claim(10, 200), claim(11, 200)];
        let whole = material(200).hydrate(claims.clone(), []);
        round_trip::<Material, _>(db, id(200), whole, claims.map(MaterialRow::Claim).into(), true).await;
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_comes_back_with_its_earliest_pending_deliveries() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(endpoint(600).snapshot(id(600), 1, false).unwrap());
        for n in (0..50).rev() {
            let mut delivery = delivery(1000 + n, 600, n);
            if n < 5 {
                delivery.state = DeliveryState::Delivered;
            }
            batch.push_row(&delivery).unwrap();
        }
        write(db, batch).await.unwrap();
        for loaded in [
            load::<Endpoint>(db, id(600)).await.unwrap(),
            load_resident::<Endpoint>(db).await.unwrap().pop().unwrap().1,
        ] {
            let state = loaded.state.unwrap();
            let earliest: Vec<_> = (1005..1005 + DELIVERY_WINDOW as u128).map(id).collect();
            assert_eq!(state.window.keys().copied().collect::<Vec<_>>(), earliest);
            assert!(state.backlog);
        }
    })
    .await;
}

#[tokio::test]
async fn access_comes_back_with_staff_keys_and_sessions() {
    on_each(async |db| {
        let user: User = serde_json::from_value(json!({
            "id": id(1), "email": "a@example.org", "name": "A", "passwordHash": "h", "role": "admin", "archived": false,
            "createdAt": at(0), "updatedAt": at(0),
        }))
        .unwrap();
        let key: ApiKey = serde_json::from_value(json!({
            "id": id(2), "name": "k", "hash": "aa", "prefix": "key_live_", "last4": "1234", "role": "operator", "createdAt": at(0),
        }))
        .unwrap();
        let session = |n: u128, hash: &str| -> StaffSession {
            serde_json::from_value(json!({
                "id": id(n), "userId": id(1), "hash": hash, "createdAt": at(0), "seenAt": at(0),
            }))
            .unwrap()
        };
        let whole = access().hydrate([user.clone()], [key.clone()], [session(3, "s3")]);
        let rows = vec![
            AccessRow::User(user),
            AccessRow::ApiKey(key),
            AccessRow::Session(session(3, "s3")),
            AccessRow::Session(session(4, "s4")),
            AccessRow::SessionGone(id(4)),
        ];
        round_trip::<Access, _>(db, Id::ONLY, whole, rows, true).await;
    })
    .await;
}

#[tokio::test]
async fn a_damaged_doc_is_told_by_table_and_id() {
    on_each(async |db| {
        let row = |n: u128, schema: i64, doc: &str| files::ActiveModel {
            id: Set(id(n).to_string()),
            version: Set(1),
            schema: Set(schema),
            doc: Set(doc.to_owned()),
            name: Set(String::new()),
            kind: Set("gcode".to_owned()),
            sha256: Set(String::new()),
            attempt_id: Set(None),
            size: Set(0),
            from_customer: Set(false),
            custom_request_id: Set(None),
            model_file_id: Set(None),
            archived: Set(false),
            created_at: Set(0),
        };
        row(1, 1, "{").insert(db).await.unwrap();
        row(2, 99, "{}").insert(db).await.unwrap();
        let damaged = load::<File>(db, id(1)).await.unwrap_err().to_string();
        assert!(damaged.contains("files") && damaged.contains(&id(1).to_string()), "{damaged}");
        let newer = load::<File>(db, id(2)).await.unwrap_err().to_string();
        assert!(newer.contains("schema 99"), "{newer}");
    })
    .await;
}

#[tokio::test]
async fn a_row_that_cannot_be_read_stops_only_its_own_aggregate() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in [1, 2, 3] {
            batch.push_snapshot(order(n).snapshot(id(n), 1, false).unwrap());
            batch.push_row(&OrderRow::Job(Arc::new(job(10 + n, n)))).unwrap();
        }
        write(db, batch).await.unwrap();
        let spoil = async |table: &str, of: Id| {
            let sql = format!("UPDATE {table} SET doc = '{{' WHERE id = '{of}'");
            assert_eq!(db.execute_unprepared(&sql).await.unwrap().rows_affected(), 1);
        };
        spoil("jobs", id(11)).await;
        spoil("orders", id(2)).await;
        let all = Reader::Database(db.clone()).load_resident::<Order>().await.unwrap();
        for LoadedAggregate { id: actual_id, state } in all {
            match state {
                Ok(whole) => assert_eq!((actual_id, whole.state.unwrap().jobs.size()), (id(3), 1)),
                Err(damaged) if actual_id == id(1) => {
                    assert_eq!((damaged.table, damaged.id), ("jobs", id(11).to_string()));
                }
                Err(damaged) => assert_eq!((actual_id, damaged.table), (id(2), "orders")),
            }
        }
        assert!(load::<Order>(db, id(1)).await.is_err());
        assert!(load::<Order>(db, id(3)).await.is_ok());
    })
    .await;
}

#[tokio::test]
async fn a_session_that_cannot_be_read_locks_nobody_else_out() {
    on_each(async |db| {
        let session = |n: u128| -> StaffSession {
            serde_json::from_value(json!({
                "id": id(n), "userId": id(1), "hash": format!("s{n}"), "createdAt": at(0), "seenAt": at(0),
            }))
            .unwrap()
        };
        let mut batch = Batch::default();
        batch.push_snapshot(access().snapshot(Id::ONLY, 1, false).unwrap());
        batch.push_row(&AccessRow::Session(session(3))).unwrap();
        batch.push_row(&AccessRow::Session(session(4))).unwrap();
        write(db, batch).await.unwrap();
        let spoil = format!("UPDATE staff_sessions SET doc = '{{' WHERE id = '{}'", id(3));
        db.execute_unprepared(&spoil).await.unwrap();
        let loaded = load::<Access>(db, Id::ONLY).await.unwrap().state.unwrap();
        assert_eq!(loaded, access().hydrate([], [], [session(4)]));
    })
    .await;
}
