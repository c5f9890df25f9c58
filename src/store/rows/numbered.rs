//! Rows with gapless numbers: each gets the next number of its series when it is inserted. Only numbers that are
//! skipped since a restore, with their reason, are left out.
//!
//! The last number of a series is read in the transaction that writes the next ones, and not cached in memory: a
//! transaction that is rolled back, or whose process is killed, uses no number. Nothing else writes meanwhile, because
//! there is one writer, and its epoch is guarded in the same transaction.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, IntoActiveModel, ModelTrait, Statement};

use crate::rows::statement::{ActiveOf, map_db_error, write_new};
use crate::rows::{Doc, Part, WriteError};

/// Part whose rows are numbered.
pub trait NumberedPart: Part {
    /// Returns the series to which the part belongs.
    fn series(&self) -> String;
    /// Returns the number in the series; 0 before it is assigned.
    fn number(&self) -> i64;
    /// Returns the part with this number.
    fn with_number(&self, number: i64) -> Self;
}

/// Row with the columns `series` and `number`.
pub trait NumberedRow: Doc {
    /// Returns the series to which the row belongs.
    fn series(&self) -> &str;
    /// Assigns the number of the row.
    fn set_number(&mut self, number: i64);
}

/// Inserts rows that must not exist yet, and assigns their numbers in order.
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
