//! Recount of numbers and sums: compares the stored values with the rows, and corrects any that differ.

use std::fmt::{self, Display, Formatter};

use sea_orm::{ConnectionTrait, DbErr, Statement};

use crate::rows::counts::{ROW_COUNTS, RowCount};
use crate::rows::print_sums::{SUMS, added_sums, all_sums, slot_start};

/// Maximum number of keys of each table whose wrong numbers are listed.
const MAX_KEYS_LISTED: usize = 100;

/// Stored number that is not the one of the rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrongNumber {
    /// Description of what is counted.
    pub place: String,
    /// Stored number; 0 if there is none.
    pub stored: i64,
    /// Number that the rows have.
    pub counted: i64,
}

impl Display for WrongNumber {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { place, stored, counted } = self;
        write!(f, "{place}: {stored} is stored, but the rows have {counted}")
    }
}

/// Counts all rows, and lists the first numbers that are wrong. Each table of numbers is compared as it is at one
/// moment, so that a server may write meanwhile.
pub(crate) async fn wrong_numbers(db: &impl ConnectionTrait) -> Result<Vec<WrongNumber>, DbErr> {
    let backend = db.get_database_backend();
    let mut wrong = Vec::new();
    let sql = format!("{} ORDER BY list, key LIMIT {MAX_KEYS_LISTED}", differing_counts());
    for row in db.query_all_raw(Statement::from_string(backend, sql)).await? {
        let (list, key): (String, String) = (row.try_get("", "list")?, row.try_get("", "key")?);
        let (missing, stored): (i64, i64) = (row.try_get("", "entries")?, row.try_get("", "stored")?);
        wrong.push(WrongNumber { place: format!("{list}, {key}"), stored, counted: stored + missing });
    }
    let sql = format!("{} ORDER BY list, slot, key, kind LIMIT {MAX_KEYS_LISTED}", differing_sums(db));
    for row in db.query_all_raw(Statement::from_string(backend, sql)).await? {
        let [list, key, kind]: [String; 3] =
            [row.try_get("", "list")?, row.try_get("", "key")?, row.try_get("", "kind")?];
        let start = slot_start(&list, row.try_get("", "slot")?).to_string();
        let words: Vec<String> = [list, start, key, kind].into_iter().filter(|word| !word.is_empty()).collect();
        for name in SUMS {
            let (missing, stored): (i64, i64) = (row.try_get("", name)?, row.try_get("", &format!("stored_{name}"))?);
            if missing != 0 {
                let place = format!("prints: {}: {name}", words.join(", "));
                wrong.push(WrongNumber { place, stored, counted: stored + missing });
            }
        }
    }
    Ok(wrong)
}

/// Corrects all wrong numbers and sums, and returns how many there were. Nothing else may write meanwhile.
pub(crate) async fn correct_numbers(tx: &impl ConnectionTrait) -> Result<u64, DbErr> {
    let (names, backend) = (SUMS.join(", "), tx.get_database_backend());
    let counts = format!(
        "INSERT INTO row_counts (list, key, entries) SELECT list, key, entries FROM ({}) AS wrong WHERE TRUE \
         ORDER BY list, key ON CONFLICT (list, key) DO UPDATE SET entries = row_counts.entries + excluded.entries",
        differing_counts()
    );
    let sums = format!(
        "INSERT INTO print_sums (list, slot, key, kind, {names}) SELECT list, slot, key, kind, {names} \
         FROM ({}) AS wrong WHERE TRUE ORDER BY list, slot, key, kind \
         ON CONFLICT (list, slot, key, kind) DO UPDATE SET {}",
        differing_sums(tx),
        added_sums()
    );
    let mut corrected = 0;
    for sql in [counts, sums] {
        corrected += tx.execute_raw(Statement::from_string(backend, sql)).await?.rows_affected();
    }
    for sql in ["DELETE FROM row_counts WHERE entries = 0", "DELETE FROM print_sums WHERE attempts = 0"] {
        tx.execute_raw(Statement::from_string(backend, sql)).await?;
    }
    Ok(corrected)
}

/// Returns the query for the numbers of rows that are wrong: how much is missing, which may be negative, and what is
/// stored.
fn differing_counts() -> String {
    let count = |RowCount { table, list, key, which }: &RowCount| {
        format!("SELECT {list}, {key}, COUNT(*), 0 FROM {table} WHERE {which} GROUP BY 1, 2")
    };
    format!(
        "SELECT list, key, CAST(SUM(entries) AS BIGINT) AS entries, CAST(SUM(stored) AS BIGINT) AS stored \
         FROM (SELECT list, key, -entries AS entries, entries AS stored FROM row_counts UNION ALL {}) AS compared \
         GROUP BY list, key HAVING SUM(entries) <> 0",
        ROW_COUNTS.iter().map(count).collect::<Vec<_>>().join(" UNION ALL ")
    )
}

