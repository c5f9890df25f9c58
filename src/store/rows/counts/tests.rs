#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use sea_orm::{DatabaseBackend, DatabaseConnection};

use super::*;
use crate::rows::samples::{
    at, attempt, file, id, job, mail, material, migrate_again, movement, on_each, order, payment, write,
};
use crate::rows::{Audit, Batch, SCHEMA_NUMBER, Snapshot, SnapshotRow};
use domain::audit::chain::ChainHead;
use domain::file::{FileKind, PhotoSubject};
use domain::job::{AttemptState, JobState};
use domain::material::MaterialRow;
use domain::order::{Order, OrderKind, OrderRow, OrderStatus};
use entities::{customers, invoices};

/// Numbers of rows by list and key.
type Numbers = BTreeMap<(String, String), i64>;

/// Random numbers that are the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

async fn read(db: &DatabaseConnection, sql: &str) -> Numbers {
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
    let number = |row: &QueryResult| {
        let place = (row.try_get("", "list").unwrap(), row.try_get("", "key").unwrap());
        (place, row.try_get("", "entries").unwrap())
    };
    rows.iter().map(number).collect()
}

/// Returns the numbers that are kept.
async fn stored(db: &DatabaseConnection) -> Numbers {
    read(db, "SELECT list, key, entries FROM row_counts").await
}

/// Counts all rows, which happens nowhere else.
async fn recount(db: &DatabaseConnection) -> Numbers {
    let mut numbers = Numbers::new();
    for RowCount { table, list, key, which } in ROW_COUNTS {
        let sql = format!(
            "SELECT {list} AS list, {key} AS key, COUNT(*) AS entries FROM {table} WHERE {which} GROUP BY 1, 2"
        );
        numbers.append(&mut read(db, &sql).await);
    }
    numbers
}

/// Writes a few random rows, some of which are new and some replace others.
fn random_batch(draw: &mut Draw, versions: &mut BTreeMap<u128, i64>) -> Batch {
    let mut batch = Batch::default();
    let n = u128::from(draw.below(12)) + 1;
    let mut own = order(n);
    own.status = draw.one_of(&[OrderStatus::Paid, OrderStatus::Shipped, OrderStatus::PaymentFailed]);
    own.kind = draw.one_of(&[OrderKind::Catalog, OrderKind::Manual]);
    own.site = ["main", "the fair"][n as usize % 2].to_owned();
    own.customer_email = draw.one_of(&[None, Some("ann@example.org"), Some("bob@example.org")]).map(str::to_owned);
    let version = versions.entry(n).or_insert(0);
    *version += 1;
    batch.push_snapshot(own.snapshot(own.id, *version, false).unwrap());
    for _ in 0..draw.below(4) {
        let mut one = job(100 + u128::from(draw.below(20)), n);
        one.state = draw.one_of(&[JobState::Sliced, JobState::Completed]);
        one.unsigned = draw.below(2) == 0;
        batch.push_row(&OrderRow::Job(Arc::new(one))).unwrap();
        let mut tried = attempt(200 + u128::from(draw.below(20)), 100, n, 1);
        tried.state = draw.one_of(&[AttemptState::Claimed, AttemptState::Finished]);
        tried.printer_id = id(500 + u128::from(draw.below(2)));
        batch.push_row(&OrderRow::Attempt(tried)).unwrap();
        batch.push_row(&OrderRow::Payment(payment(300 + u128::from(draw.below(20)), n))).unwrap();
    }
    batch
}

/// Adds rows to a random batch of which each round writes new ones, and files.
fn push_new_rows(batch: &mut Batch, draw: &mut Draw, head: &mut ChainHead, round: u128) {
    batch.push_row(&MaterialRow::Movement(movement(1_000 + round, 200 + round % 3, 5))).unwrap();
    let action = draw.one_of(&["order.cancel", "order.ship"]).to_owned();
    batch.push_audit(Audit { action, ..line(2_000 + round) }, head);
    let mut one = file(3_000 + round % 10);
    one.kind = draw.one_of(&[FileKind::Gcode, FileKind::Image]);
    one.archived = draw.below(3) == 0;
    one.photo_of = (draw.below(2) == 0).then(|| PhotoSubject { order: id(1), job: id(2), attempt: id(3) });
    batch.push_snapshot(one.snapshot(one.id, 1 + (round / 10) as i64, true).unwrap());
}

#[tokio::test]
async fn numbers_are_those_of_the_rows_whatever_is_written() {
    on_each(async |db| {
        let (mut draw, mut versions, mut head) = (Draw(7), BTreeMap::new(), ChainHead::default());
        for round in 0..40_u128 {
            let mut batch = random_batch(&mut draw, &mut versions);
            push_new_rows(&mut batch, &mut draw, &mut head, round);
            write(db, batch).await.unwrap();
            assert_eq!(stored(db).await, recount(db).await, "round {round}");
        }
    })
    .await;
}

