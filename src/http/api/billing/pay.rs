//! Payment links: anyone with the link can view the invoice, which contains no personal data except the name, and pay
//! it.

use std::sync::Arc;

use api_derive::Response;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};

use super::checkout::CheckoutReply;
use super::invoices::{begin_checkout, payable};
use super::reply::Success;
use crate::production::invoices::{InvoiceAmounts, InvoiceHandles, InvoiceLineView};
use crate::production::orders::site::Site;
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::invoice::{Invoice, InvoiceStatus, read_pay_token};
use domain::limits::LimitKind;
use domain::refusal::{Class, Refusal};
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, state_of};
use http::error::ApiError;
use http::handler::Argument;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http::operation::DescribedOperation;
use http::reply::Plain;
use http::return_paths::CheckoutBody;
use http::routes::ResourceRoutes;
use http::wire::OptionalBody;

/// Returns the routes of payment links.
pub fn routes() -> ResourceRoutes {
    let open = RequiredAccess::Open;
    let about = "Links for paying invoices without signing in. Staff create and revoke them.";
    ResourceRoutes::new("Pay Links", about, "pay_link")
        .get(open, "/api/v1/pay/{token}", show, |op| {
            with_link_errors(op.named("getPayLink", "Retrieve the invoice of a payment link")).about(
                "The invoice contains no personal data except the customer's name. Also available after payment.",
            )
        })
        .post(open, "/api/v1/pay/{token}/checkout", check_out, |op| {
            payable(with_link_errors(
                op.named("checkOutPayLink", "Create a checkout for the invoice of a payment link"),
            ))
            .about(
                "Returns the payment page for the full amount due; while it is open, all callers receive the same \
                 page.",
            )
        })
}

fn with_link_errors(op: DescribedOperation) -> DescribedOperation {
    op.error(404, "pay_link_not_found", "There is no such link.").error(
        410,
        "pay_link_gone",
        "The link has expired or was revoked, or the invoice is void or refunded.",
    )
}

/// The `{token}` path parameter of a payment link.
pub struct PayToken(pub String);

impl Argument for PayToken {}

impl<S: Send + Sync> FromRequestParts<S> for PayToken {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let text = params.ok().and_then(|params| Some(params.iter().next()?.1.to_owned()));
        Ok(Self(text.unwrap_or_default()))
    }
}

fn example() -> Value {
    json!({
        "number": "INV-2026-000123", "status": "open", "site": "industries", "customerName": "Ann Example",
        "currency": "usd", "subtotalCents": 12000, "shippingCents": 0, "taxCents": 0, "discountCents": 0, "roundingCents": 0,
        "totalCents": 12000, "amountPaidCents": 0, "amountDueCents": 12000, "issuedAt": "2026-11-02T10:00:00.000Z",
        "dueAt": "2026-11-16T10:00:00.000Z", "paidAt": null, "lineItems": [{
            "description": "Design, one hour", "quantity": 2, "unitPriceCents": 6000, "taxRateBps": 0, "amountCents": 12000,
        }],
    })
}

/// Invoice as shown to anyone who has its payment link.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PayableInvoice", example = example())]
struct PayableInvoice {
    /// Invoice number, such as `INV-2026-000123`.
    number: String,
    /// Current status of the invoice.
    status: InvoiceStatus,
    /// Site of the shop that issued the invoice.
    site: Site<String>,
    /// Name of the invoiced customer.
    customer_name: String,
    #[serde(flatten)]
    amounts: InvoiceAmounts,
    /// Lines of the invoice.
    line_items: Vec<InvoiceLineView>,
}

/// Invoice of a payment link.
#[derive(Response, Serialize)]
#[api(name = "PayLinkResponse", example = json!({"success": true, "invoice": PayableInvoice::example()}))]
struct PayLinkReply {
    success: Success,
    invoice: PayableInvoice,
}

/// Returns the invoice identified by the token of a payment link.
pub async fn linked(app: &InvoiceHandles, token: &str) -> Result<Arc<Versioned<Invoice>>, ApiError> {
    let unknown = || Refusal::not_found("pay_link");
    let named = read_pay_token(app.config.auth.session_secret.expose(), token);
    let (id, number) = named.ok_or_else(unknown)?;
    let state = app.invoices.read(id).await?.ok_or_else(unknown)?;
    let invoice = state_of(&state)?;
    invoice.linked_by(number, app.environment.now())?;
    if invoice.status == InvoiceStatus::Refunded {
        let words = "the invoice was refunded and can no longer be paid";
        return Err(Refusal::new(Class::Gone, "pay_link_gone", words).into());
    }
    Ok(state)
}

async fn show(State(app): State<InvoiceHandles>, PayToken(token): PayToken) -> Result<Plain<PayLinkReply>, ApiError> {
    let state = linked(&app, &token).await?;
    let invoice = state_of(&state)?;
    let issued: Vec<Id> = invoice.issued().map(|one| one.id).into_iter().collect();
    let number = app.queries.document_numbers(&issued).await?.into_values().next().unwrap_or_default();
    let content = &invoice.content;
    let invoice = PayableInvoice {
        number,
        status: invoice.shown_status(app.environment.now()),
        site: Site(invoice.site.clone()),
        customer_name: content.buyer.name.clone(),
        amounts: invoice.into(),
        line_items: content.lines.iter().map(Into::into).collect(),
    };
    Ok(Plain(PayLinkReply { success: Success, invoice }))
}

/// Starts the checkout of the invoice. While a payment page is open, every call returns the same one.
async fn check_out(
    State(app): State<InvoiceHandles>,
    PayToken(token): PayToken,
    ClientAddress(client): ClientAddress,
    State(limits): State<Arc<RateLimiter>>,
    call: CommandRequest<OptionalBody<CheckoutBody>>,
) -> Result<LimitedReply<Plain<CheckoutReply>>, ApiError> {
    let charge = WindowKey::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        let state = linked(&app, &token).await?;
        let pages = call.read_body()?.pages(&call.headers, &app.config);
        let open = begin_checkout(&app, state_of(&state)?, &call.origin(), &pages).await?;
        Ok(Plain(open.into()))
    };
    within(&limits, app.environment.now(), &[charge], open).await
}
