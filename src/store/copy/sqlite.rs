//! Copies an SQLite database through SQLite itself, which reads a consistent snapshot without blocking other readers
//! and writers.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::Path;

use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection, Statement, TransactionTrait};

use super::{CopyError, DatabaseCopy, counted, schema_of};
use crate::connect::{self, DatabaseSettings};

/// Maximum number of attempts to make a copy. Only SQLite knows which point in time a copy represents, so rows are
/// counted before and after copying. If a row is added and removed in between, the counts cannot match, and the copy is
/// made again.
const MAX_COPY_TRIES: usize = 3;

/// Copies the database into an empty file and verifies the copy against the database.
pub(super) async fn copy(settings: &DatabaseSettings, file: &Path) -> Result<DatabaseCopy, CopyError> {
    let db = connect::copying(settings, None).await?;
    let copied = copied(&db, settings, file).await;
    db.close().await?;
    copied
}

async fn copied(db: &DatabaseConnection, settings: &DatabaseSettings, file: &Path) -> Result<DatabaseCopy, CopyError> {
    let path =
        file.to_str().ok_or_else(|| CopyError::Unsound("the path of the data directory is not valid UTF-8".into()))?;
    let mut wrong = String::new();
    for _ in 0..MAX_COPY_TRIES {
        // Another try begins with an empty file again, as SQLite asks for.
        OpenOptions::new().write(true).truncate(true).open(file)?;
        let before = counted_now(db).await?;
        let backend = DatabaseBackend::Sqlite;
        db.execute_raw(Statement::from_sql_and_values(backend, "VACUUM INTO $1", [path.to_owned().into()])).await?;
        let after = counted_now(db).await?;
        let copy = check_copy(settings, file).await?;
        match differing(&before, &copy.rows, &after) {
            None => return Ok(copy),
            Some(table) => wrong = format!("table {table} has a different number of rows"),
        }
    }
    Err(CopyError::Unsound(wrong))
}

/// Counts the rows in all tables in a single snapshot.
async fn counted_now(db: &DatabaseConnection) -> Result<BTreeMap<String, u64>, CopyError> {
    let tx = db.begin().await?;
    let rows = counted(&tx).await?;
    tx.commit().await?;
    Ok(rows)
}

/// Makes SQLite check a copy from the first page to the last, and counts the rows.
pub(super) async fn check_copy(settings: &DatabaseSettings, file: &Path) -> Result<DatabaseCopy, CopyError> {
    let db = connect::copying(settings, Some(file.to_owned())).await?;
    let checked = async {
        let check = Statement::from_string(DatabaseBackend::Sqlite, "PRAGMA integrity_check(1)");
        let verdict = db.query_one_raw(check).await?.map(|row| row.try_get_by_index::<String>(0)).transpose()?;
        match verdict.as_deref() {
            Some("ok") => Ok(DatabaseCopy { schema: schema_of(&db).await?, rows: counted(&db).await? }),
            other => Err(CopyError::Unsound(other.unwrap_or("the integrity check returned no result").to_owned())),
        }
    };
    let checked = checked.await;
    db.close().await?;
    checked
}

/// Returns a table, if any, that has fewer or more rows in the copy than the database had both before and after
/// copying.
fn differing<'a>(
    before: &'a BTreeMap<String, u64>,
    copy: &'a BTreeMap<String, u64>,
    after: &'a BTreeMap<String, u64>,
) -> Option<&'a str> {
    let within = |name: &String| match (before.get(name), copy.get(name), after.get(name)) {
        (Some(before), Some(copy), Some(after)) => (before.min(after)..=before.max(after)).contains(&copy),
        _ => false,
    };
    before.keys().chain(copy.keys()).find(|name| !within(name)).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(all: &[(&str, u64)]) -> BTreeMap<String, u64> {
        all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn a_copy_has_what_was_there_before_or_came_since() {
        let (before, after) = (rows(&[("jobs", 5), ("orders", 2)]), rows(&[("jobs", 7), ("orders", 1)]));
        for (copy, wrong) in [
            (rows(&[("jobs", 5), ("orders", 2)]), None),
            (rows(&[("jobs", 6), ("orders", 1)]), None),
            (rows(&[("jobs", 4), ("orders", 2)]), Some("jobs")),
            (rows(&[("jobs", 5), ("orders", 3)]), Some("orders")),
            (rows(&[("jobs", 5)]), Some("orders")),
            (rows(&[("jobs", 5), ("orders", 2), ("spools", 0)]), Some("spools")),
        ] {
            assert_eq!(differing(&before, &copy, &after), wrong, "{copy:?}");
        }
    }
}