/// Returns the query for the sums that are wrong: how much is missing of each, which may be negative, and what is
/// stored.
fn differing_sums(db: &impl ConnectionTrait) -> String {
    let stored = SUMS.map(|name| format!("-{name} AS {name}, {name} AS stored_{name}")).join(", ");
    let counted = SUMS.map(|name| format!("{name}, 0")).join(", ");
    let both = SUMS.map(|name| {
        format!("CAST(SUM({name}) AS BIGINT) AS {name}, CAST(SUM(stored_{name}) AS BIGINT) AS stored_{name}")
    });
    format!(
        "SELECT list, slot, key, kind, {} FROM (SELECT list, slot, key, kind, {stored} FROM print_sums \
         UNION ALL SELECT list, slot, key, kind, {counted} FROM ({}) AS counted) AS compared \
         GROUP BY list, slot, key, kind HAVING {}",
        both.join(", "),
        all_sums(db.get_database_backend()),
        SUMS.map(|name| format!("SUM({name}) <> 0")).join(" OR ")
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::sync::Arc;

    use super::*;
    use crate::rows::samples::{at, attempt, id, job, on_each, order, write};
    use crate::rows::{Batch, Snapshot};
    use domain::job::{Attempt, AttemptState};
    use domain::order::OrderRow;

    #[tokio::test]
    async fn wrong_numbers_are_listed_and_corrected() {
        on_each(async |db| {
            let mut batch = Batch::default();
            batch.push_snapshot(order(1).snapshot(id(1), 1, false).unwrap());
            batch.push_row(&OrderRow::Job(Arc::new(job(10, 1)))).unwrap();
            let (state, started_at, ended_at) = (AttemptState::Finished, Some(at(0)), Some(at(60_000)));
            let own = Attempt { state, started_at, ended_at, ..attempt(20, 10, 1, 1) };
            batch.push_row(&OrderRow::Attempt(own)).unwrap();
            write(db, batch).await.unwrap();
            assert!(wrong_numbers(db).await.unwrap().is_empty());
            assert_eq!(correct_numbers(db).await.unwrap(), 0);

            for sql in [
                "UPDATE row_counts SET entries = 7 WHERE list = 'jobs'",
                "DELETE FROM row_counts WHERE list = 'order_mails'",
                "INSERT INTO row_counts (list, key, entries) VALUES ('orders', 'of nobody', 2)",
                "UPDATE print_sums SET print_ms = 1, attempts = 3 WHERE list = 'hours'",
                "DELETE FROM print_sums WHERE list = 'printers'",
            ] {
                db.execute_unprepared(sql).await.unwrap();
            }
            let wrong: Vec<String> = wrong_numbers(db).await.unwrap().iter().map(WrongNumber::to_string).collect();
            let printer = format!("prints: printers, 2023-11-14T00:00:00.000Z, {}, finished", id(500));
            let expected = [
                "jobs, SLICED: 7 is stored, but the rows have 1".to_owned(),
                "order_mails, 1@example.org: 0 is stored, but the rows have 1".to_owned(),
                "orders, of nobody: 2 is stored, but the rows have 0".to_owned(),
                "prints: hours, 2023-11-14T22:00:00.000Z, finished: attempts: 3 is stored, but the rows have 1"
                    .to_owned(),
                "prints: hours, 2023-11-14T22:00:00.000Z, finished: print_ms: 1 is stored, but the rows have 60000"
                    .to_owned(),
                format!("{printer}: attempts: 0 is stored, but the rows have 1"),
                format!("{printer}: prints: 0 is stored, but the rows have 1"),
                format!("{printer}: print_ms: 0 is stored, but the rows have 60000"),
            ];
            assert_eq!(wrong, expected);
            assert_eq!(correct_numbers(db).await.unwrap(), 5, "three numbers, and the sums of two slots");
            assert!(wrong_numbers(db).await.unwrap().is_empty());
            let unused = "SELECT key FROM row_counts WHERE entries = 0 UNION ALL \
                          SELECT key FROM print_sums WHERE attempts = 0";
            let unused = db.query_all_raw(Statement::from_string(db.get_database_backend(), unused)).await.unwrap();
            assert!(unused.is_empty(), "what no row has is deleted");
        })
        .await;
    }
}
