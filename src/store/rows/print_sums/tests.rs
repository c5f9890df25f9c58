#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection, QueryResult, Statement};

use super::*;
use crate::rows::samples::{at, attempt, id, job, migrate_again, on_each, printer, write};
use crate::rows::{Batch, Snapshot};
use domain::amount::Amount;
use domain::job::{Attempt, AttemptState, Job};
use domain::order::OrderRow;
use domain::sign_off::SignOff;

const LISTS: [PrintList; 9] = [
    PrintList::Hours,
    PrintList::Printers,
    PrintList::SkuQuality,
    PrintList::PrinterQuality,
    PrintList::Reasons,
    PrintList::Materials,
    PrintList::SkuScrap,
    PrintList::PrinterScrap,
    PrintList::ReasonScrap,
];

/// Sums by list, slot, key and kind.
type Sums = BTreeMap<(String, i64, String, String), Vec<i64>>;

/// Adds the sums that a query returns.
async fn add(db: &DatabaseConnection, sums: &mut Sums, statement: Statement) {
    let text = |row: &QueryResult, name: &str| row.try_get::<String>("", name).unwrap();
    for row in db.query_all_raw(statement).await.unwrap() {
        let place = (text(&row, "list"), row.try_get("", "slot").unwrap(), text(&row, "key"), text(&row, "kind"));
        let values = SUMS.map(|name| row.try_get::<i64>("", name).unwrap());
        let sum = sums.entry(place).or_insert_with(|| vec![0; SUMS.len()]);
        sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
}

async fn stored(db: &DatabaseConnection) -> Sums {
    let mut sums = Sums::new();
    let all = Statement::from_string(db.get_database_backend(), "SELECT * FROM print_sums");
    add(db, &mut sums, all).await;
    sums
}

/// Sums up all attempts for which a condition on their time holds.
async fn recount(db: &DatabaseConnection, lists: &[PrintList], condition: impl Fn(&str) -> String) -> Sums {
    let (mut sums, backend) = (Sums::new(), db.get_database_backend());
    for list in lists {
        let sum = list.sum();
        let query = sum.query(backend, &condition(sum.time));
        add(db, &mut sums, Statement::from_string(backend, query)).await;
    }
    sums
}

/// Builds attempt `n` of ten jobs; the higher the turn, the further it has progressed.
fn attempt_at(n: u128, turn: u128) -> Attempt {
    let began = at(n as i64 * 7 * HOUR_MS);
    let mut one = attempt(100 + n, 10 + n % 10, 1, 1);
    one.created_at = began;
    one.printer_id = id(500 + n % 3);
    let state = [AttemptState::Claimed, AttemptState::Confirmed, AttemptState::Finished];
    one.state = state[turn as usize % 3];
    if turn % 3 == 2 {
        one.started_at = Some(began);
        one.ended_at = Some(began.plus_ms(HOUR_MS + n as i64 * 1_001));
        one.used = Amount::units(10 + n as i64);
        if n.is_multiple_of(5) {
            one.used_of = vec![(id(200), Amount::units(7)), (id(201), Amount::units(3 + n as i64))];
        }
        let good = if n.is_multiple_of(4) { 1 } else { 3 };
        let reason = n.is_multiple_of(8).then(|| "strings".to_owned());
        let sign_off = serde_json::json!({
            "good": good, "parts": 3, "reason": reason, "automatic": false, "by": "system", "at": began,
        });
        one.sign_off = Some(serde_json::from_value::<SignOff>(sign_off).unwrap());
    }
    one
}

async fn plant(db: &DatabaseConnection, turn: u128) {
    let mut batch = Batch::default();
    for n in 0..10 {
        let own = Job { sku_id: id(300 + n % 2), material_id: id(200 + n % 3), ..job(10 + n, 1) };
        batch.push_row(&OrderRow::Job(Arc::new(own))).unwrap();
    }
    for n in 0..60 {
        batch.push_row(&OrderRow::Attempt(attempt_at(n, turn + n))).unwrap();
    }
    write(db, batch).await.unwrap();
}

#[tokio::test]
async fn sums_are_those_of_the_attempts_as_they_are_now() {
    on_each(async |db| {
        for turn in 0..3 {
            plant(db, turn).await;
            assert_eq!(stored(db).await, recount(db, &LISTS, |_| "TRUE".to_owned()).await, "turn {turn}");
        }
    })
    .await;
}

#[tokio::test]
async fn amounts_that_no_print_uses_pass_no_limit() {
    on_each(async |db| {
        plant(db, 0).await;
        let mut batch = Batch::default();
        for n in 0..20 {
            let used = Amount(9_000_000_000_000_000);
            let (started_at, ended_at) = (Some(at(0)), Some(at(HOUR_MS)));
            let own = Attempt { used, used_of: vec![(id(200), used)], started_at, ended_at, ..attempt_at(8 * n, 2) };
            batch.push_row(&OrderRow::Attempt(own)).unwrap();
        }
        write(db, batch).await.unwrap();
        assert_eq!(stored(db).await, recount(db, &LISTS, |_| "TRUE".to_owned()).await);
    })
    .await;
}

#[tokio::test]
async fn damaged_attempts_stop_no_transaction() {
    on_each(async |db| {
        plant(db, 2).await;
        db.execute_unprepared("UPDATE attempts SET parts = 0, good = -1 WHERE judged_end IS NOT NULL").await.unwrap();
        plant(db, 1).await;
        plant(db, 2).await;
        if db.get_database_backend() == DatabaseBackend::Sqlite {
            db.execute_unprepared("UPDATE attempts SET used_of = '{\"' WHERE judged_end IS NOT NULL").await.unwrap();
            let from_damaged = recount(db, &LISTS, |_| "TRUE".to_owned()).await;
            plant(db, 2).await;
            db.execute_unprepared("UPDATE attempts SET used_of = NULL WHERE judged_end IS NOT NULL").await.unwrap();
            assert_eq!(recount(db, &LISTS, |_| "TRUE".to_owned()).await, from_damaged, "the job's material counts");
        }
    })
    .await;
}

#[tokio::test]
async fn the_first_start_sums_up_what_an_earlier_release_wrote() {
    on_each(async |db| {
        plant(db, 2).await;
        let removals =
            ["DROP TABLE print_sums", "DROP INDEX ix__attempts__failed", "DROP INDEX ix__attempts__rejected"];
        migrate_again(db, "m20261201_000064_print_sums", &removals).await;
        let first = stored(db).await;
        assert_eq!(first, recount(db, &LISTS, |_| "TRUE".to_owned()).await);
        let lists: BTreeSet<&str> = first.keys().map(|(list, ..)| list.as_str()).collect();
        assert_eq!(lists, BTreeSet::from(LISTS.map(|list| list.sum().list)), "each list has sums");
    })
    .await;
}

#[tokio::test]
async fn a_period_has_the_sums_of_its_attempts() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 500..503 {
            batch.push_snapshot(printer(n).snapshot(id(n), 1, true).unwrap());
        }
        write(db, batch).await.unwrap();
        plant(db, 2).await;
        let backend = db.get_database_backend();
        for from in [0, 1, HOUR_MS, 5 * HOUR_MS, DAY_MS, 3 * DAY_MS + 17] {
            for length in [1, HOUR_MS, 9 * HOUR_MS, DAY_MS - 1, DAY_MS, 2 * DAY_MS, 7 * DAY_MS + 3, 100 * DAY_MS] {
                let (from, to) = (at(from), at(from + length));
                for list in LISTS {
                    let PeriodQuery { sql, values } = period_sums(backend, list, from, to);
                    let mut sums = Sums::new();
                    add(db, &mut sums, Statement::from_sql_and_values(backend, sql, values)).await;
                    let within = |time: &str| format!("{time} >= {} AND {time} < {}", from.0, to.0);
                    assert_eq!(sums, recount(db, &[list], within).await, "{list:?} {from:?} {to:?}");
                }
            }
        }
    })
    .await;
}
