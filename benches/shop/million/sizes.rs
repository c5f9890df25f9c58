//! Bytes on disk for each order, by table and index.

use std::collections::BTreeMap;

use crate::database::{Kind, connect, rows_of};
use crate::table::Row;

/// Query for the name, table and size in bytes of each table and index. The server's SQLite is compiled with `dbstat`.
const SQLITE_SIZES: &str = "SELECT s.name, COALESCE(m.tbl_name, s.name), s.pgsize \
                            FROM dbstat s LEFT JOIN sqlite_master m ON m.name = s.name WHERE s.aggregate = TRUE";
const POSTGRES_SIZES: &str = "WITH tables AS (SELECT oid, relname::text AS name FROM pg_class \
                              WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace) \
                              SELECT name, name, pg_table_size(oid) FROM tables \
                              UNION ALL SELECT i.relname::text, t.name, pg_relation_size(i.oid) FROM tables t \
                              JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid";
/// Minimum bytes per order for an entry to be listed by name.
const NAMED_FROM: f64 = 1.0;

/// Returns a row for each table with its indexes, largest first, and one for the total, which has a target.
pub async fn rows(kind: Kind, url: &str, of: &str, (orders, aim): (usize, f64)) -> Vec<Row> {
    let db = connect(url).await;
    let sizes = rows_of(&db, if kind == Kind::Sqlite { SQLITE_SIZES } else { POSTGRES_SIZES }).await;
    db.close().await.unwrap();
    let mut tables: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
    for row in &sizes {
        let [name, table]: [String; 2] = [0, 1].map(|at| row.try_get_by_index(at).unwrap());
        let bytes: i64 = row.try_get_by_index(2).unwrap();
        tables.entry(table).or_default().push((name, bytes as f64 / orders as f64));
    }
    let sum = |parts: &[(String, f64)]| parts.iter().map(|(_, bytes)| bytes).sum::<f64>();
    let mut tables: Vec<_> = tables.into_iter().map(|(table, parts)| (sum(&parts), table, parts)).collect();
    tables.sort_by(|one, other| other.0.total_cmp(&one.0));
    let total: f64 = tables.iter().map(|(bytes, ..)| bytes).sum();
    let mut rows = Vec::new();
    for (bytes, table, mut parts) in tables.into_iter().filter(|(bytes, ..)| *bytes >= NAMED_FROM) {
        parts.sort_by(|one, other| other.1.total_cmp(&one.1));
        let named = parts.iter().filter(|(_, bytes)| *bytes >= NAMED_FROM);
        let named: Vec<String> = named.map(|(name, bytes)| format!("{name} {bytes:.0}")).collect();
        let measured = format!("{bytes:.0} bytes: {}", named.join(", "));
        rows.push(Row::figure(format!("{of}: on disk for each order, {table} and its indexes"), measured));
    }
    let what = format!("{of}: on disk for each order");
    rows.push(Row::figure(what, format!("{total:.0} bytes")).at_most(total, aim, "bytes"));
    rows
}
