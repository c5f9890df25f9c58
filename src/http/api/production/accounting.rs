//! The accounting integration, as staff see it: connection status, and the documents posted to the accounting system.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use actors::integrations::AccountingWake;
use config::Config;
use domain::accounting::{Accounting, AccountingCommand, NOT_CONNECTED};
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::invoice::DocumentKind;
use domain::posting::{Posting, PostingCommand, PostingState};
use domain::principal::Role;
use domain::time::Timestamp;
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handles::handles;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, NoContent, Plain};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody};
use kernel::directory::Directory;
use store::queries::Queries;

/// Example ID of a posting.
const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8091";

handles! {
    /// Dependencies of the accounting routes.
    pub struct AccountingHandles {
        accounting: Directory<Accounting>,
        postings: Directory<Posting>,
        wake: AccountingWake,
        queries: Queries,
        config: Arc<Config>,
    }
}

/// Returns the accounting routes.
pub fn routes() -> ResourceRoutes {
    let (operator, admin) = (RequiredAccess::Role(Role::Operator), RequiredAccess::Role(Role::Admin));
    let about = "Transfer of settled invoices and credit notes to the accounting system. An admin connects the system \
                 in the billing API.";
    ResourceRoutes::new("Accounting", about, "posting")
        .get(operator, "/api/accounting/postings", list, |op| {
            op.named("listPostings", "List postings to the accounting system")
        })
        .post(operator, "/api/accounting/postings/{id}/retry", retry, |op| {
            op.named("retryPosting", "Retry a posting").error(
                409,
                "already_posted",
                "The document has already been posted.",
            )
        })
        .get(admin, "/api/integrations/accounting", show, |op| {
            op.named("getAccounting", "Retrieve the accounting connection").about("Tokens are never returned.")
        })
        .post(admin, "/api/integrations/accounting/disconnect", disconnect, |op| {
            op.named("disconnectAccounting", "Disconnect the accounting system")
                .about("Deletes the tokens immediately and revokes them with the provider as soon as it responds.")
                .error(409, NOT_CONNECTED, "The accounting system is not connected.")
        })
}

/// Filter for the list of postings.
#[derive(Request, Debug)]
pub struct PostingQuery {
    /// Return only postings in the given state.
    state: Option<PostingState>,
    #[api(flatten)]
    page: PageQuery,
}

/// Posting of an invoice or credit note to the accounting system.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Posting", many = "postings", example = json!({
    "id": EXAMPLE_ID, "documentId": EXAMPLE_ID, "invoiceId": EXAMPLE_ID, "kind": "invoice", "number": "INV-2026-000123",
    "amountCents": 12_900, "currency": "usd", "state": "refused", "remoteId": null,
    "error": "status 400: Account code '200' is not a valid code for this document",
    "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-01T08:00:01.000Z",
}))]
struct PostingView {
    /// ID of the posting.
    id: Id,
    /// ID of the invoice or credit note.
    document_id: Id,
    /// ID of the invoice that the document belongs to.
    invoice_id: Id,
    /// Document type: invoice or credit note.
    kind: DocumentKind,
    /// Number of the invoice or credit note.
    number: String,
    /// Amount due or credited, in the currency's smallest unit.
    amount_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// State of the posting.
    state: PostingState,
    /// ID of the document in the accounting system; null until the document is posted.
    remote_id: Option<String>,
    /// Reason the accounting system rejected the document, if it did.
    error: Option<String>,
    /// Time at which the posting was created.
    created_at: Timestamp,
    /// Time at which the posting last changed.
    updated_at: Timestamp,
}

impl From<&Posting> for PostingView {
    fn from(posting: &Posting) -> Self {
        let Posting { id, document_id, invoice_id, kind, number, amount_cents, currency, state, .. } = posting.clone();
        let Posting { remote_id, error, created_at, updated_at, .. } = posting.clone();
        Self {
            id,
            document_id,
            invoice_id,
            kind,
            number,
            amount_cents,
            currency,
            state,
            remote_id,
            error,
            created_at,
            updated_at,
        }
    }
}

/// Status of the connection to the accounting system.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "AccountingConnection", example = json!({
    "configured": true, "connected": true, "tenantId": "70784a63-d24b-46a9-a4db-0e70a274b056", "tenantName": "Shop Ltd",
    "connectedBy": "boss@example.org", "connectedAt": "2026-11-01T08:00:00.000Z", "since": "2026-11-01T08:00:00.000Z",
    "lost": null, "refused": 0,
}))]
struct AccountingView {
    /// `true` if an accounting system is configured.
    configured: bool,
    /// `true` if the accounting system is connected.
    connected: bool,
    /// ID of the connected organisation in the accounting system.
    tenant_id: Option<String>,
    /// Name of the connected organisation.
    tenant_name: Option<String>,
    /// Admin who connected the accounting system.
    connected_by: Option<String>,
    /// Time at which the accounting system was connected.
    connected_at: Option<Timestamp>,
    /// Documents issued before this time are not posted.
    since: Option<Timestamp>,
    /// Reason the connection must be renewed; null while the connection works or if there has never been one.
    lost: Option<String>,
    /// Number of documents that the accounting system rejected and that need review by an operator.
    refused: u64,
}

async fn list(
    State(app): State<AccountingHandles>,
    Query(query): Query<PostingQuery>,
) -> Result<ListPage<PostingView>, ApiError> {
    let page = query.page.into();
    let (some, total) = app.queries.postings(query.state, page).await?;
    let view = |versioned: &Versioned<Posting>| Some(versioned.state.as_ref()?.into());
    Ok(ListPage::new(page, some.iter().filter_map(view), total))
}

async fn retry(
    State(app): State<AccountingHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<PostingView>, ApiError> {
    let command = async {
        let EmptyBody {} = call.read_body()?;
        Ok(PostingCommand::Retry)
    };
    let done = call.ask_with(&app.postings, CommandTarget::Id(id), command).await?;
    app.wake.wake();
    Ok(Plain((&*done.answer).into()))
}

async fn show(State(app): State<AccountingHandles>) -> Result<Plain<AccountingView>, ApiError> {
    let record = app.accounting.read(Id::ONLY).await?;
    let accounting = record.as_ref().and_then(|versioned| versioned.state.as_ref());
    let link = accounting.and_then(|record| record.link.clone());
    let refused = app.queries.refused_postings().await?;
    Ok(Plain(AccountingView {
        configured: !app.config.accounting.client_id.is_empty(),
        connected: link.is_some(),
        tenant_id: link.as_ref().map(|link| link.tenant.id.clone()),
        tenant_name: link.as_ref().map(|link| link.tenant.name.clone()),
        connected_by: link.as_ref().map(|link| link.connected_by.clone()),
        connected_at: link.as_ref().map(|link| link.connected_at),
        since: accounting.and_then(|record| record.since),
        lost: accounting.and_then(|record| record.lost.clone()),
        refused,
    }))
}

async fn disconnect(
    State(app): State<AccountingHandles>,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<NoContent, ApiError> {
    let command = async {
        let EmptyBody {} = call.read_body()?;
        Ok(AccountingCommand::Disconnect)
    };
    call.ask_with(&app.accounting, CommandTarget::Id(Id::ONLY), command).await?;
    app.wake.wake();
    Ok(NoContent)
}
