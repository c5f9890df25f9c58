//! Payment links, with which anyone who has the link can pay an invoice.

use api_derive::Request;
use axum::extract::State;
use serde_json::json;

use super::{InvoiceHandles, InvoiceView, operations, show};
use domain::invoice::{Invoice, pay_token};
use domain::time::Timestamp;
use http::command_request::CommandRequest;
use http::error::ApiError;
use http::path_id::PathId;
use http::reply::{NoContent, Resource};
use http::wire::OptionalBody;

/// New payment link for an invoice.
#[derive(Request, Debug)]
#[api(name = "NewPayLink", example = json!({"expiresAt": "2030-11-20T17:00:00.000Z"}))]
pub struct PayLinkBody {
    /// Time at which the link expires. If omitted, it does not expire.
    pub(super) expires_at: Option<Timestamp>,
}

/// Returns the URL of an invoice's payment link, if any.
pub fn pay_url(app: &InvoiceHandles, invoice: &Invoice) -> Option<String> {
    let number = invoice.standing_link(app.environment.now())?;
    let token = pay_token(app.config.auth.session_secret.expose(), invoice.id, number);
    Some(format!("{}/pay/{token}", app.config.public_url()))
}

pub(super) async fn open(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<PayLinkBody>>,
) -> Result<Resource<InvoiceView>, ApiError> {
    let done = operations::open_pay_link(&app, id, &call).await?;
    show(&app, &done).await
}

pub(super) async fn close(
    State(app): State<InvoiceHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    operations::close_pay_link(&app, id, &call).await?;
    Ok(NoContent)
}
