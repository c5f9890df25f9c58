//! Restores a database copy, and verifies the number of rows per table against the backup's manifest. With SQLite, the
//! copy becomes the database file; with PostgreSQL, it is restored into an empty database.
//!
//! A PostgreSQL database contains a marker table during the restore ([`UNFINISHED_TABLE`]), and no server starts on a
//! database with this table.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbErr};
use tokio::time::{Instant, sleep};

use super::{CopyError, DatabaseCopier, counted, number, postgres, sqlite};
use crate::connect::{self, DatabaseSettings, OpenError, UNFINISHED_TABLE};

/// Function of the triggers that keep the audit log from being changed, which stays when its table is dropped.
const AUDIT_FUNCTION: &str = "refuse_audit_change()";

/// Maximum time to wait for the end of a `pg_restore` that an interrupted restore has left.
const LEFTOVER_TIME: Duration = Duration::from_secs(10);
/// Interval between two attempts to end it.
const LEFTOVER_INTERVAL: Duration = Duration::from_millis(20);

/// State of a database before a backup is restored into it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RestoreTarget {
    /// The database has no tables or does not exist.
    Empty,
    /// An earlier restore into the database was interrupted.
    Interrupted,
    /// The database has tables.
    Used,
}

impl DatabaseCopier {
    /// Returns the current state of the target database. Changes nothing.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be queried.
    pub async fn restore_target(&self) -> Result<RestoreTarget, CopyError> {
        if let Some(file) = connect::sqlite_file(&self.settings.url) {
            let bytes = file.metadata().map_or(0, |metadata| metadata.len());
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

    /// Empties the database and creates the restore marker, so that no server starts on it until [`Self::end_restore`].
    /// Must not be called if [`Self::restore_target`] reports the database as used.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be written.
    pub async fn begin_restore(&self) -> Result<(), CopyError> {
        if self.is_sqlite() {
            return Ok(());
        }
        let db = plain(&self.settings).await?;
        let begun = async {
            end_leftover(&db).await?;
            for table in counted(&db).await?.keys().filter(|table| *table != UNFINISHED_TABLE) {
                let name = table.replace('"', "\"\"");
                db.execute_unprepared(&format!("DROP TABLE IF EXISTS \"{name}\" CASCADE")).await?;
            }
            db.execute_unprepared(&format!("DROP FUNCTION IF EXISTS {AUDIT_FUNCTION} CASCADE")).await?;
            let mark = format!("CREATE TABLE IF NOT EXISTS {UNFINISHED_TABLE} (at TIMESTAMP NOT NULL DEFAULT now())");
            db.execute_unprepared(&mark).await?;
            Ok::<_, DbErr>(())
        };
        let begun = begun.await;
        db.close().await?;
        Ok(begun?)
    }

    /// Restores a copy and verifies the number of rows per table. With SQLite, the copy itself becomes the database, so
    /// it is only verified.
    ///
    /// # Errors
    ///
    /// Fails if the copy is damaged or the row counts differ.
    pub async fn restore_from(&self, copy: &Path, rows: &BTreeMap<String, u64>) -> Result<(), CopyError> {
        let restored = if self.is_sqlite() {
            sqlite::check_copy(&self.settings, copy).await?.rows
        } else {
            postgres::restore(&self.settings, copy).await?
        };
        match rows.iter().find(|(table, count)| restored.get(*table) != Some(count)) {
            None => Ok(()),
            Some((table, count)) => {
                let there = restored.get(table).copied().unwrap_or_default();
                Err(CopyError::Unsound(format!("table {table} has {there} rows instead of {count}")))
            }
        }
    }

    /// Removes the restore marker, so that a server can start on the database.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be written.
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

/// Ends a `pg_restore` that outlived an interrupted restore, and would go on writing tables. Waits until it is gone.
async fn end_leftover(db: &DatabaseConnection) -> Result<(), DbErr> {
    let end = format!(
        "SELECT COUNT(pg_terminate_backend(pid)) AS value FROM pg_stat_activity WHERE datname = current_database() \
         AND usename = current_user AND application_name = 'pg_restore' AND EXISTS (SELECT 1 FROM pg_tables \
         WHERE schemaname = current_schema() AND tablename = '{UNFINISHED_TABLE}')"
    );
    let until = Instant::now() + LEFTOVER_TIME;
    while number(db, &end).await? > 0 && Instant::now() < until {
        sleep(LEFTOVER_INTERVAL).await;
    }
    Ok(())
}

/// Opens a writable connection with the default limits of the server's database user.
pub(super) async fn plain(settings: &DatabaseSettings) -> Result<DatabaseConnection, OpenError> {
    let mut options = ConnectOptions::new(connect::writing_address(settings).await?);
    options.max_connections(1).sqlx_logging(false);
    Ok(Database::connect(options).await?)
}
