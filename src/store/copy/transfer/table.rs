//! Copy of one table: its columns, and its rows in batches.

use std::fmt::Write as _;
use std::mem;

use futures::TryStreamExt as _;
use sea_orm::{ConnectionTrait as _, DatabaseBackend, DbErr, QueryResult, Statement, StreamTrait as _, Value};

use super::ShopTransferError;
use super::digest::TableDigest;
use super::side::TransferSide;

/// Maximum number of values in one statement. Both databases allow several times as many.
const MAX_STATEMENT_VALUES: usize = 4_000;
/// Maximum size of the text in a batch, in bytes, unless a single row is larger.
const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Number of rows after which a comparison reports its progress.
const MAX_UNREPORTED_ROWS: u64 = 1_000;

/// Value of a column; `None` is NULL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TransferCell {
    /// Text, such as a JSON document.
    Text(Option<String>),
    /// Integer of 64 bits.
    Number(Option<i64>),
    /// Truth value.
    Flag(Option<bool>),
}

impl TransferCell {
    /// Returns the size of the text, in bytes.
    fn text_bytes(&self) -> usize {
        match self {
            Self::Text(Some(text)) => text.len(),
            _ => 0,
        }
    }
}

impl From<TransferCell> for Value {
    fn from(cell: TransferCell) -> Self {
        match cell {
            TransferCell::Text(text) => text.into(),
            TransferCell::Number(number) => number.into(),
            TransferCell::Flag(flag) => flag.into(),
        }
    }
}

/// Type of a column. The tables of Printfloor have no others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum TransferColumnType {
    Text,
    Number,
    Flag,
}

impl TransferColumnType {
    /// Parses a type as either database names it.
    fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "text" | "varchar" | "character varying" => Some(Self::Text),
            "bigint" | "integer" => Some(Self::Number),
            "boolean" => Some(Self::Flag),
            _ => None,
        }
    }
}

/// Name and type of a column; columns are sorted by name and type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct TransferColumn {
    name: String,
    of: TransferColumnType,
}

impl TransferColumn {
    fn read(&self, row: &QueryResult, index: usize) -> Result<TransferCell, DbErr> {
        Ok(match self.of {
            TransferColumnType::Text => TransferCell::Text(row.try_get_by_index(index)?),
            TransferColumnType::Number => TransferCell::Number(row.try_get_by_index(index)?),
            TransferColumnType::Flag => TransferCell::Flag(row.try_get_by_index(index)?),
        })
    }
}

/// Rows written by one statement.
#[derive(Default)]
struct RowBatch {
    cells: Vec<TransferCell>,
    rows: usize,
    bytes: usize,
}

impl RowBatch {
    fn push(&mut self, cells: Vec<TransferCell>) {
        self.rows += 1;
        self.bytes += cells.iter().map(TransferCell::text_bytes).sum::<usize>();
        self.cells.extend(cells);
    }

    /// Returns whether no further row with this number of columns belongs in the batch.
    fn is_full(&self, columns: usize) -> bool {
        self.cells.len() + columns > MAX_STATEMENT_VALUES || self.bytes >= MAX_BATCH_BYTES
    }
}

/// Copy of a table.
pub(super) struct TableCopy {
    name: String,
    columns: Vec<TransferColumn>,
    /// Number of rows that the source counts.
    count: u64,
    /// Rows read from the source.
    digest: TableDigest,
}

impl TableCopy {
    /// Prepares the copy of a table that the target has. Fails if the columns of the source are different.
    pub(super) async fn new(
        name: String,
        count: u64,
        source: &TransferSide,
        target: &TransferSide,
    ) -> Result<Self, ShopTransferError> {
        let columns = columns_of(target, &name).await.map_err(|error| target.failed_at(&name, error))?;
        if columns_of(source, &name).await.map_err(|error| source.failed_at(&name, error))? != columns {
            return Err(ShopTransferError::OtherVersion(source.database.clone()));
        }
        Ok(Self { name, columns, count, digest: TableDigest::default() })
    }

    /// Returns the number of rows in the source.
    pub(super) fn row_count(&self) -> u64 {
        self.count
    }

