#![expect(clippy::unwrap_used, reason = "tests")]

mod audit;
mod mails;
mod materials;
mod newest;
mod shift;

use std::collections::BTreeMap;
use std::sync::Arc;

use sea_orm::{
    ConnectionTrait as _, DatabaseBackend, DatabaseConnection, EntityTrait, QueryResult, QueryTrait as _, Select,
    Statement,
};

use super::{
    AuditFilter, AuditPlace, AuditStretch, DeliveryFilter, EventFilter, FileFilter, JobFilter, MaterialFilter,
    OrderFilter, OwnOrders, Page, Queries, SkuFilter,
};
use crate::rows::samples::{
    at, attempt, delivery, endpoint, event, file, id, job, kept_payment_event, material, movement, on_each, order,
    payment, printer, sku, write,
};
use crate::rows::{Audit, Batch, IdempotentAnswer, Snapshot};
use ::domain::aggregate::{LastNumbers, Versioned};
use ::domain::amount::Amount;
use ::domain::audit::chain::ChainHead;
use ::domain::endpoint::DeliveryState;
use ::domain::file::File;
use ::domain::id::Id;
use ::domain::job::{Job, JobState};
use ::domain::material::MaterialRow;
use ::domain::order::{Order, OrderRow, OrderStatus, Payment};
use ::domain::promise::Promise;

const ALL: Page = Page { limit: 100, offset: 0 };

fn ids(orders: (Vec<Versioned<Order>>, u64)) -> Vec<Id> {
    orders.0.into_iter().map(|order| order.state.unwrap().id).collect()
}

/// Returns how a database reads the rows of a query.
pub(super) async fn plan<E: EntityTrait>(db: &DatabaseConnection, select: Select<E>) -> String {
    let backend = db.get_database_backend();
    let statement = select.build(backend);
    let (explain, column) = match backend {
        DatabaseBackend::Postgres => ("EXPLAIN", "QUERY PLAN"),
        _ => ("EXPLAIN QUERY PLAN", "detail"),
    };
    let sql = format!("{explain} {statement}");
    let rows = db.query_all_raw(Statement::from_string(backend, sql)).await.unwrap();
    let line = |row: &QueryResult| row.try_get::<String>("", column).unwrap();
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn orders_are_filtered_counted_and_paged_newest_first() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 1..=5 {
            let mut order = order(n);
            if n >= 4 {
                order.flags = ["refund_due", "short"][..n as usize - 3].iter().map(|flag| (*flag).to_owned()).collect();
            }
            if n == 3 {
                order.status = OrderStatus::Shipped;
                order.made_by = Some(id(901));
                order.customer_email = Some("Ann_Lee@example.org".to_lowercase());
            }
            batch.push_snapshot(order.snapshot(order.id, 1, false).unwrap());
            for (k, method) in ["processor", "cash"].into_iter().enumerate() {
                let reference = Some(format!("pi_{n}{}", "x".repeat(k)));
                let own = Payment { method: method.to_owned(), reference, ..payment(10 * n + k as u128, n) };
                batch.push_row(&OrderRow::Payment(own)).unwrap();
            }
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let list = async |filter: OrderFilter| ids(queries.orders(&filter, ALL).await.unwrap());

        let (page, total) = queries.orders(&OrderFilter::default(), Page { limit: 2, offset: 1 }).await.unwrap();
        assert_eq!((ids((page, total)), total), (vec![id(4), id(3)], 5));
        let shipped = OrderFilter { status: Some(OrderStatus::Shipped), ..OrderFilter::default() };
        assert_eq!(list(shipped).await, [id(3)]);
        assert_eq!(list(OrderFilter { site: Some("other".into()), ..OrderFilter::default() }).await, []);
        assert_eq!(list(OrderFilter { made_by: Some(id(901)), ..OrderFilter::default() }).await, [id(3)]);
        let own = OwnOrders { made_by: id(901), customer_email: Some("5@example.org".into()) };
        assert_eq!(list(OrderFilter { own: Some(own), ..OrderFilter::default() }).await, [id(5)]);
        let own = OwnOrders { made_by: id(901), customer_email: None };
        assert_eq!(list(OrderFilter { own: Some(own), ..OrderFilter::default() }).await, [id(3)]);
        let short = vec![id(5)];
        for (flag, expected) in [("short", short), ("refund_due", vec![id(5), id(4)]), ("due", vec![]), ("%", vec![])] {
            assert_eq!(
                list(OrderFilter { flag: Some(flag.into()), ..OrderFilter::default() }).await,
                expected,
                "{flag}"
            );
        }
        assert_eq!(list(OrderFilter { flagged: Some(true), ..OrderFilter::default() }).await, [id(5), id(4)]);
        assert_eq!(list(OrderFilter { flagged: Some(false), ..OrderFilter::default() }).await.len(), 3);
        let q = async |q: &str| list(OrderFilter { q: Some(q.to_owned()), ..OrderFilter::default() }).await;
        assert_eq!(q("ANN_").await, [id(3)], "no wildcard");
        assert_eq!(q("ord-000004").await, [id(4)]);
        assert_eq!(q("%").await, []);

        assert_eq!(queries.owner_of_session("cs_2").await.unwrap(), Some(id(2)));
        assert_eq!(queries.owner_of_intent("pi_4").await.unwrap(), Some(id(4)));
        for nobodys in ["pi_9", "pi_4x"] {
            assert_eq!(queries.owner_of_intent(nobodys).await.unwrap(), None);
        }
        let mut counts = queries.orders_by_status().await.unwrap();
        counts.sort_by_key(|(_, count)| *count);
        assert_eq!(counts, [(OrderStatus::Shipped, 1), (OrderStatus::Paid, 4)]);
        let flags = queries.orders_by_flag().await.unwrap();
        assert_eq!(flags, BTreeMap::from([("refund_due".to_owned(), 2), ("short".to_owned(), 1)]));
        assert_eq!(queries.highest_numbers().await.unwrap(), LastNumbers { order: 5, ..LastNumbers::default() });
    })
    .await;
}

