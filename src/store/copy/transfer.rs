//! Copies a shop from one database into another, empty one, between SQLite and PostgreSQL in either direction.
//!
//! The source is only read. Everything is written in one transaction of the target, its tables included, so that an
//! interruption leaves the target as empty as it was. Before the transaction is committed, the rows of each table are
//! read back, counted and hashed, and compared with those of the source. No server can use either database meanwhile.

mod digest;
mod side;
mod table;

use migrations::{Migrator, MigratorTrait as _};

use self::side::TransferSide;
use self::table::TableCopy;
use super::counted;
use crate::connect::{self, DatabaseSettings, ExclusiveAccess, MIGRATION_TABLE, OpenError, sqlite_file};

/// Reason that a shop was not transferred.
#[derive(Debug, thiserror::Error)]
pub enum ShopTransferError {
    /// A database cannot be used.
    #[error("{database}: {source}")]
    Database {
        /// Kind and location of the database.
        database: String,
        /// Database error.
        source: OpenError,
    },
    /// The rows of a table cannot be read or written.
    #[error("{database}, table {table}: {source}")]
    Table {
        /// Kind and location of the database.
        database: String,
        /// Name of the table.
        table: String,
        /// Database error.
        source: OpenError,
    },
    /// The source has none of Printfloor's tables, or its file does not exist.
    #[error("{0} contains no shop")]
    NoShop(String),
    /// The target has tables.
    #[error(
        "{database} is not empty: it has the table {table}. A shop can only be transferred into an empty database: \
         specify another one with --to, or move the existing data away"
    )]
    NotEmpty {
        /// Kind and location of the target.
        database: String,
        /// Name of one of its tables.
        table: String,
    },
    /// The source's schema differs from the one that this version creates.
    #[error(
        "the tables of {0} are not those of any version of printfloor up to this one: start this version on it first, \
         which brings the tables up to date"
    )]
    OtherVersion(String),
    /// Text contains a character that PostgreSQL cannot store.
    #[error("{database}, table {table}: the column {column} contains a NUL character, which PostgreSQL cannot store")]
    NulCharacter {
        /// Kind and location of the source.
        database: String,
        /// Name of the table.
        table: String,
        /// Name of the column.
        column: String,
    },
    /// The rows written differ from the rows read.
    #[error("the copy of table {table} differs from the original ({copied} rows; the original has {rows})")]
    Differs {
        /// Name of the table.
        table: String,
        /// Number of rows in the target.
        copied: u64,
        /// Number of rows in the source.
        rows: u64,
    },
    /// The connection failed while the transfer was being committed.
    #[error(
        "{database} did not confirm the last step ({source}): it contains either the whole shop or nothing; run the \
         command again, which tells whether it is empty"
    )]
    Uncertain {
        /// Kind and location of the target.
        database: String,
        /// Database error.
        source: OpenError,
    },
}

/// Contents of a completed transfer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransferSummary {
    /// Number of tables copied.
    pub tables: usize,
    /// Number of rows in these tables.
    pub rows: u64,
    /// Tables of the source that are not Printfloor's, and were left out.
    pub others: Vec<String>,
}

/// Transfer in progress. If it is dropped before [`Self::commit`], the target stays empty.
pub struct ShopTransfer {
    source: TransferSide,
    target: TransferSide,
    tables: Vec<TableCopy>,
    others: Vec<String>,
}

impl ShopTransfer {
    /// Locks both databases, checks that the source contains a shop and the target nothing, and creates the target's
    /// tables as in the source.
    ///
    /// # Errors
    ///
    /// Fails if a database cannot be used, a server uses it, or its contents are not as expected.
    pub async fn open(from: &DatabaseSettings, to: &DatabaseSettings) -> Result<Self, ShopTransferError> {
        if sqlite_file(&from.url).is_some_and(|file| !file.exists()) {
            return Err(ShopTransferError::NoShop(connect::display_url(&from.url)));
        }
        let source = TransferSide::open(from, ExclusiveAccess::Read).await?;
        let migrations = source.migrations().await?;
        let mut rows = counted(&source.tx).await.map_err(|error| source.failed(error))?;
        rows.remove(MIGRATION_TABLE);
        let target = TransferSide::open(to, ExclusiveAccess::Write).await?;
        if let Some(table) = target.table_names().await?.pop() {
            return Err(ShopTransferError::NotEmpty { database: target.database, table });
        }
        Migrator::up(&target.tx, Some(migrations)).await.map_err(|error| target.failed(error))?;
        let mut tables = Vec::new();
        for name in target.table_names().await? {
            if name != MIGRATION_TABLE {
                let count = rows.remove(&name).unwrap_or_default();
                tables.push(TableCopy::new(name, count, &source, &target).await?);
            }
        }
        Ok(Self { source, target, tables, others: rows.into_keys().collect() })
    }

    /// Returns the number of rows to copy.
    pub fn row_count(&self) -> u64 {
        self.tables.iter().map(TableCopy::row_count).sum()
    }

    /// Copies all rows, and reports the number of rows after each batch.
    ///
    /// # Errors
    ///
    /// Fails if rows cannot be read or written.
    pub async fn copy(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), ShopTransferError> {
        for table in &mut self.tables {
            table.copy(&self.source, &self.target, progress).await?;
        }
        Ok(())
    }

    /// Reads all rows back and compares them with those read from the source. Reports the number of rows from time to
    /// time.
    ///
    /// # Errors
    ///
    /// Fails if rows cannot be read, or differ from those in the source.
    pub async fn compare(&self, progress: &mut dyn FnMut(u64)) -> Result<(), ShopTransferError> {
        for table in &self.tables {
            table.compare(&self.target, progress).await?;
        }
        Ok(())
    }

    /// Makes the transfer durable, and closes both databases.
    ///
    /// # Errors
    ///
    /// Fails if the target does not confirm it.
    pub async fn commit(self) -> Result<TransferSummary, ShopTransferError> {
        let (tables, rows) = (self.tables.len(), self.row_count());
        self.target.commit().await?;
        self.source.close().await;
        Ok(TransferSummary { tables, rows, others: self.others })
    }
}