/// Builds customer `n`, an invoice to them that may be issued, and a payment for it.
fn invoice_batch(n: u128) -> Batch {
    let mut batch = Batch::default();
    let customer_email = format!("{n}@example.org");
    batch.push_snapshot(SnapshotRow::new(customers::Model {
        id: id(5_000 + n).to_string(),
        version: 1,
        schema: SCHEMA_NUMBER,
        doc: "{}".to_owned(),
        email: customer_email.clone(),
        name: None,
        created_at: at(0).0,
    }));
    let is_issued = !n.is_multiple_of(3);
    batch.push_snapshot(SnapshotRow::new(invoices::Model {
        id: id(6_000 + n).to_string(),
        version: 1,
        schema: SCHEMA_NUMBER,
        doc: "{}".to_owned(),
        status: if is_issued { "open" } else { "draft" }.to_owned(),
        site: ["main", "the fair"][n as usize % 2].to_owned(),
        order_id: None,
        customer_email: Some(customer_email),
        due_at: None,
        issued_at: is_issued.then_some(at(0).0),
        total_cents: 2_500,
        payment_session: None,
        active: false,
        created_at: at(0).0,
    }));
    batch.push_row(&OrderRow::Payment(payment(7_000 + n, 6_000 + n))).unwrap();
    batch
}

#[tokio::test]
async fn the_first_start_counts_what_an_earlier_release_wrote() {
    on_each(async |db| {
        let (mut draw, mut versions, mut head) = (Draw(11), BTreeMap::new(), ChainHead::default());
        for round in 0..20_u128 {
            let mut batch = random_batch(&mut draw, &mut versions);
            push_new_rows(&mut batch, &mut draw, &mut head, round);
            write(db, batch).await.unwrap();
            write(db, invoice_batch(round)).await.unwrap();
        }
        migrate_again(db, "m20261201_000062_row_counts", &["DROP TABLE row_counts"]).await;
        let first = stored(db).await;
        assert_eq!(first, recount(db).await);
        let lists: BTreeSet<&str> = first.keys().filter_map(|(list, _)| list.split(' ').next()).collect();
        let tables =
            ROW_COUNTS.iter().map(|count| count.list.trim_start_matches('\'').split([' ', '\'']).next().unwrap());
        assert_eq!(lists, tables.collect::<BTreeSet<_>>(), "each list has rows");
    })
    .await;
}

#[tokio::test]
async fn a_transaction_that_is_refused_changes_no_number() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(order(1).snapshot(id(1), 1, false).unwrap());
        write(db, batch).await.unwrap();
        let before = stored(db).await;
        let mut batch = Batch::default();
        batch.push_snapshot(order(2).snapshot(id(2), 1, false).unwrap());
        batch.push_snapshot(order(1).snapshot(id(1), 3, false).unwrap());
        assert!(matches!(write(db, batch).await, Err(WriteError::Guard("orders"))));
        assert_eq!(stored(db).await, before);
    })
    .await;
}

/// Builds a line of the audit log.
fn line(n: u128) -> Audit {
    Audit {
        id: id(n),
        at: at(0),
        actor: "machine".to_owned(),
        action: "order.ship".to_owned(),
        subject_kind: "order".to_owned(),
        subject_id: id(1),
        request_id: None,
        outcome: "done".to_owned(),
        detail: None,
    }
}

/// Writes a batch, and returns its statements that are about numbers and sums: those with a JSON parameter.
async fn statements_of(db: &DatabaseConnection, batch: Batch) -> Vec<String> {
    let all: Arc<Mutex<Vec<String>>> = Arc::default();
    let (mut watched, log) = (db.clone(), all.clone());
    watched.set_metric_callback(move |info| log.lock().unwrap().push(info.statement.sql.clone()));
    write(&watched, batch).await.unwrap();
    let is_about_numbers = |sql: &&String| sql.contains("json_each($") || sql.contains("json_array_elements");
    all.lock().unwrap().iter().filter(is_about_numbers).cloned().collect()
}

/// Builds the rows for one step of a job with an attempt.
fn step(n: u128, state: AttemptState) -> [OrderRow; 2] {
    let (of_job, mut tried) = (job(1_000 + n, 1), attempt(5_000 + n, 1_000 + n, 1, 1));
    (tried.state, tried.printer_id) = (state, id(500 + n % 7));
    [OrderRow::Job(Arc::new(of_job)), OrderRow::Attempt(tried)]
}

