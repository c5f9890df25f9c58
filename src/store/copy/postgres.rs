//! Copies a PostgreSQL database with the PostgreSQL client programs. `pg_dump` writes the snapshot of one transaction,
//! in which the rows are counted at the same time, and `pg_restore` reads the entire copy without restoring it.

mod programs;
mod rows;

use std::collections::BTreeMap;
use std::path::Path;

use sea_orm::{AccessMode, DatabaseConnection, IsolationLevel, TransactionTrait};

use self::programs::{PgPrograms, is_done, read_out};
use self::rows::CopiedRows;
use super::{CopyError, DatabaseCopy, counted, number, schema_of, text};
use crate::connect::{self, DatabaseSettings, OpenError};
use crate::lease::LEASE_TABLE;

/// Program that writes the copy.
const DUMP_PROGRAM: &str = "pg_dump";
/// Program that reads the copy.
const RESTORE_PROGRAM: &str = "pg_restore";

/// Copies the database into an empty file and verifies the copy against the database.
pub(super) async fn copy(settings: &DatabaseSettings, file: &Path) -> Result<DatabaseCopy, CopyError> {
    let settings = on_one_host(settings).await?;
    let programs = PgPrograms::new(&settings.url)?;
    let db = connect::copying(&settings, None).await?;
    let copied = copied(&db, &programs, file).await;
    db.close().await?;
    let (copy, schema) = copied?;
    let counts = found_in(&programs, file, schema).await?;
    for (table, count) in &copy.rows {
        let there = counts.of(table);
        if there != *count {
            return Err(CopyError::Unsound(format!("table {table} has {there} rows instead of {count}")));
        }
    }
    Ok(copy)
}

/// Restores a copy into an empty database, either completely or not at all. Returns the resulting number of rows per
/// table.
pub(super) async fn restore(settings: &DatabaseSettings, copy: &Path) -> Result<BTreeMap<String, u64>, CopyError> {
    let settings = on_one_host(settings).await?;
    let programs = PgPrograms::new(&settings.url)?;
    let db = connect::copying(&settings, None).await?;
    let restored = async {
        let version = number(&db, "SELECT current_setting('server_version_num')::bigint AS value").await?;
        programs.must_know(RESTORE_PROGRAM, (version / 10_000) as u32).await?;
        let mut restore = programs.command(RESTORE_PROGRAM);
        restore.args(["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-password"]);
        restore.arg("--dbname").arg(programs.database()).arg(copy);
        is_done(RESTORE_PROGRAM, restore).await?;
        Ok(counted(&db).await?)
    };
    let restored = restored.await;
    db.close().await?;
    restored
}

/// Returns the settings with the address of the host that writes, so that the programs use the same one.
async fn on_one_host(settings: &DatabaseSettings) -> Result<DatabaseSettings, OpenError> {
    Ok(DatabaseSettings { url: connect::writing_address(settings).await?, ..settings.clone() })
}

/// Writes the copy; returns its expected contents and the schema that its tables belong to.
async fn copied(
    db: &DatabaseConnection,
    programs: &PgPrograms,
    file: &Path,
) -> Result<(DatabaseCopy, String), CopyError> {
    let version = number(db, "SELECT current_setting('server_version_num')::bigint AS value").await?;
    for program in [DUMP_PROGRAM, RESTORE_PROGRAM] {
        programs.must_know(program, (version / 10_000) as u32).await?;
    }
    let tx = db.begin_with_config(Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly)).await?;
    let snapshot = text(&tx, "SELECT pg_export_snapshot() AS value").await?;
    let schema = text(&tx, "SELECT current_schema()::text AS value").await?;
    let copy = DatabaseCopy { schema: schema_of(&tx).await?, rows: counted(&tx).await? };
    let mut dump = programs.command(DUMP_PROGRAM);
    // Whose the tables are and who may use them is said where they are restored.
    dump.args(["--format=custom", "--no-owner", "--no-privileges", "--no-password"]);
    dump.arg(format!("--exclude-table={LEASE_TABLE}"));
    dump.arg(format!("--snapshot={snapshot}")).arg("--file").arg(file);
    is_done(DUMP_PROGRAM, dump).await?;
    tx.commit().await?;
    Ok((copy, schema))
}

/// Reads an entire copy and counts the rows in the tables of the given schema.
async fn found_in(programs: &PgPrograms, file: &Path, schema: String) -> Result<CopiedRows, CopyError> {
    let mut read = programs.command(RESTORE_PROGRAM);
    read.args(["--data-only", "--file=-"]).arg(file);
    let mut rows = CopiedRows::of_schema(schema);
    read_out(RESTORE_PROGRAM, read, |bytes| rows.take(bytes)).await?;
    Ok(rows)
}
