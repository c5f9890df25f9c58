//! Stored row counts: the number of rows in a table for each combination of values, in the table `row_counts`. Each
//! transaction that writes rows also updates their counts, so that no list has to count its rows, however many there
//! are.
//!
//! What the rows that are replaced add to the numbers is read before they are written, as [`RowNumbers`]. Afterwards,
//! one statement adds the difference to what all written rows are then. A number that stays as it was is not written.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement, Value};

use crate::rows::WriteError;
use crate::rows::json_parameter::{has_key, json_number, json_rows, json_text};
use crate::rows::print_sums::{PrintTotals, change_sums, read_sums};
use crate::rows::statement::map_db_error;

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
}

/// All numbers that are kept. The migration that creates the table fills it with the same expressions.
pub(super) const ROW_COUNTS: &[RowCount] = &[
    RowCount { table: "orders", list: "'orders'", key: "status || ' ' || kind || ' ' || site", which: "TRUE" },
    RowCount { table: "orders", list: "'order_mails'", key: "customer_email", which: "customer_email IS NOT NULL" },
    RowCount {
        table: "jobs",
        list: "'jobs'",
        key: "state || CASE WHEN unsigned THEN ' unsigned' ELSE '' END",
        which: "TRUE",
    },
    RowCount { table: "attempts", list: "'attempts ' || printer_id", key: "state", which: "TRUE" },
    RowCount {
        table: "movements",
        list: "'movements ' || material_id",
        key: "CAST(created_at / 86400000 AS TEXT)",
        which: "TRUE",
    },
    RowCount { table: "customers", list: "'customers'", key: "'all'", which: "TRUE" },
    RowCount {
        table: "files",
        list: "'files'",
        key: "kind || CASE WHEN attempt_id IS NULL THEN ' own' ELSE ' print' END",
        which: "NOT archived",
    },
    RowCount {
        table: "invoices",
        list: "'invoices'",
        key: "status || CASE WHEN issued_at IS NULL THEN ' draft ' ELSE ' issued ' END || site",
        which: "TRUE",
    },
    RowCount {
        table: "payments",
        list: "'payments'",
        key: "COALESCE((SELECT site FROM orders WHERE orders.id = payments.owner_id), \
              (SELECT site FROM invoices WHERE invoices.id = payments.owner_id), '')",
        which: "TRUE",
    },
    RowCount { table: "audit", list: "'audit'", key: "subject_kind || ' ' || action", which: "TRUE" },
];

/// Keys of the rows that a transaction writes to a table.
#[derive(Default, Debug)]
pub(super) struct TableKeys {
    /// Keys of rows that are certainly new.
    pub(super) new: Vec<String>,
    /// Keys of rows that may be there already, or that are deleted.
    pub(super) replaced: Vec<String>,
}

/// Keys of the rows that a transaction writes, by table.
pub(super) type WrittenKeys = BTreeMap<&'static str, TableKeys>;

/// Number of rows by list and key.
type ListEntries = (String, String, i64);

/// Numbers and sums to which rows contribute.
#[derive(Debug)]
pub(super) struct RowNumbers {
    counts: Vec<ListEntries>,
    sums: Vec<PrintTotals>,
}

/// Texts of the statements about numbers, for one of the databases.
struct CountStatements {
    /// Tables whose keys are the first parameters.
    tables: Vec<&'static str>,
    /// Statement that reads the numbers of rows.
    read: String,
    /// Statement that adds the numbers of rows and subtracts those in the last parameter.
    change: String,
    /// Statement that deletes any of the numbers in the parameter that are 0.
    remove: String,
}

static OF_SQLITE: LazyLock<CountStatements> = LazyLock::new(|| CountStatements::new(DbBackend::Sqlite));
static OF_POSTGRES: LazyLock<CountStatements> = LazyLock::new(|| CountStatements::new(DbBackend::Postgres));

/// Returns whether the rows of a table are counted.
pub(super) fn is_counted(table: &str) -> bool {
    ROW_COUNTS.iter().any(|count| count.table == table)
}

impl RowNumbers {
    /// Reads the numbers and sums to which the rows contribute that are about to be replaced.
    pub(super) async fn read(tx: &impl ConnectionTrait, written: &WrittenKeys) -> Result<Self, WriteError> {
        let is_new = written.values().all(|keys| keys.replaced.is_empty());
        let counts = if is_new { Vec::new() } else { read_counts(tx, written).await? };
        let attempts = written.get("attempts").filter(|keys| !keys.replaced.is_empty());
        let sums = match attempts {
            Some(attempts) => read_sums(tx, &attempts.replaced).await?,
            None => Vec::new(),
        };
        Ok(Self { counts, sums })
    }

    /// Updates the numbers and sums after the rows were written: adds their current contributions, and subtracts their
    /// previous ones.
    pub(super) async fn update(&self, tx: &impl ConnectionTrait, written: &WrittenKeys) -> Result<(), WriteError> {
        if !written.is_empty() {
            change_counts(tx, written, &self.counts).await?;
        }
        match written.get("attempts") {
            Some(TableKeys { new, replaced }) => {
                let attempts: Vec<&String> = new.iter().chain(replaced).collect();
                change_sums(tx, &attempts, &self.sums).await
            }
            None => Ok(()),
        }
    }
}