    /// Copies all rows, and reports the number of rows after each batch.
    pub(super) async fn copy(
        &mut self,
        source: &TransferSide,
        target: &TransferSide,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ShopTransferError> {
        // A migration may have written rows, which are among those of the source.
        let empty = format!("DELETE FROM {}", quoted(&self.name));
        target.tx.execute_unprepared(&empty).await.map_err(|error| target.failed_at(&self.name, error))?;
        let unreadable = |error| source.failed_at(&self.name, error);
        let mut rows = source.tx.stream_raw(self.selection(source)).await.map_err(unreadable)?;
        let (mut digest, mut batch) = (TableDigest::default(), RowBatch::default());
        while let Some(row) = rows.try_next().await.map_err(unreadable)? {
            let cells = self.read(&row).map_err(unreadable)?;
            if target.backend() == DatabaseBackend::Postgres {
                self.check_text(&cells, source)?;
            }
            digest.add(&cells);
            batch.push(cells);
            if batch.is_full(self.columns.len()) {
                progress(batch.rows as u64);
                self.write(mem::take(&mut batch), target).await?;
            }
        }
        if batch.rows > 0 {
            progress(batch.rows as u64);
            self.write(batch, target).await?;
        }
        self.digest = digest;
        Ok(())
    }

    /// Reads all rows of the target and compares them with those that were copied.
    pub(super) async fn compare(
        &self,
        target: &TransferSide,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ShopTransferError> {
        let unreadable = |error| target.failed_at(&self.name, error);
        let mut rows = target.tx.stream_raw(self.selection(target)).await.map_err(unreadable)?;
        let (mut digest, mut unreported) = (TableDigest::default(), 0);
        while let Some(row) = rows.try_next().await.map_err(unreadable)? {
            digest.add(&self.read(&row).map_err(unreadable)?);
            unreported += 1;
            if unreported == MAX_UNREPORTED_ROWS {
                progress(mem::take(&mut unreported));
            }
        }
        progress(unreported);
        if digest == self.digest && digest.rows == self.count {
            return Ok(());
        }
        Err(ShopTransferError::Differs { table: self.name.clone(), copied: digest.rows, rows: self.count })
    }

    fn selection(&self, side: &TransferSide) -> Statement {
        let sql = format!("SELECT {} FROM {}", self.column_list(), quoted(&self.name));
        Statement::from_string(side.backend(), sql)
    }

    fn read(&self, row: &QueryResult) -> Result<Vec<TransferCell>, DbErr> {
        self.columns.iter().enumerate().map(|(index, column)| column.read(row, index)).collect()
    }

    /// Checks that PostgreSQL can store all text of a row.
    fn check_text(&self, cells: &[TransferCell], source: &TransferSide) -> Result<(), ShopTransferError> {
        let has_nul = |cell: &TransferCell| matches!(cell, TransferCell::Text(Some(text)) if text.contains('\0'));
        match self.columns.iter().zip(cells).find(|(_, cell)| has_nul(cell)) {
            None => Ok(()),
            Some((column, _)) => Err(ShopTransferError::NulCharacter {
                database: source.database.clone(),
                table: self.name.clone(),
                column: column.name.clone(),
            }),
        }
    }

    async fn write(&self, batch: RowBatch, target: &TransferSide) -> Result<(), ShopTransferError> {
        let backend = target.backend();
        let sql = self.insertion(batch.rows, backend);
        let insertion = Statement::from_sql_and_values(backend, sql, batch.cells.into_iter().map(Value::from));
        target.tx.execute_raw(insertion).await.map_err(|error| target.failed_at(&self.name, error))?;
        Ok(())
    }

    /// Returns the statement that inserts this number of rows.
    fn insertion(&self, rows: usize, backend: DatabaseBackend) -> String {
        let mut sql = format!("INSERT INTO {} ({}) VALUES ", quoted(&self.name), self.column_list());
        let mut number = 0;
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..self.columns.len() {
                if column > 0 {
                    sql.push_str(", ");
                }
                number += 1;
                // SQLite would look each numbered value up by its name.
                if backend == DatabaseBackend::Postgres {
                    _ = write!(sql, "${number}");
                } else {
                    sql.push('?');
                }
            }
            sql.push(')');
        }
        sql
    }

    fn column_list(&self) -> String {
        self.columns.iter().map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ")
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the columns of a table, sorted by name; none if there is no such table.
async fn columns_of(side: &TransferSide, table: &str) -> Result<Vec<TransferColumn>, DbErr> {
    let backend = side.backend();
    let query = match backend {
        DatabaseBackend::Postgres => {
            "SELECT column_name::text AS name, data_type::text AS type_name FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name = $1"
        }
        _ => "SELECT name, type AS type_name FROM pragma_table_info($1)",
    };
    let mut columns = Vec::new();
    let query = Statement::from_sql_and_values(backend, query, [table.into()]);
    for row in side.tx.query_all_raw(query).await? {
        let (name, of): (String, String) = (row.try_get("", "name")?, row.try_get("", "type_name")?);
        let Some(of) = TransferColumnType::parse(&of) else {
            return Err(DbErr::Custom(format!("the column {name} has the type {of}, which Printfloor does not use")));
        };
        columns.push(TransferColumn { name, of });
    }
    columns.sort();
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&str]) -> TableCopy {
        let column = |name: &&str| TransferColumn { name: (*name).to_owned(), of: TransferColumnType::Text };
        let columns = columns.iter().map(column).collect();
        TableCopy { name: "skus".to_owned(), columns, count: 0, digest: TableDigest::default() }
    }

    #[test]
    fn rows_are_inserted_by_one_statement_as_each_database_reads_it() {
        let table = table(&["id", "doc"]);
        assert_eq!(
            table.insertion(2, DatabaseBackend::Postgres),
            r#"INSERT INTO "skus" ("id", "doc") VALUES ($1, $2), ($3, $4)"#
        );
        assert_eq!(table.insertion(1, DatabaseBackend::Sqlite), r#"INSERT INTO "skus" ("id", "doc") VALUES (?, ?)"#);
    }

    #[test]
    fn a_batch_is_full_by_its_values_or_its_text() {
        let cell = |text: String| TransferCell::Text(Some(text));
        let mut batch = RowBatch::default();
        for _ in 0..MAX_STATEMENT_VALUES / 2 {
            assert!(!batch.is_full(2));
            batch.push(vec![cell(String::new()), TransferCell::Number(None)]);
        }
        assert!(batch.is_full(2));
        assert_eq!(batch.rows, MAX_STATEMENT_VALUES / 2);
        let mut large = RowBatch::default();
        large.push(vec![cell("x".repeat(MAX_BATCH_BYTES))]);
        assert!(large.is_full(1));
    }

    #[test]
    fn types_of_both_databases_are_the_same() {
        for (sqlite, postgres) in [("text", "text"), ("bigint", "bigint"), ("boolean", "boolean"), ("BIGINT", "bigint")]
        {
            let of = TransferColumnType::parse(sqlite);
            assert!(of.is_some() && of == TransferColumnType::parse(postgres), "{sqlite}");
        }
        assert_eq!(TransferColumnType::parse("bytea"), None);
    }
}