#[tokio::test]
async fn a_transaction_has_few_statements_for_its_numbers() {
    on_each(async |db| {
        let mut head = ChainHead::default();
        let mut adjustment = Batch::default();
        adjustment.push_snapshot(material(200).snapshot(id(200), 1, false).unwrap());
        adjustment.push_row(&MaterialRow::Movement(movement(1, 200, 5))).unwrap();
        adjustment.push_audit(line(2), &mut head);
        assert_eq!(statements_of(db, adjustment).await.len(), 1, "an adjustment of stock");

        for (version, status, most) in [(1, OrderStatus::Created, 2), (2, OrderStatus::Paid, 3)] {
            let mut batch = Batch::default();
            let own = Order { status, ..order(1) };
            batch.push_snapshot(own.snapshot(own.id, version, false).unwrap());
            batch.push_row(&OrderRow::Job(Arc::new(job(10, 1)))).unwrap();
            batch.push_audit(line(2 + version as u128), &mut head);
            assert_eq!(statements_of(db, batch).await.len(), most, "version {version} of an order");
        }

        for (version, state) in [(3, AttemptState::Claimed), (4, AttemptState::Confirmed), (5, AttemptState::Finished)]
        {
            let mut batch = Batch::default();
            batch.push_snapshot(order(1).snapshot(id(1), version, false).unwrap());
            step(0, state).iter().for_each(|row| batch.push_row(row).unwrap());
            batch.push_audit(line(10 + version as u128), &mut head);
            let statements = statements_of(db, batch).await;
            assert!(statements.len() <= 6, "{state:?}: {statements:#?}");
        }
        let mut rest = Batch::default();
        rest.push_snapshot(mail(1).snapshot(id(1), 1, false).unwrap());
        assert!(statements_of(db, rest).await.is_empty(), "rows that are not counted");
    })
    .await;
}

#[tokio::test]
async fn a_thousand_steps_have_the_statements_of_one() {
    on_each(async |db| {
        let mut texts = BTreeSet::new();
        for (count, state) in [
            (1, AttemptState::Claimed),
            (7, AttemptState::Confirmed),
            (100, AttemptState::Claimed),
            (1_000, AttemptState::Finished),
            (1_000, AttemptState::Failed),
        ] {
            let mut batch = Batch::default();
            (0..count).flat_map(|n| step(n, state)).for_each(|row| batch.push_row(&row).unwrap());
            let statements = statements_of(db, batch).await;
            assert!(statements.len() <= 6, "{count}: {statements:#?}");
            texts.extend(statements);
            assert_eq!(read(db, "SELECT list, key, entries FROM row_counts").await, recount(db).await, "{count} steps");
        }
        assert!(texts.len() <= 6, "{texts:#?}");
    })
    .await;
}

#[tokio::test]
async fn numbers_that_stay_as_they_were_are_not_written() {
    on_each(async |db| {
        let rows = || {
            let mut batch = Batch::default();
            step(1, AttemptState::Claimed).iter().for_each(|row| batch.push_row(row).unwrap());
            batch
        };
        write(db, rows()).await.unwrap();
        // Whatever writes a number now is refused.
        for (table, column) in [("row_counts", "entries"), ("print_sums", "attempts")] {
            let sql = match db.get_database_backend() {
                DatabaseBackend::Postgres => {
                    format!("ALTER TABLE {table} ADD CONSTRAINT frozen CHECK (list IS NULL) NOT VALID")
                }
                _ => format!(
                    "CREATE TRIGGER frozen_{table} BEFORE UPDATE OF {column} ON {table} \
                     BEGIN SELECT RAISE(ABORT, 'frozen'); END"
                ),
            };
            db.execute_unprepared(&sql).await.unwrap();
        }
        write(db, rows()).await.unwrap();
        let mut batch = Batch::default();
        step(1, AttemptState::Confirmed).iter().for_each(|row| batch.push_row(row).unwrap());
        assert!(write(db, batch).await.is_err(), "a number that changes is written");
    })
    .await;
}

#[tokio::test]
async fn numbers_of_no_rows_are_deleted_by_their_keys() {
    on_each(async |db| {
        let mut one = order(1);
        write_version(db, &one, 1).await;
        one.customer_email = None;
        write_version(db, &one, 2).await;
        let stored = read(db, "SELECT list, key, entries FROM row_counts WHERE list = 'order_mails'").await;
        assert!(stored.is_empty(), "nobody's address stays: {stored:?}");
        if db.get_database_backend() != DatabaseBackend::Sqlite {
            return;
        }
        let sql = format!("EXPLAIN QUERY PLAN {}", CountStatements::of(DatabaseBackend::Sqlite).remove);
        let statement = Statement::from_sql_and_values(DatabaseBackend::Sqlite, sql, ["[]".into()]);
        let rows = db.query_all_raw(statement).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.try_get("", "detail").unwrap()).collect();
        let search = "SEARCH row_counts USING PRIMARY KEY (list=? AND key=?)";
        assert!(plan.iter().any(|line| line == search), "{plan:?}");
    })
    .await;
}

async fn write_version(db: &DatabaseConnection, order: &Order, version: i64) {
    let mut batch = Batch::default();
    batch.push_snapshot(order.snapshot(order.id, version, false).unwrap());
    write(db, batch).await.unwrap();
}
