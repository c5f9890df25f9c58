//! Rows with gapless numbers: each row gets the next number in its series when it is inserted. The only missing numbers
//! are those skipped because of a restore, and the reason is recorded.
//!
//! The last number in a series is read in the transaction that writes the next ones and is never cached in memory, so a
//! transaction that is rolled back, or whose process is killed, uses no number. Nothing else can write at the same
//! time, because there is only one writer, whose epoch is checked in the same transaction.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, IntoActiveModel, ModelTrait, Statement};

use crate::rows::statement::{ActiveOf, map_db_error, write_new};
use crate::rows::{Doc, Part, WriteError};

/// Part with numbered rows.
pub trait NumberedPart: Part {
    /// Returns the series that the part belongs to.
    fn series(&self) -> String;
    /// Returns the number within the series; 0 before it is assigned.
    fn number(&self) -> i64;
    /// Returns the part with the given number.
    fn with_number(&self, number: i64) -> Self;
}

/// Row with the columns `series` and `number`.
pub trait NumberedRow: Doc {
    /// Returns the series that the row belongs to.
    fn series(&self) -> &str;
    /// Assigns the given number to the row.
    fn set_number(&mut self, number: i64);
}

/// Inserts rows that must not exist yet, and numbers them in order.
pub(super) async fn write_numbered<M>(tx: &impl ConnectionTrait, mut rows: Vec<M>) -> Result<(), WriteError>
where
    M: ModelTrait + NumberedRow + IntoActiveModel<ActiveOf<M>> + 'static,
{
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    for row in &mut rows {
        let series = row.series().to_owned();
        let latest = match last.get(&series) {
            Some(number) => *number,
            None => last_number(tx, M::TABLE, &series).await?,
        };
        row.set_number(latest + 1);
        last.insert(series, latest + 1);
    }
    write_new(tx, rows).await
}

async fn last_number(tx: &impl ConnectionTrait, table: &str, series: &str) -> Result<i64, WriteError> {
    let text = format!(
        "SELECT CAST(COALESCE(MAX(highest), 0) AS BIGINT) AS last FROM (SELECT MAX(number) AS highest FROM {table} \
         WHERE series = $1 UNION ALL SELECT MAX(last_number) AS highest FROM number_gaps WHERE series = $1) AS used"
    );
    let query = Statement::from_sql_and_values(tx.get_database_backend(), text, [series.into()]);
    let row = tx.query_one_raw(query).await.map_err(map_db_error)?;
    row.map_or(Ok(0), |row| row.try_get("", "last").map_err(map_db_error))
}

#[cfg(test)]
mod tests;
