//! Puts a copy of a database back: into a file of its own on SQLite, into an empty database on PostgreSQL, and holds
//! the rows of each table against those that the backup names.
//!
//! A PostgreSQL database has a table of its own while this goes on ([`UNFINISHED_TABLE`]): no server starts over it.

use std::collections::BTreeMap;
use std::path::Path;

use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbErr};

use super::{CopyError, DatabaseCopier, counted, postgres, sqlite};
use crate::store::connect::{self, DatabaseSettings, UNFINISHED_TABLE};

/// What a database is before a backup is put back into it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RestoreTarget {
    /// It has no table, or does not exist.
    Empty,
    /// An earlier restore into it was interrupted.
    Interrupted,
    /// It has tables.
    Used,
}

impl DatabaseCopier {
    /// What the database is now. Changes nothing.
    ///
    /// # Errors
    ///
    /// When it cannot be asked.
    pub async fn restore_target(&self) -> Result<RestoreTarget, CopyError> {
        if let Some(file) = connect::sqlite_file(&self.settings.url) {
            let bytes = file.metadata().map_or(0, |found| found.len());
            return Ok(if bytes == 0 { RestoreTarget::Empty } else { RestoreTarget::Used });
        }
        connect::reach(&self.settings.url).await?;
        let db = connect::copying(&self.settings, None).await?;
        let tables = counted(&db).await;
        db.close().await?;
        let tables = tables?;
        Ok(match tables.len() {
            0 => RestoreTarget::Empty,
            _ if tables.contains_key(UNFINISHED_TABLE) => RestoreTarget::Interrupted,
            _ => RestoreTarget::Used,
        })
    }

    /// Empties the database and marks it, so that no server starts over it until [`Self::end_restore`]. To be called
    /// only where [`Self::restore_target`] does not say that it is used.
    ///
    /// # Errors
    ///
    /// When it does not take that.
    pub async fn begin_restore(&self) -> Result<(), CopyError> {
        if self.is_sqlite() {
            return Ok(());
        }
        let db = plain(&self.settings).await?;
        let begun = async {
            for table in counted(&db).await?.keys().filter(|table| *table != UNFINISHED_TABLE) {
                let name = table.replace('"', "\"\"");
                db.execute_unprepared(&format!("DROP TABLE IF EXISTS \"{name}\" CASCADE")).await?;
            }
            let mark = format!("CREATE TABLE IF NOT EXISTS {UNFINISHED_TABLE} (at TIMESTAMP NOT NULL DEFAULT now())");
            db.execute_unprepared(&mark).await?;
            Ok::<_, DbErr>(())
        };
        let begun = begun.await;
        db.close().await?;
        Ok(begun?)
    }

    /// Puts a copy back, and holds each table against the rows that it had. On SQLite the copy itself becomes the
    /// database, so it is only checked.
    ///
    /// # Errors
    ///
    /// When it is not sound, or has other rows.
    pub async fn restore_from(&self, copy: &Path, rows: &BTreeMap<String, u64>) -> Result<(), CopyError> {
        let found = if self.is_sqlite() {
            sqlite::looked_through(&self.settings, copy).await?.rows
        } else {
            postgres::restore(&self.settings, copy).await?
        };
        match rows.iter().find(|(table, count)| found.get(*table) != Some(count)) {
            None => Ok(()),
            Some((table, count)) => {
                let there = found.get(table).copied().unwrap_or_default();
                Err(CopyError::Unsound(format!("table {table} has {there} rows instead of {count}")))
            }
        }
    }

    /// Removes the mark: a server may start over the database.
    ///
    /// # Errors
    ///
    /// When it does not take that.
    pub async fn end_restore(&self) -> Result<(), CopyError> {
        if self.is_sqlite() {
            return Ok(());
        }
        let db = plain(&self.settings).await?;
        let dropped = db.execute_unprepared(&format!("DROP TABLE IF EXISTS {UNFINISHED_TABLE}")).await;
        db.close().await?;
        dropped?;
        Ok(())
    }
}

/// A connection that may write, with the limits of the server's user.
async fn plain(settings: &DatabaseSettings) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(&settings.url);
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await
}
