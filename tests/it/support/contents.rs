//! Contents of a database as counts and hashes of its rows, which are the same on SQLite and PostgreSQL.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait as _, DatabaseBackend, DatabaseConnection, QueryResult, Statement};
use sha2::{Digest as _, Sha256};

use super::db::open;

/// Tables about the leading server and an unfinished restore, which are not part of the shop.
const OTHER_TABLES: [&str; 2] = ["printfloor_leader", "printfloor_restore_unfinished"];
/// Columns with the time at which tables were created, and with the number of servers and commands that have led.
const OTHER_COLUMNS: [&str; 2] = ["applied_at", "epoch"];

/// Number of a table's rows and their hashes, independent of the order of reading.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct TableContents {
    pub rows: u64,
    /// Sum of the prefixes of the rows' SHA-256 hashes.
    sum: u128,
}

/// Contents of a database by table name.
pub type Contents = BTreeMap<String, TableContents>;

/// Reads the whole database. A SQLite file must also pass its integrity check.
pub async fn contents_at(url: &str) -> Contents {
    let db = open(url).await;
    let tables = match db.get_database_backend() {
        DatabaseBackend::Postgres => "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
        _ => {
            assert_eq!(texts(&db, "PRAGMA integrity_check").await, ["ok"], "{url}");
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        }
    };
    let mut contents = Contents::new();
    for table in texts(&db, tables).await {
        if !OTHER_TABLES.contains(&table.as_str()) {
            let rows = table_contents(&db, &table).await;
            contents.insert(table, rows);
        }
    }
    db.close().await.unwrap();
    contents
}

async fn table_contents(db: &DatabaseConnection, table: &str) -> TableContents {
    let mut columns = columns_of(db, table).await;
    columns.sort();
    columns.retain(|(name, _)| !OTHER_COLUMNS.contains(&name.as_str()));
    // Each value with its length, so that none runs over into the next.
    let values = columns.iter().map(|(name, is_flag)| {
        let text = if *is_flag {
            format!("CAST(CAST(\"{name}\" AS INTEGER) AS TEXT)")
        } else {
            format!("CAST(\"{name}\" AS TEXT)")
        };
        format!("(CASE WHEN \"{name}\" IS NULL THEN '-' ELSE LENGTH({text}) || ':' || {text} END)")
    });
    let query = format!("SELECT {} FROM \"{table}\"", values.collect::<Vec<_>>().join(" || "));
    let mut contents = TableContents::default();
    for row in texts(db, &query).await {
        let hash: [u8; 32] = Sha256::digest(row.as_bytes()).into();
        let beginning = hash.iter().take(16).fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte));
        contents.rows += 1;
        contents.sum = contents.sum.wrapping_add(beginning);
    }
    contents
}

/// Returns the names of a table's columns, each with whether it has a boolean type rather than a number.
async fn columns_of(db: &DatabaseConnection, table: &str) -> Vec<(String, bool)> {
    let backend = db.get_database_backend();
    let query = match backend {
        DatabaseBackend::Postgres => format!(
            "SELECT column_name::text, data_type::text FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name = '{table}'"
        ),
        // SQLite has no truth values: they are the numbers 0 and 1.
        _ => format!("SELECT name, 'number' FROM pragma_table_info('{table}')"),
    };
    let rows = db.query_all_raw(Statement::from_string(backend, query)).await.unwrap();
    let column = |row: &QueryResult| {
        let of: String = row.try_get_by_index(1).unwrap();
        (row.try_get_by_index(0).unwrap(), of == "boolean")
    };
    rows.iter().map(column).collect()
}

async fn texts(db: &DatabaseConnection, query: &str) -> Vec<String> {
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), query)).await.expect(query);
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}