impl CountStatements {
    fn of(backend: DbBackend) -> &'static Self {
        if backend == DbBackend::Postgres { &OF_POSTGRES } else { &OF_SQLITE }
    }

    fn new(backend: DbBackend) -> Self {
        let (mut tables, mut queries) = (Vec::new(), Vec::new());
        for RowCount { table, list, key, which } in ROW_COUNTS {
            if !tables.contains(table) {
                tables.push(*table);
            }
            // Rows of a table stand together, so that its keys are the parameter that was added last.
            let is_written = has_key(backend, &format!("{table}.id"), tables.len());
            queries.push(format!(
                "SELECT {list} AS list, {key} AS key, 1 AS entries FROM {table} WHERE {is_written} AND {which}"
            ));
        }
        let rows = queries.join(" UNION ALL ");
        let former = format!(
            "SELECT {}, {}, -{} FROM {}",
            json_text(backend, 0),
            json_text(backend, 1),
            json_number(backend, 2),
            json_rows(backend, tables.len() + 1)
        );
        Self {
            tables,
            read: format!(
                "SELECT list, key, CAST(COUNT(*) AS BIGINT) AS entries FROM ({rows}) AS counted GROUP BY list, key"
            ),
            // In the order of the key, as all that lock several numbers should.
            change: format!(
                "INSERT INTO row_counts (list, key, entries) SELECT list, key, CAST(SUM(entries) AS BIGINT) \
                 FROM ({rows} UNION ALL {former}) AS counted GROUP BY list, key HAVING SUM(entries) <> 0 \
                 ORDER BY list, key \
                 ON CONFLICT (list, key) DO UPDATE SET entries = row_counts.entries + excluded.entries \
                 RETURNING list, key, entries"
            ),
            remove: format!(
                "DELETE FROM row_counts WHERE (list, key) IN (SELECT zero.list, zero.key \
                 FROM {} CROSS JOIN row_counts AS zero \
                 WHERE zero.list = {} AND zero.key = {} AND zero.entries = 0)",
                json_rows(backend, 1),
                json_text(backend, 0),
                json_text(backend, 1)
            ),
        }
    }

    /// Returns the keys of each table as parameters.
    fn parameters<'k, I: IntoIterator<Item = &'k String>>(
        &self,
        written: &'k WrittenKeys,
        keys: impl Fn(&'k TableKeys) -> I,
    ) -> Result<Vec<Value>, WriteError> {
        let parameter = |table: &&'static str| -> Result<Value, WriteError> {
            let of_table: Vec<&String> = written.get(*table).map(&keys).into_iter().flatten().collect();
            Ok(serde_json::to_string(&of_table)?.into())
        };
        self.tables.iter().map(parameter).collect()
    }
}

async fn read_counts(tx: &impl ConnectionTrait, written: &WrittenKeys) -> Result<Vec<ListEntries>, WriteError> {
    let backend = tx.get_database_backend();
    let statements = CountStatements::of(backend);
    let values = statements.parameters(written, |keys| &keys.replaced)?;
    let statement = Statement::from_sql_and_values(backend, statements.read.as_str(), values);
    let rows = tx.query_all_raw(statement).await.map_err(map_db_error)?;
    rows.iter().map(list_entries).collect::<Result<_, _>>().map_err(map_db_error)
}

async fn change_counts(
    tx: &impl ConnectionTrait,
    written: &WrittenKeys,
    former: &[ListEntries],
) -> Result<(), WriteError> {
    let backend = tx.get_database_backend();
    let statements = CountStatements::of(backend);
    let mut values = statements.parameters(written, |keys| keys.new.iter().chain(&keys.replaced))?;
    values.push(serde_json::to_string(former)?.into());
    let statement = Statement::from_sql_and_values(backend, statements.change.as_str(), values);
    let rows = tx.query_all_raw(statement).await.map_err(map_db_error)?;
    let changed: Vec<ListEntries> = rows.iter().map(list_entries).collect::<Result<_, _>>().map_err(map_db_error)?;
    // Keys that no row has any more. They may be what somebody wanted to be deleted.
    let unused: Vec<ListEntries> = changed.into_iter().filter(|(.., entries)| *entries == 0).collect();
    if unused.is_empty() {
        return Ok(());
    }
    let unused = serde_json::to_string(&unused)?;
    let statement = Statement::from_sql_and_values(backend, statements.remove.as_str(), [unused.into()]);
    tx.execute_raw(statement).await.map_err(map_db_error)?;
    Ok(())
}

fn list_entries(row: &QueryResult) -> Result<ListEntries, DbErr> {
    Ok((row.try_get("", "list")?, row.try_get("", "key")?, row.try_get("", "entries")?))
}

#[cfg(test)]
mod tests;