#[tokio::test]
async fn orders_with_an_outstanding_promise_are_told_from_others() {
    on_each(async |db| {
        let promise = Promise { made_at: at(1), expected_at: at(2), promised_at: at(3), met_at: None };
        let mut batch = Batch::default();
        for (n, status, promise) in [
            (1, OrderStatus::Paid, Some(promise)),
            (2, OrderStatus::Printing, Some(promise)),
            (3, OrderStatus::Paid, None),
            (4, OrderStatus::Ready, Some(promise)),
        ] {
            // What people write is no promise.
            let notes = Some("\"promise\":{".to_owned());
            let order = Order { status, promise, notes, ..order(n) };
            batch.push_snapshot(order.snapshot(order.id, 1, false).unwrap());
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        assert_eq!(queries.promised_orders(&OrderFilter::default()).await.unwrap(), [id(2), id(1)]);
        let printing = OrderFilter { status: Some(OrderStatus::Printing), ..OrderFilter::default() };
        assert_eq!(queries.promised_orders(&printing).await.unwrap(), [id(2)]);
        let every = OrderFilter::default();
        assert_eq!(ids(queries.unpromised_orders(&every, ALL, 2).await.unwrap()), [id(4), id(3)]);
        let total = async |filter: &OrderFilter, promised: u64| {
            let nothing = Page { limit: 0, offset: 0 };
            queries.unpromised_orders(filter, nothing, promised).await.unwrap().1
        };
        assert_eq!((total(&every, 2).await, total(&printing, 1).await), (2, 0));
        assert_eq!(total(&every, 1).await, 3, "what the caller has counted is not counted again");
        let some = queries.orders_of(&[id(1), id(9), id(2)]).await.unwrap();
        assert_eq!(ids((some, 2)), [id(1), id(2)]);
        assert!(queries.orders_of(&[]).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn jobs_come_with_their_attempts() {
    on_each(async |db| {
        let mut printing = job(11, 1);
        printing.state = JobState::Printing;
        printing.printer_id = Some(id(500));
        printing.attempts = vec![attempt(20, 11, 1, 1), attempt(21, 11, 1, 2)];
        let mut batch = Batch::default();
        for row in [
            OrderRow::Job(Arc::new(job(10, 1))),
            OrderRow::Job(Arc::new(Job { attempts: Vec::new(), ..printing.clone() })),
            OrderRow::Attempt(printing.attempts[0].clone()),
            OrderRow::Attempt(printing.attempts[1].clone()),
        ] {
            batch.push_row(&row).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        assert_eq!(queries.job(id(11)).await.unwrap(), Some(printing.clone()));
        assert_eq!(queries.job(id(99)).await.unwrap(), None);
        assert_eq!(queries.order_of_job(id(10)).await.unwrap(), Some(id(1)));
        let all = JobFilter { order_id: Some(id(1)), sku_id: Some(id(300)), ..JobFilter::default() };
        assert_eq!(queries.jobs(&all, ALL).await.unwrap(), (vec![printing.clone(), job(10, 1)], 2));
        let on_it = JobFilter { printer_id: Some(id(500)), state: Some(JobState::Printing), ..JobFilter::default() };
        assert_eq!(queries.jobs(&on_it, ALL).await.unwrap(), (vec![printing], 1));
        assert_eq!(queries.highest_numbers().await.unwrap(), LastNumbers { job: 11, ..LastNumbers::default() });
        assert_eq!(queries.jobs_by_state().await.unwrap().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn jobs_that_nobody_signed_off_are_told_from_the_others() {
    on_each(async |db| {
        let mut batch = Batch::default();
        let printed = |n: u128, unsigned: bool| Job { state: JobState::Completed, unsigned, ..job(n, 1) };
        for job in [printed(10, true), printed(11, false), printed(12, true), job(13, 1)] {
            batch.push_row(&OrderRow::Job(Arc::new(job))).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let job_ids = async |unsigned: bool, except: &[u128]| -> Vec<Id> {
            let except = except.iter().map(|n| id(*n)).collect();
            let filter = JobFilter { unsigned: Some(unsigned), except, ..JobFilter::default() };
            queries.jobs(&filter, ALL).await.unwrap().0.into_iter().map(|job| job.id).collect()
        };
        assert_eq!(job_ids(true, &[]).await, [12, 10].map(id));
        assert_eq!(job_ids(false, &[]).await, [13, 11].map(id));
        assert_eq!(job_ids(true, &[12, 13]).await, [id(10)]);
        // Signed off, its row says so.
        let mut batch = Batch::default();
        batch.push_row(&OrderRow::Job(Arc::new(printed(10, false)))).unwrap();
        write(db, batch).await.unwrap();
        assert_eq!(job_ids(true, &[]).await, [id(12)]);
    })
    .await;
}

#[tokio::test]
async fn materials_skus_and_files_are_listed() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(material(200).snapshot(id(200), 3, false).unwrap());
        batch.push_snapshot(sku(300, "A-1").snapshot(id(300), 1, false).unwrap());
        for n in [400, 401, 402, 403] {
            batch.push_snapshot(file(n).snapshot(id(n), 1, false).unwrap());
        }
        batch.push_snapshot(printer(500).snapshot(id(500), 1, false).unwrap());
        batch.push_row(&MaterialRow::Movement(movement(1, 200, 1000))).unwrap();
        batch.push_row(&MaterialRow::Movement(movement(2, 200, -400))).unwrap();
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());

        let q = |q: &str| Some(q.to_owned());
        let (materials, total) =
            queries.materials(&MaterialFilter { q: q("100% BLACK"), kind: None }, ALL).await.unwrap();
        assert_eq!((total, materials[0].version, materials[0].state.as_ref()), (1, 3, Some(&material(200))));
        assert_eq!(queries.skus(&SkuFilter { q: q("a-1"), ..SkuFilter::default() }, ALL).await.unwrap().1, 1);
        for (name, count) in [("A Bracket", 1), ("bracket", 0), ("%", 0), ("", 0)] {
            let filter = SkuFilter { name: q(name), ..SkuFilter::default() };
            assert_eq!(queries.skus(&filter, ALL).await.unwrap().1, count, "{name}");
        }
        assert_eq!(queries.skus(&SkuFilter { public: Some(false), ..SkuFilter::default() }, ALL).await.unwrap().1, 0);
        assert_eq!(queries.files(&FileFilter { sha256: q("ab"), ..FileFilter::default() }, ALL).await.unwrap().1, 4);
        assert_eq!(queries.snapshot::<File>(id(400)).await.unwrap().state, Some(file(400)));
        assert_eq!(queries.snapshot::<File>(id(9)).await.unwrap().version, 0);
        assert_eq!(queries.movements(id(200), ALL).await.unwrap().0, [movement(2, 200, -400), movement(1, 200, 1000)]);
        assert_eq!(queries.ledger_sums(id(200)).await.unwrap(), (Amount::units(600), Amount::units(2)));
        assert_eq!(queries.ledger_sums(id(9)).await.unwrap(), (Amount::ZERO, Amount::ZERO));
    })
    .await;
}

#[tokio::test]
async fn the_outbox_is_read_in_order() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(endpoint(600).snapshot(id(600), 1, false).unwrap());
        for n in 1..=4 {
            let word = if n == 2 { "job.failed" } else { "order.paid" };
            batch.push_event(n as i64, &event(n, word, 1 + n % 2)).unwrap();
            batch.push_row(&delivery(10 + n, 600, n)).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let seqs = async |after: i64, filter: EventFilter| -> Vec<i64> {
            queries.events_after(after, &filter, 3).await.unwrap().into_iter().map(|event| event.seq).collect()
        };
        assert_eq!(seqs(0, EventFilter::default()).await, [1, 2, 3]);
        assert_eq!(seqs(1, EventFilter { events: vec!["order.paid".into()], ..EventFilter::default() }).await, [3, 4]);
        assert_eq!(seqs(0, EventFilter { subject_id: Some(id(1)), ..EventFilter::default() }).await, [2, 4]);
        assert_eq!(queries.event_range().await.unwrap(), (1, 4));
        assert_eq!(queries.last_seq().await.unwrap(), 4);
        assert_eq!(queries.timeline(id(2), Some(&["order.ready"]), ALL).await.unwrap(), (vec![], 0));
        let (timeline, total) = queries.timeline(id(2), Some(&["order.paid"]), ALL).await.unwrap();
        assert_eq!(total, 2);
        assert_eq!(timeline[0].event, event(1, "order.paid", 2));

        assert_eq!(queries.endpoints(ALL).await.unwrap().1, 1);
        assert_eq!(queries.delivery(id(11)).await.unwrap(), Some(delivery(11, 600, 1)));
        let pending = queries.pending_deliveries(id(600), Some((at(12), id(12))), 9).await.unwrap();
        assert_eq!(pending, [delivery(13, 600, 3), delivery(14, 600, 4)]);
        let (page, total) = queries.deliveries(id(600), &in_state(DeliveryState::Pending), ALL).await.unwrap();
        assert_eq!((page[0].id, total), (id(14), 4));
        assert_eq!(queries.deliveries(id(600), &in_state(DeliveryState::Failed), ALL).await.unwrap().1, 0);
        assert_eq!(queries.last_replay(id(600), id(1)).await.unwrap(), Some(0));
        assert_eq!(queries.last_replay(id(600), id(9)).await.unwrap(), None);
        assert_eq!(queries.undelivered_by_state().await.unwrap(), [(DeliveryState::Pending, 4)]);
    })
    .await;
}

fn in_state(state: DeliveryState) -> DeliveryFilter {
    DeliveryFilter { state: Some(state), event: None }
}

/// Builds the audit log entry of a cancelled order.
fn line(n: u128) -> Audit {
    Audit {
        id: id(n),
        at: at(n as i64),
        actor: "machine".to_owned(),
        action: "order.cancel".to_owned(),
        subject_kind: "order".to_owned(),
        subject_id: id(1),
        request_id: None,
        outcome: "done".to_owned(),
        detail: None,
    }
}

#[tokio::test]
async fn logs_and_keys_come_back_as_they_were_written() {
    on_each(async |db| {
        let answered = IdempotentAnswer {
            key: "k".to_owned(),
            body_hash: "ab".to_owned(),
            kind: "order".to_owned(),
            aggregate_id: id(1),
            version: 1,
            answer: "{}".to_owned(),
            created_at: at(0),
            expires_at: at(1),
        };
        let mut batch = Batch::default();
        let mut head = ChainHead::default();
        batch.push_audit(line(1), &mut head);
        batch.push_audit(line(2), &mut head);
        batch.push_idempotency(answered.clone());
        for n in [4, 3] {
            let mut event = kept_payment_event(n);
            event.done = n == 4;
            batch.push_snapshot(event.snapshot(event.id, 1, false).unwrap());
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let filter = AuditFilter { actor: Some("machine".to_owned()), ..AuditFilter::default() };
        assert_eq!(queries.audit(&filter, ALL).await.unwrap(), (vec![line(2), line(1)], 2));
        let stretch = queries.audit_stretch(&filter, None, 1).await.unwrap();
        assert_eq!((&stretch.entries, stretch.next), (&vec![line(2)], Some(AuditPlace { at: at(2), id: id(2) })));
        let stretch = queries.audit_stretch(&filter, stretch.next, 1).await.unwrap();
        assert_eq!(stretch, AuditStretch { entries: vec![line(1)], next: None });
        let orders = AuditFilter { subject_kind: Some("order".to_owned()), to: Some(at(2)), ..AuditFilter::default() };
        assert_eq!(queries.audit_stretch(&orders, None, 9).await.unwrap().entries, [line(1)]);
        let jobs = AuditFilter { action_prefix: Some("job."), ..orders };
        assert_eq!(queries.audit_stretch(&jobs, None, 9).await.unwrap(), AuditStretch::default());
        let filter = AuditFilter { subject_id: Some(id(2)), ..AuditFilter::default() };
        assert_eq!(queries.audit(&filter, ALL).await.unwrap(), (vec![], 0));
        assert_eq!(queries.idempotency("k").await.unwrap(), Some(answered));
        assert_eq!(queries.idempotency("other").await.unwrap(), None);
        let (open, total) = queries.unmatched_payments(ALL).await.unwrap();
        assert_eq!(total, 1);
        assert_eq!(open.into_iter().map(|one| one.state.unwrap()).collect::<Vec<_>>(), [kept_payment_event(3)]);
    })
    .await;
}

#[tokio::test]
async fn keys_asked_for_at_once_each_get_their_own_answer() {
    on_each(async |db| {
        let answered = |n: u128| IdempotentAnswer {
            key: format!("k{n}"),
            body_hash: "ab".to_owned(),
            kind: "order".to_owned(),
            aggregate_id: id(n),
            version: 1,
            answer: "{}".to_owned(),
            created_at: at(0),
            expires_at: at(1),
        };
        let mut batch = Batch::default();
        (0..300).for_each(|n| batch.push_idempotency(answered(n * 2)));
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        // More than one query takes, and two for the same key.
        let keys: Vec<u128> = (0..600).chain([4]).collect();
        let ask = |n: u128| {
            let queries = queries.clone();
            async move { queries.idempotency(&format!("k{n}")).await }
        };
        let look_ups = futures::future::join_all(keys.iter().copied().map(ask));
        for (n, result) in keys.iter().zip(look_ups.await) {
            assert_eq!(result.unwrap(), (n % 2 == 0).then(|| answered(*n)), "k{n}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_failing_look_up_of_keys_is_told_to_all_who_asked() {
    on_each(async |db| {
        let queries = Queries::new(db.clone());
        db.execute_unprepared("ALTER TABLE idempotency RENAME TO away").await.unwrap();
        let ask = |key: &'static str| {
            let queries = queries.clone();
            async move { queries.idempotency(key).await }
        };
        assert!(futures::future::join_all(["k0", "k1", "k1"].map(ask)).await.iter().all(Result::is_err));
        db.execute_unprepared("ALTER TABLE away RENAME TO idempotency").await.unwrap();
        assert_eq!(queries.idempotency("k0").await.unwrap(), None);
    })
    .await;
}
