//! Kept numbers of rows: how many rows of a table have which values, in the table `row_counts`. Each transaction that
//! writes rows also updates their numbers, so that no list counts its rows however many there are.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};

use crate::rows::WriteError;
use crate::rows::print_sums::change_sums;
use crate::rows::statement::{map_db_error, portion};

/// Numbers of a table's rows, by list and key. All members but the table are SQL. A list is read as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowCount {
    /// Table whose rows are counted.
    pub(super) table: &'static str,
    /// Expression for the name of the list.
    pub(super) list: &'static str,
    /// Expression for the key within the list.
    pub(super) key: &'static str,
    /// Condition for the rows that are counted.
    pub(super) which: &'static str,
    /// `true` if rows are only inserted, and never change.
    pub(super) is_fixed: bool,
}

/// All numbers that are kept. The migration that creates the table fills it with the same expressions.
pub(super) const ROW_COUNTS: &[RowCount] = &[
    RowCount {
        table: "orders",
        list: "'orders'",
        key: "status || ' ' || kind || ' ' || site",
        which: "TRUE",
        is_fixed: false,
    },
    RowCount {
        table: "orders",
        list: "'order_mails'",
        key: "customer_email",
        which: "customer_email IS NOT NULL",
        is_fixed: false,
    },
    RowCount {
        table: "jobs",
        list: "'jobs'",
        key: "state || CASE WHEN unsigned THEN ' unsigned' ELSE '' END",
        which: "TRUE",
        is_fixed: false,
    },
    RowCount { table: "attempts", list: "'attempts ' || printer_id", key: "state", which: "TRUE", is_fixed: false },
    RowCount {
        table: "movements",
        list: "'movements ' || material_id",
        key: "CAST(created_at / 86400000 AS TEXT)",
        which: "TRUE",
        is_fixed: true,
    },
    RowCount { table: "customers", list: "'customers'", key: "'all'", which: "TRUE", is_fixed: false },
    RowCount {
        table: "files",
        list: "'files'",
        key: "kind || CASE WHEN attempt_id IS NULL THEN ' own' ELSE ' print' END",
        which: "NOT archived",
        is_fixed: false,
    },
    RowCount {
        table: "invoices",
        list: "'invoices'",
        key: "status || CASE WHEN issued_at IS NULL THEN ' draft ' ELSE ' issued ' END || site",
        which: "TRUE",
        is_fixed: false,
    },
    RowCount {
        table: "payments",
        list: "'payments'",
        key: "COALESCE((SELECT site FROM orders WHERE orders.id = payments.owner_id), \
              (SELECT site FROM invoices WHERE invoices.id = payments.owner_id), '')",
        which: "TRUE",
        is_fixed: false,
    },
    RowCount { table: "audit", list: "'audit'", key: "subject_kind || ' ' || action", which: "TRUE", is_fixed: true },
];

impl RowCount {
    /// Returns the statement that adds the rows for which a condition holds to their numbers, or subtracts them.
    fn update(self, sign: CountSign, condition: &str) -> String {
        let Self { table, list, key, which, .. } = self;
        let minus = match sign {
            CountSign::Add => "",
            CountSign::Subtract => "-",
        };
        format!(
            "INSERT INTO row_counts (list, key, entries) SELECT {list}, {key}, {minus}COUNT(*) FROM {table} \
             WHERE {condition} AND {which} GROUP BY 1, 2 \
             ON CONFLICT (list, key) DO UPDATE SET entries = row_counts.entries + excluded.entries"
        )
    }
}

/// Direction in which numbers change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CountSign {
    /// Rows are added.
    Add,
    /// Rows are subtracted.
    Subtract,
}

/// Keys of the rows that a transaction writes, by table.
pub(super) type WrittenKeys = BTreeMap<&'static str, BTreeSet<String>>;

/// Returns whether the rows of a table are counted.
pub(super) fn is_counted(table: &str) -> bool {
    ROW_COUNTS.iter().any(|count| count.table == table)
}

/// Subtracts the rows that are about to be written from their numbers, as they are now.
pub(super) async fn subtract_written(tx: &impl ConnectionTrait, written: &WrittenKeys) -> Result<(), WriteError> {
    for count in ROW_COUNTS.iter().filter(|count| !count.is_fixed) {
        if let Some(keys) = written.get(count.table) {
            change(tx, *count, CountSign::Subtract, keys).await?;
        }
    }
    match written.get("attempts") {
        Some(attempts) => change_sums(tx, CountSign::Subtract, attempts).await,
        None => Ok(()),
    }
}

/// Adds the rows that were written to their numbers, as they are now.
pub(super) async fn add_written(tx: &impl ConnectionTrait, written: &WrittenKeys) -> Result<(), WriteError> {
    let mut has_subtracted = false;
    for count in ROW_COUNTS {
        if let Some(keys) = written.get(count.table) {
            change(tx, *count, CountSign::Add, keys).await?;
            has_subtracted |= !count.is_fixed;
        }
    }
    if let Some(attempts) = written.get("attempts") {
        change_sums(tx, CountSign::Add, attempts).await?;
    }
    if has_subtracted { remove_empty(tx).await } else { Ok(()) }
}

async fn change(
    tx: &impl ConnectionTrait,
    count: RowCount,
    sign: CountSign,
    keys: &BTreeSet<String>,
) -> Result<(), WriteError> {
    let mut keys = keys.iter();
    while keys.len() > 0 {
        let many = portion(keys.len());
        let some: Vec<Value> = keys.by_ref().take(many).map(|key| key.as_str().into()).collect();
        let sql = count.update(sign, &format!("id IN ({})", placeholders(tx.get_database_backend(), many)));
        let statement = Statement::from_sql_and_values(tx.get_database_backend(), sql, some);
        tx.execute_raw(statement).await.map_err(map_db_error)?;
    }
    Ok(())
}

/// Returns the places of so many values in a statement.
pub(super) fn placeholders(backend: DbBackend, count: usize) -> String {
    let is_postgres = backend == DbBackend::Postgres;
    // SQLite would look each numbered value up by its name.
    let place = |number| if is_postgres { format!("${number}") } else { "?".to_owned() };
    (1..=count).map(place).collect::<Vec<_>>().join(", ")
}

/// Removes the keys that no row has any more. They may be what somebody wanted to be deleted. There is an index of
/// exactly these rows.
async fn remove_empty(tx: &impl ConnectionTrait) -> Result<(), WriteError> {
    let sql = "DELETE FROM row_counts WHERE entries = 0";
    tx.execute_raw(Statement::from_string(tx.get_database_backend(), sql)).await.map_err(map_db_error)?;
    Ok(())
}

#[cfg(test)]
mod tests;
