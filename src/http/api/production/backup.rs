//! Full backup of the shop's data as a single download.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use actors::app::backups::{Backup, Backups};
use domain::id::Id;
use domain::principal::Role;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::routes::ResourceRoutes;
use kernel::environment::Environment;
use store::Store;
use store::rows::Audit;

handles! {
    /// Dependencies of the backup route.
    pub struct BackupHandles {
        backups: Arc<Backups>,
        environment: Arc<Environment>,
        store: Store,
    }
}

/// Returns the backup route.
pub fn routes() -> ResourceRoutes {
    let about = "Copy of all the shop's data, to be stored elsewhere.";
    ResourceRoutes::new("Backup", about, "backup").post_long(
        RequiredAccess::Role(Role::Admin),
        "/api/backup",
        make,
        |op| {
            op.named("makeBackup", "Download a backup")
                .about(
                    "A tar archive with a verified snapshot of the database (`printfloor.db` on SQLite, \
                     `printfloor.pgdump` on PostgreSQL), all stored files (`files/`), documents stored in a folder \
                     (`documents/`) and, as the last entry, `manifest.json` with the number of rows in each table and \
                     the size and SHA-256 of each file. An interrupted download has no manifest. The archive does not \
                     contain the server's secrets (`secrets.env`, `.env`); store them separately. Without the same \
                     `SECRETS_KEY` and `API_KEY_SALT`, a server does not start with the data, and the secrets \
                     encrypted in it cannot be read. Only one backup can be created at a time; the shop keeps working \
                     in the meantime.",
                )
                .sends("application/x-tar", None)
                .unkeyed()
                .error(409, "backup_under_way", "A backup is already in progress.")
                .error(
                    503,
                    "pg_dump_missing",
                    "The PostgreSQL client programs are not installed on the server's \
                     machine.",
                )
                .error(503, "pg_dump_too_old", "The PostgreSQL client programs are older than the database server.")
                .error(503, "backup_failed", "Copying the database failed, or the copy is damaged.")
        },
    )
}

async fn make(State(app): State<BackupHandles>, who: Caller) -> Result<Response, ApiError> {
    download(&app, &who).await
}

/// Creates a backup for the caller and streams it while it is being written.
pub async fn download(app: &BackupHandles, who: &Caller) -> Result<Response, ApiError> {
    let now = app.environment.now();
    let Backup { file_name, pieces } = app.backups.begin(now).await?;
    app.store.note(vec![Audit {
        id: app.environment.id(),
        at: now,
        actor: who.by.to_string(),
        action: "backup.make".to_owned(),
        subject_kind: "backup".to_owned(),
        subject_id: Id::ONLY,
        request_id: who.request_id.as_deref().map(str::to_owned),
        outcome: "done".to_owned(),
        detail: Some(json!({"file": file_name}).to_string()),
    }]);
    let headers = [
        (header::CONTENT_TYPE, "application/x-tar".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{file_name}\"")),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    Ok((headers, Body::from_stream(pieces.into_stream())).into_response())
}
