//! Exports of the customer's own records. They are requested, generated in the background, and downloaded through an
//! emailed link that is valid for seven days. The link does not require a session, so it works on any device on which
//! the email is read.

use api_derive::Request;
use axum::Extension;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::reply::{DoneWithWords, Success};
use super::site::RequestSite;
use crate::production::customers::language_of;
use crate::production::exports::{EXAMPLE_TABLE, ExportHandles, table};
use crate::production::orders::site::Site;
use domain::export::{ExportCommand, ExportScope, ExportType, MAX_PENDING_EXPORTS};
use domain::limits::LimitKind;
use domain::refusal::Refusal;
use domain::time_span::{SpanEnd, SpanStart};
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, CommandTarget, find_existing, state_of};
use http::error::{ApiError, Notice};
use http::handler::Argument;
use http::language::accepted_language;
use http::limits::{LimitedReply, WindowKey, within};
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::{MaxChars, ONE_LINE};
use platform::secrets::credentials;
use words::{Language, pages};

/// Error code: the download link has expired.
const EXPIRED: &str = "export_expired";
/// Error code: the customer has too many pending exports.
const TOO_MANY: &str = "too_many_exports";
/// `Retry-After` value, in seconds, after which a pending export may be finished.
const RETRY_SECONDS: u32 = 30;

/// Returns the export routes.
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new("Exports", "Exports of the customer's records as CSV.", "export")
        .post(RequiredAccess::Customer, "/api/v1/exports/request", request, |op| {
            op.named("requestExport", "Request an export")
                .about(
                    "The export is created in the background; the customer receives an email with a link that works \
                     for 7 days. Text that a spreadsheet would treat as a formula starts with an apostrophe.",
                )
                .error(429, TOO_MANY, "Too many of the customer's exports are in progress.")
        })
        .get_long(RequiredAccess::Open, "/api/v1/exports/{exportToken}", fetch, |op| {
            op.named("downloadExport", "Download an export by link")
                .about("Available to anyone who has the link. Browsers receive an HTML page if the link is invalid.")
                .sends("text/csv", Some(EXAMPLE_TABLE))
                .error(404, "export_not_found", "There is no export with this link.")
                .error(404, EXPIRED, "The export was deleted after 7 days.")
        })
}

/// Selection of the customer's records to export.
#[derive(Request, Debug)]
#[api(name = "ExportRequest", example = json!({"type": "invoices", "from": "2026-01-01T00:00:00Z", "status": "paid"}))]
pub struct ExportRequest {
    /// Type of records to export.
    #[api(name = "type")]
    kind: ExportType,
    /// Export only records created at or after the given time or day.
    from: Option<SpanStart>,
    /// Export only records created before the given time, or up to the end of the given day.
    to: Option<SpanEnd>,
    /// Export only records with the given displayed status. Invoices: open, `partially_paid`, paid, overdue, refunded
    /// or void; quotes: sent, accepted, declined or expired.
    #[api(ONE_LINE, MaxChars(40))]
    status: Option<String>,
    /// Export only records that belong to the given site.
    site: Option<Site>,
}

async fn request(
    State(app): State<ExportHandles>,
    RequestSite(site): RequestSite,
    call: CommandRequest<ExportRequest>,
) -> Result<LimitedReply<Plain<DoneWithWords>>, ApiError> {
    let (_, email) = call.who.customer()?;
    let charge = WindowKey::of_mailbox(LimitKind::Export, email);
    let command = async {
        let ExportRequest { kind, from, to, status, site: named } = call.read_body()?;
        if app.queries.pending_exports(email).await? >= MAX_PENDING_EXPORTS {
            let words =
                format!("{MAX_PENDING_EXPORTS} of your exports are in progress; wait until you receive the emails");
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, TOO_MANY, words).retry_after(RETRY_SECONDS));
        }
        let (customer_email, site) = (Some(email.to_owned()), named.or(site).map(|site| site.0));
        let (from, to) = (from.map(|start| start.0), to.map(|end| end.0));
        let scope = ExportScope { kind, customer_email, from, to, status, site };
        let language = language_of(&app.queries, &app.customers, Some(email)).await?;
        Ok(ExportCommand::Request { scope, mail_to: Some(email.to_owned()), language })
    };
    let operation = Box::pin(async {
        call.ask_with(&app.exports, CommandTarget::New, command).await?;
        let message = format!("the export is being created; a download link will be sent to {email}");
        Ok(Plain(DoneWithWords { success: Success, message }))
    });
    within(&app.limits, app.environment.now(), &[charge], operation).await
}

/// The `{exportToken}` of a download link, whether the client accepts HTML, and the language that it prefers.
pub struct LinkCall {
    token: String,
    browser: bool,
    language: Language,
}

impl Argument for LinkCall {}

impl<S: Send + Sync> FromRequestParts<S> for LinkCall {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let token = params.and_then(|params| Some(params.iter().next()?.1.to_owned())).unwrap_or_default();
        let mut accepts = parts.headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
        let browser = accepts.any(|accept| accept.contains("text/html"));
        Ok(Self { token, browser, language: accepted_language(&parts.headers) })
    }
}

async fn fetch(State(app): State<ExportHandles>, link: LinkCall) -> Result<Response, ApiError> {
    match open(&app, &link.token).await {
        Err(error) if link.browser && error.status().is_client_error() => {
            let is_expired = error.code() == EXPIRED;
            let title = if is_expired { pages::export_expired_title } else { pages::export_unknown_title };
            let (title, text) = (title(link.language), pages::export_again_text(link.language));
            Ok((error.status(), Extension(Notice { title, text })).into_response())
        }
        answer => answer,
    }
}

async fn open(app: &ExportHandles, token: &str) -> Result<Response, ApiError> {
    let export_id = match Some(token).filter(|token| credentials::is_token(token)) {
        Some(token) => app.queries.export_by_token(&credentials::session_hash(token)).await?,
        None => None,
    };
    let id = export_id.ok_or_else(|| Refusal::not_found("export"))?;
    let (_, state) = find_existing(&app.exports, id).await?;
    let export = state_of(&state)?;
    let words = "this export has expired and was deleted; request a new one";
    let expired = || ApiError::new(StatusCode::NOT_FOUND, EXPIRED, words);
    if !export.is_open(app.environment.now()) {
        return Err(expired());
    }
    table(&app.files, export).await?.ok_or_else(expired)
}
