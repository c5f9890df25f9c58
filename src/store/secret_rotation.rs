//! Replaces the key that stored secrets are encrypted with.
//!
//! One transaction re-encrypts all of them and records the check value of the new key, so a server that is killed in
//! the middle leaves everything as it was: the data always belongs to exactly one key. Secrets are looked for in every
//! document, so a kind of aggregate that gets a secret needs no line here.

use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseTransaction, DbErr, Statement, TransactionTrait as _};
use uuid::Uuid;

use crate::connect::{OpenError, WriteConnection};
use crate::rows::{Audit, Batch, WriteError};
use crate::secret_checks::{SecretCheck, is_current};
use domain::id::Id;
use domain::principal::Principal;
use domain::time::Timestamp;
use platform::secrets::encryption::SecretCipher;
use platform::secrets::rotation::{RotatedDocument, SECRET_OPENING, rotate_document};

/// Maximum number of documents read at once.
const PAGE_ROWS: u64 = 500;

/// Outcome of a rotation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct KeyRotation {
    /// Number of secrets that were encrypted with the new key.
    pub renewed: u64,
    /// Number of secrets that neither key decrypts; they are unchanged.
    pub unreadable: u64,
}

/// Column with JSON documents that may contain secrets.
struct DocumentColumn {
    table: String,
    key: &'static str,
    document: &'static str,
}

/// Encrypts all secrets with the new key that were encrypted with the former one, unless that has been done: then
/// returns `None`. The audit log has a line about it, and the connection goes on from that. Must be called before
/// anything else reads secrets.
///
/// # Errors
///
/// Fails if the database cannot be read or written, or if a different server has taken over; then nothing is changed.
pub async fn rotate(
    writing: &mut WriteConnection,
    check: &SecretCheck,
    (former, new): (&SecretCipher, &SecretCipher),
    now: Timestamp,
) -> Result<Option<KeyRotation>, OpenError> {
    if is_current(&writing.db, check).await? {
        return Ok(None);
    }
    let (mut batch, mut head) = (Batch::default(), writing.audit.clone());
    batch.push_audit(audit_line(writing.epoch, now), &mut head);
    let tx = writing.db.begin().await?;
    writing.hold(&tx, &head).await?;
    if tx.get_database_backend() == DatabaseBackend::Postgres {
        // Reading all documents of a large shop may take longer than a statement of the server may.
        tx.execute_unprepared("SET LOCAL statement_timeout = 0").await?;
    }
    let mut rotation = KeyRotation::default();
    for column in document_columns(&tx).await? {
        column.rotate(&tx, (former, new), &mut rotation).await?;
    }
    record(&tx, check).await?;
    batch.write(&tx).await.map_err(of_line)?;
    tx.commit().await?;
    writing.audit = head;
    Ok(Some(rotation))
}

/// Returns the error for an audit log line that cannot be written.
fn of_line(error: WriteError) -> OpenError {
    match error {
        WriteError::Db(error) | WriteError::Value(error) => error.into(),
        other => DbErr::Custom(other.to_string()).into(),
    }
}

/// Returns the line of the audit log about a rotation, of which there is at most one in each epoch.
fn audit_line(epoch: i64, now: Timestamp) -> Audit {
    let name = format!("secrets.rotate:{epoch}:{now}");
    Audit {
        id: Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())),
        at: now,
        actor: Principal::Machine.to_string(),
        action: "secrets.rotate".to_owned(),
        subject_kind: "access".to_owned(),
        subject_id: Id::ONLY,
        request_id: None,
        outcome: "done".to_owned(),
        detail: None,
    }
}

/// Returns the columns of tables with documents, which are recognised by the columns beside them, and the one with the
/// answers that are kept for repeated requests. A view created by someone else has no documents of its own.
async fn document_columns(tx: &DatabaseTransaction) -> Result<Vec<DocumentColumn>, DbErr> {
    let backend = tx.get_database_backend();
    let sql = match backend {
        DatabaseBackend::Postgres => {
            "SELECT table_name::text AS name FROM information_schema.columns WHERE table_schema = current_schema() AND \
             (column_name::text, data_type::text) IN (('id', 'text'), ('schema', 'bigint'), ('doc', 'text')) \
             AND table_name IN (SELECT table_name FROM information_schema.tables \
             WHERE table_schema = current_schema() AND table_type = 'BASE TABLE') \
             GROUP BY table_name HAVING COUNT(*) = 3"
        }
        _ => {
            "SELECT t.name AS name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND \
             c.name IN ('id', 'schema', 'doc') GROUP BY t.name HAVING COUNT(*) = 3"
        }
    };
    let rows = tx.query_all_raw(Statement::from_string(backend, sql)).await?;
    let mut columns = vec![DocumentColumn { table: "idempotency".to_owned(), key: "key", document: "answer" }];
    for row in rows {
        columns.push(DocumentColumn { table: row.try_get("", "name")?, key: "id", document: "doc" });
    }
    Ok(columns)
}

/// Records that the data now depends on the new key.
async fn record(tx: &DatabaseTransaction, check: &SecretCheck) -> Result<(), DbErr> {
    let sql = "INSERT INTO secret_checks (name, value) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    let values = [check.name.into(), check.value.clone().into()];
    tx.execute_raw(Statement::from_sql_and_values(tx.get_database_backend(), sql, values)).await?;
    Ok(())
}

impl DocumentColumn {
    /// Rotates the documents of the table, and adds to the outcome.
    async fn rotate(
        &self,
        tx: &DatabaseTransaction,
        (former, new): (&SecretCipher, &SecretCipher),
        rotation: &mut KeyRotation,
    ) -> Result<(), DbErr> {
        let mut last = String::new();
        loop {
            let page = self.page(tx, &last).await?;
            let Some((key, _)) = page.last() else { return Ok(()) };
            last.clone_from(key);
            for (key, document) in page {
                let RotatedDocument { text, renewed, unreadable } = rotate_document(&document, former, new);
                if renewed > 0 {
                    self.write(tx, key, text).await?;
                }
                rotation.renewed += renewed;
                rotation.unreadable += unreadable;
            }
        }
    }

    /// Returns the next documents in which a secret may be, each with its key. No key is empty.
    async fn page(&self, tx: &DatabaseTransaction, last: &str) -> Result<Vec<(String, String)>, DbErr> {
        let Self { table, key, document } = self;
        let sql = format!(
            "SELECT \"{key}\" AS row_key, \"{document}\" AS row_document FROM \"{table}\" WHERE \"{document}\" LIKE $1 \
             AND \"{key}\" > $2 ORDER BY \"{key}\" LIMIT {PAGE_ROWS}"
        );
        let values = [format!("%{SECRET_OPENING}%").into(), last.to_owned().into()];
        let rows = tx.query_all_raw(Statement::from_sql_and_values(tx.get_database_backend(), sql, values)).await?;
        rows.iter().map(|row| Ok((row.try_get("", "row_key")?, row.try_get("", "row_document")?))).collect()
    }

    async fn write(&self, tx: &DatabaseTransaction, row_key: String, text: String) -> Result<(), DbErr> {
        let Self { table, key, document } = self;
        let sql = format!("UPDATE \"{table}\" SET \"{document}\" = $1 WHERE \"{key}\" = $2");
        let values = [text.into(), row_key.into()];
        tx.execute_raw(Statement::from_sql_and_values(tx.get_database_backend(), sql, values)).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
