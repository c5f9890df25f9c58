//! Numbers the lines of the audit log and chains them by hash, those of older versions in the order of their IDs, and
//! makes the database refuse to change or delete them. The head of the chain is in the row of the writer.

use std::fmt::Write as _;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{DatabaseBackend, QueryResult, Statement};

use domain::audit::chain::{ChainHead, ChainLine};

/// Columns of the lines and of the head.
const COLUMNS: [&str; 4] = [
    "ALTER TABLE audit ADD COLUMN number BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE audit ADD COLUMN chain TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE writer ADD COLUMN audit_number BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE writer ADD COLUMN audit_chain TEXT NOT NULL DEFAULT ''",
];

/// Reads the lines of older versions, a portion at a time.
const OLD_LINES: &str = "SELECT id, at, actor, action, subject_kind, subject_id, request_id, outcome, detail \
                         FROM audit WHERE id > $1 ORDER BY id LIMIT 500";

const SQLITE_TRIGGERS: [&str; 2] = [
    "CREATE TRIGGER audit_refuses_update BEFORE UPDATE ON audit \
     BEGIN SELECT RAISE(ABORT, 'lines of the audit log cannot be changed'); END",
    "CREATE TRIGGER audit_refuses_delete BEFORE DELETE ON audit \
     BEGIN SELECT RAISE(ABORT, 'lines of the audit log cannot be deleted'); END",
];

/// Triggers of PostgreSQL. A transfer empties tables that are already empty, so only the loss of a row is refused.
const POSTGRES_TRIGGERS: [&str; 3] = [
    "CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS \
     $$ BEGIN RAISE EXCEPTION 'lines of the audit log cannot be changed or deleted'; END $$",
    "CREATE TRIGGER audit_refuses_change BEFORE UPDATE OR DELETE ON audit \
     FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()",
    "CREATE TRIGGER audit_refuses_truncate BEFORE TRUNCATE ON audit \
     FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()",
];

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for sql in COLUMNS {
            db.execute_unprepared(sql).await?;
        }
        let head = chain_lines(db).await?;
        let backend = db.get_database_backend();
        let sql = "UPDATE writer SET audit_number = $1, audit_chain = $2";
        db.execute_raw(Statement::from_sql_and_values(backend, sql, [head.number.into(), head.hash.into()])).await?;
        // Not unique: a line that was inserted by hand must not stop the shop.
        db.execute_unprepared("CREATE INDEX ix__audit__number ON audit (number, id)").await?;
        let triggers = match backend {
            DatabaseBackend::Postgres => &POSTGRES_TRIGGERS[..],
            _ => &SQLITE_TRIGGERS[..],
        };
        for sql in triggers {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}

/// Numbers and chains all lines; returns the head.
async fn chain_lines(db: &impl ConnectionTrait) -> Result<ChainHead, DbErr> {
    let backend = db.get_database_backend();
    let (mut head, mut after) = (ChainHead::default(), String::new());
    loop {
        let page = Statement::from_sql_and_values(backend, OLD_LINES, [after.into()]);
        let rows = db.query_all_raw(page).await?;
        let Some(last) = rows.last() else { return Ok(head) };
        after = last.try_get("", "id")?;
        let mut values: Vec<Value> = Vec::new();
        for row in &rows {
            let line = OldLine::read(row)?;
            head = head.append(&line.chain_line());
            let set: [Value; 3] = [line.id.into(), head.number.into(), head.hash.clone().into()];
            values.extend(set);
        }
        let sql = update(rows.len(), backend);
        db.execute_raw(Statement::from_sql_and_values(backend, sql, values)).await?;
    }
}

/// Returns the statement that sets the number and hash of the given number of lines.
fn update(lines: usize, backend: DatabaseBackend) -> String {
    let mut sql = "WITH v (id, number, chain) AS (VALUES ".to_owned();
    for line in 0..lines {
        sql.push_str(if line == 0 { "" } else { ", " });
        if backend == DatabaseBackend::Postgres {
            let first = line * 3 + 1;
            let _ = write!(sql, "(${first}, ${}, ${})", first + 1, first + 2);
        } else {
            sql.push_str("(?, ?, ?)");
        }
    }
    sql.push_str(") UPDATE audit SET number = v.number, chain = v.chain FROM v WHERE audit.id = v.id");
    sql
}

/// Line that an older version wrote.
struct OldLine {
    id: String,
    at: i64,
    actor: String,
    action: String,
    subject_kind: String,
    subject_id: String,
    request_id: Option<String>,
    outcome: String,
    detail: Option<String>,
}

impl OldLine {
    fn read(row: &QueryResult) -> Result<Self, DbErr> {
        Ok(Self {
            id: row.try_get("", "id")?,
            at: row.try_get("", "at")?,
            actor: row.try_get("", "actor")?,
            action: row.try_get("", "action")?,
            subject_kind: row.try_get("", "subject_kind")?,
            subject_id: row.try_get("", "subject_id")?,
            request_id: row.try_get("", "request_id")?,
            outcome: row.try_get("", "outcome")?,
            detail: row.try_get("", "detail")?,
        })
    }

    fn chain_line(&self) -> ChainLine<'_> {
        ChainLine {
            id: &self.id,
            at: self.at,
            actor: &self.actor,
            action: &self.action,
            subject_kind: &self.subject_kind,
            subject_id: &self.subject_id,
            request_id: self.request_id.as_deref(),
            outcome: &self.outcome,
            detail: self.detail.as_deref(),
        }
    }
}
