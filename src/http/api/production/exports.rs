//! Exports created by staff, which can cover all customers. They are downloaded through the API and are not emailed to
//! anyone.

use std::io::ErrorKind;
use std::sync::Arc;

use api_derive::{Request, Response};
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use serde::Serialize;
use serde_json::json;
use tokio_util::io::ReaderStream;

use super::orders::site::Site;
use domain::access::normal_email;
use domain::aggregate::Versioned;
use domain::customer::Customer;
use domain::export::{Export, ExportCommand, ExportScope, ExportState, ExportType};
use domain::id::Id;
use domain::principal::Role;
use domain::time::Timestamp;
use domain::time_span::{SpanEnd, SpanStart};
use files::exports::ExportFiles;
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, CommandTarget, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::limits::RateLimiter;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{Created, ListPage, Plain};
use http::routes::ResourceRoutes;
use http::wire::{EmailAddress, MaxChars, ONE_LINE};
use kernel::directory::Directory;
use kernel::environment::Environment;
use store::queries::Queries;
use words::Language;

/// Example of an exported table.
pub const EXAMPLE_TABLE: &str = "number,status,total\r\nINV-2026-000123,paid,129.00\r\n";

handles! {
    /// Dependencies of the export routes.
    pub struct ExportHandles {
        exports: Directory<Export>,
        files: ExportFiles,
        customers: Directory<Customer>,
        queries: Queries,
        limits: Arc<RateLimiter>,
        environment: Arc<Environment>,
    }
}

const PATH: &str = "/api/exports";
/// Example ID of an export.
const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8090";

/// Returns the export routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Records as tables (CSV), created in the background and kept for 7 days. Customers export their own \
                 records through the billing API.";
    ResourceRoutes::new("Exports", about, "export")
        .get(operator, PATH, list, |op| op.named("listExports", "List exports"))
        .post(operator, PATH, create, |op| {
            op.named("createExport", "Create an export")
                .about("Exports records of one or all customers. No email is sent.")
        })
        .get(operator, "/api/exports/{id}", one, |op| op.named("getExport", "Retrieve an export"))
        .get_long(operator, "/api/exports/{id}/file", file, |op| {
            op.named("downloadExport", "Download an export").sends("text/csv", Some(EXAMPLE_TABLE)).error(
                409,
                "export_not_ready",
                "The export is not ready or has expired.",
            )
        })
}

/// New export, with a filter for its records.
#[derive(Request, Debug)]
#[api(name = "NewExport", example = json!({"type": "invoices", "status": "paid"}))]
pub struct NewExport {
    /// Type of records to export.
    #[api(name = "type")]
    kind: ExportType,
    /// Export only records that belong to the customer with the given email address.
    #[api(EmailAddress)]
    customer_email: Option<String>,
    /// Export only records created at or after the given time or day.
    from: Option<SpanStart>,
    /// Export only records created before the given time, or up to the end of the given day.
    to: Option<SpanEnd>,
    /// Export only records with the given status, as shown in the API.
    #[api(ONE_LINE, MaxChars(40))]
    status: Option<String>,
    /// Export only records that belong to the given site.
    site: Option<Site>,
}

/// Export of records as a table.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Export", many = "exports", example = json!({
    "id": EXAMPLE_ID, "type": "invoices", "state": "ready", "customerEmail": null, "from": null, "to": null,
    "status": "paid", "site": null, "rows": 1204, "bytes": 210_332, "error": null,
    "createdAt": "2026-11-01T08:00:00.000Z", "finishedAt": "2026-11-01T08:00:02.000Z",
    "expiresAt": "2026-11-08T08:00:02.000Z",
}))]
struct ExportView {
    /// ID of the export.
    id: Id,
    /// Type of records.
    #[serde(rename = "type")]
    kind: ExportType,
    /// State of the export.
    state: ExportState,
    /// Email address of the customer to whom the export is limited; null for all customers.
    customer_email: Option<String>,
    /// Earliest creation time of the exported records, inclusive; null for no limit.
    from: Option<Timestamp>,
    /// Latest creation time of the exported records, exclusive; null for no limit.
    to: Option<Timestamp>,
    /// Status to which the export is limited; null for any status.
    status: Option<String>,
    /// Site to which the export is limited; null for all sites.
    site: Option<String>,
    /// Number of rows written so far, not counting the header.
    rows: u64,
    /// Number of bytes written so far.
    bytes: u64,
    /// Error message of the last failed attempt; null if none failed.
    error: Option<String>,
    /// Time at which the export was requested; later records are not included.
    created_at: Timestamp,
    /// Time at which the export was completed or abandoned.
    finished_at: Option<Timestamp>,
    /// Time after which the export can no longer be downloaded.
    expires_at: Option<Timestamp>,
}

impl From<&Export> for ExportView {
    fn from(export: &Export) -> Self {
        let Export { id, scope, state, progress, error, created_at, finished_at, expires_at, .. } = export.clone();
        let ExportScope { kind, customer_email, from, to, status, site } = scope;
        let expires_at = expires_at.filter(|_| state != ExportState::Failed);
        let (rows, bytes) = (progress.rows, progress.bytes);
        Self {
            id,
            kind,
            state,
            customer_email,
            from,
            to,
            status,
            site,
            rows,
            bytes,
            error,
            created_at,
            finished_at,
            expires_at,
        }
    }
}

async fn list(
    State(app): State<ExportHandles>,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<ExportView>, ApiError> {
    let page = page.into();
    let (some, total) = app.queries.exports(page).await?;
    let view = |versioned: &Versioned<Export>| Some(versioned.state.as_ref()?.into());
    Ok(ListPage::new(page, some.iter().filter_map(view), total))
}

async fn create(
    State(app): State<ExportHandles>,
    call: CommandRequest<NewExport>,
) -> Result<Created<ExportView>, ApiError> {
    let command = async {
        let NewExport { kind, customer_email, from, to, status, site } = call.read_body()?;
        let customer_email = customer_email.as_deref().map(normal_email).transpose()?;
        let (from, to) = (from.map(|start| start.0), to.map(|end| end.0));
        let scope = ExportScope { kind, customer_email, from, to, status, site: site.map(|site| site.0) };
        Ok(ExportCommand::Request { scope, mail_to: None, language: Language::default() })
    };
    let done = call.ask_with(&app.exports, CommandTarget::New, command).await?;
    Ok(Created::unversioned(format!("{PATH}/{}", done.id), &done, (&*done.answer).into()))
}

async fn one(State(app): State<ExportHandles>, PathId(id): PathId) -> Result<Plain<ExportView>, ApiError> {
    let (_, state) = find_existing(&app.exports, id).await?;
    Ok(Plain(state_of(&state)?.into()))
}

async fn file(State(app): State<ExportHandles>, PathId(id): PathId) -> Result<axum::response::Response, ApiError> {
    let (_, state) = find_existing(&app.exports, id).await?;
    let export = state_of(&state)?;
    let not_ready = || ApiError::conflict("export_not_ready", "the export is not ready or has expired");
    if !export.is_open(app.environment.now()) {
        return Err(not_ready());
    }
    table(&app.files, export).await?.ok_or_else(not_ready)
}

/// Returns the completed table as a download, streamed from disk; `None` if it is not in the place for files, which was
/// another one when the table was written.
pub async fn table(files: &ExportFiles, export: &Export) -> Result<Option<HttpResponse>, ApiError> {
    let (file, size) = match files.read(export.id).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_LENGTH, size.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", export.file_name())),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    Ok(Some((headers, Body::from_stream(ReaderStream::new(file))).into_response()))
}
