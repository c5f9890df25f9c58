//! Tables, columns, indexes and triggers of a database, as read from its catalogue.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{ConnectionTrait, DatabaseBackend, QueryResult, Statement};

/// Catalogue queries for one kind of database: columns, indexes, triggers and row constraints.
struct CatalogueQueries {
    columns: &'static str,
    indexes: &'static str,
    triggers: &'static str,
    constraints: Option<&'static str>,
}

const POSTGRES: CatalogueQueries = CatalogueQueries {
    columns: "SELECT c.relname::text AS table_name, a.attname::text AS name, \
              format_type(a.atttypid, a.atttypmod) AS kind, a.attnotnull::int::bigint AS is_required, \
              pg_get_expr(d.adbin, d.adrelid) AS fallback \
              FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid \
              LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
              WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 \
              AND NOT a.attisdropped",
    indexes: "SELECT t.relname::text AS table_name, i.relname::text AS name, pg_get_indexdef(i.oid) AS definition, \
              x.indisunique::int::bigint AS is_unique, (SELECT string_agg(a.attname::text, ' ' ORDER BY a.attnum) \
              FROM pg_attribute AS a WHERE a.attrelid = i.oid) AS columns \
              FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid \
              WHERE t.relnamespace = 'public'::regnamespace",
    triggers: "SELECT c.relname::text AS table_name, t.tgname::text AS name, \
               pg_get_triggerdef(t.oid) || ' ' || pg_get_functiondef(t.tgfoid) AS definition \
               FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid \
               WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal",
    constraints: Some(
        "SELECT c.relname::text AS table_name, x.conname::text AS name \
         FROM pg_constraint AS x JOIN pg_class AS c ON c.oid = x.conrelid \
         WHERE c.relnamespace = 'public'::regnamespace AND x.contype IN ('c', 'f', 'x')",
    ),
};

const SQLITE: CatalogueQueries = CatalogueQueries {
    columns: "SELECT m.name AS table_name, p.name AS name, LOWER(p.type) AS kind, p.\"notnull\" AS is_required, \
              p.dflt_value AS fallback FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS p \
              WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'",
    indexes: "SELECT m.name AS table_name, l.name AS name, COALESCE(s.sql, l.origin) AS definition, \
              l.\"unique\" AS is_unique, \
              (SELECT GROUP_CONCAT(n.name, ' ') FROM pragma_index_info(l.name) AS n) AS columns \
              FROM sqlite_master AS m JOIN pragma_index_list(m.name) AS l \
              LEFT JOIN sqlite_master AS s ON s.type = 'index' AND s.name = l.name \
              WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'",
    triggers: "SELECT tbl_name AS table_name, name, sql AS definition FROM sqlite_master WHERE type = 'trigger'",
    // Only a table that is made anew could get one.
    constraints: None,
};

/// Column of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnSchema {
    pub kind: String,
    /// `true` if the column is `NOT NULL`.
    pub is_required: bool,
    /// Default as written in the database's catalogue; `None` if there is none.
    pub fallback: Option<String>,
}

/// Index of a table, including the one of its primary key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexSchema {
    pub definition: String,
    pub is_unique: bool,
    pub columns: Vec<String>,
}

/// Table of a database.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableSchema {
    pub columns: BTreeMap<String, ColumnSchema>,
    pub indexes: BTreeMap<String, IndexSchema>,
    /// Triggers by name, with their functions.
    pub triggers: BTreeMap<String, String>,
    /// Names of check constraints and foreign keys.
    pub constraints: BTreeSet<String>,
}

/// All tables of a database.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DatabaseSchema {
    pub tables: BTreeMap<String, TableSchema>,
}

impl DatabaseSchema {
    /// Reads the catalogue of a database.
    pub async fn read(db: &impl ConnectionTrait) -> Self {
        let queries = match db.get_database_backend() {
            DatabaseBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        let mut schema = Self::default();
        for row in rows(db, queries.columns).await {
            let (kind, is_required) = (text(&row, "kind"), flag(&row, "is_required"));
            let column = ColumnSchema { kind, is_required, fallback: row.try_get("", "fallback").unwrap() };
            schema.table(&row).columns.insert(text(&row, "name"), column);
        }
        for row in rows(db, queries.indexes).await {
            let columns: Option<String> = row.try_get("", "columns").unwrap();
            let columns = columns.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
            let (definition, is_unique) = (text(&row, "definition"), flag(&row, "is_unique"));
            schema.table(&row).indexes.insert(text(&row, "name"), IndexSchema { definition, is_unique, columns });
        }
        for row in rows(db, queries.triggers).await {
            schema.table(&row).triggers.insert(text(&row, "name"), text(&row, "definition"));
        }
        if let Some(query) = queries.constraints {
            for row in rows(db, query).await {
                schema.table(&row).constraints.insert(text(&row, "name"));
            }
        }
        schema
    }

    /// Returns the table that a row of the catalogue belongs to.
    fn table(&mut self, row: &QueryResult) -> &mut TableSchema {
        self.tables.entry(text(row, "table_name")).or_default()
    }
}

async fn rows(db: &impl ConnectionTrait, query: &str) -> Vec<QueryResult> {
    db.query_all_raw(Statement::from_string(db.get_database_backend(), query)).await.unwrap()
}

fn text(row: &QueryResult, column: &str) -> String {
    row.try_get("", column).unwrap()
}

fn flag(row: &QueryResult, column: &str) -> bool {
    row.try_get::<i64>("", column).unwrap() != 0
}
