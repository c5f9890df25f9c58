//! The customer's own quotes: listing, details, accepting and declining; and models that customers upload for pricing.
//!
//! Drafts are visible only to the shop. For an uploaded model, the customer sees the current price, under the ID of the
//! model rather than that of the draft.

mod models;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use super::list::{ListQuery, OwnList, OwnListItem};
use super::reply::Success;
use super::site::RequestSite;
use crate::production::quotes::{Declining, EXAMPLE_ID, QuoteHandles};
use actors::quotes::QuoteOrderError;
use domain::id::Id;
use domain::quote::{QUOTE_DECLINED, QUOTE_EXPIRED, Quote, QuoteCommand, QuoteLine, QuoteStatus};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandRequest, CommandTarget, find_present};
use http::error::ApiError;
use http::handles::handles;
use http::limits::RateLimiter;
use http::operation::DescribedOperation;
use http::page::OpenQuery;
use http::path_id::NamedId;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody, schema_of};
use kernel::envelope::CommandOrigin;
use models::OwnModelForm;
pub use models::{first_model, take_model};
use store::queries::{Page, QuoteFilter};

handles! {
    /// Dependencies of the customer quote routes.
    pub struct OwnQuoteHandles {
        quotes: QuoteHandles,
        limits: Arc<RateLimiter>,
    }
}

/// Returns the customer quote routes.
pub fn routes() -> ResourceRoutes {
    let customer = RequiredAccess::Customer;
    ResourceRoutes::new("Quotes", "The shop's offers, with their prices and validity.", "quote")
        .get(customer, "/api/v1/quotes", list, |op| op.named("listQuotes", "List your quotes"))
        .post_long(customer, "/api/v1/quotes/models", models::upload, |op| {
            op.named("createQuoteModel", "Upload a model for a quote")
                .about(
                    "The model (STL or 3MF) is measured and priced immediately. The shop reviews it and sends the \
                     binding quote.",
                )
                .takes_form(schema_of::<OwnModelForm>())
                .error(507, "storage_full", "The shop has no storage space for more customer files.")
        })
        .get(customer, "/api/v1/quotes/models/{modelId}", models::model, |op| {
            op.named("getQuoteModel", "Retrieve the price of an uploaded model")
                .about("The price becomes more precise after slicing.")
        })
        .get(customer, "/api/v1/quotes/{quoteId}", one, |op| op.named("getQuote", "Retrieve one of your quotes"))
        .post(customer, "/api/v1/quotes/{quoteId}/accept", accept, |op| {
            answered(op.named("acceptQuote", "Accept a quote"))
                .about(
                    "Creates one order of kind `custom` at the prices of the quote; accepting again returns the same \
                     order.",
                )
                .error(409, QUOTE_DECLINED, "The quote was declined or withdrawn.")
                .error(
                    409,
                    "order_not_made",
                    "An item in the quote is no longer available; the shop has been notified.",
                )
        })
        .post(customer, "/api/v1/quotes/{quoteId}/decline", decline, |op| {
            answered(op.named("declineQuote", "Decline a quote")).error(
                409,
                "invalid_transition",
                "The quote was already accepted.",
            )
        })
        .schema::<OwnModelForm>()
}

fn answered(op: DescribedOperation) -> DescribedOperation {
    op.error(403, "forbidden", "The quote belongs to another customer.").error(
        409,
        QUOTE_EXPIRED,
        "The quote has expired.",
    )
}

/// Filter for the customer's quotes.
#[derive(Request, Debug)]
pub struct OwnQuoteQuery {
    /// Return only quotes with the given displayed status. Expired quotes have the status `expired`, not `sent`.
    status: Option<QuoteStatus>,
    #[api(flatten)]
    page: ListQuery,
}

fn quote_example() -> Value {
    json!({
        "id": EXAMPLE_ID, "number": "QUO-000123", "status": "sent", "customerEmail": "ann@example.org",
        "customRequestId": null, "lines": [{
            "description": "Bracket", "quantity": 2, "unitPriceCents": 1850,
            "skuId": crate::production::skus::EXAMPLE_ID,
        }],
        "subtotalCents": 3700, "shippingCents": 0, "taxCents": 0, "totalCents": 3700, "currency": "usd",
        "validUntil": "2026-11-16T10:00:00.000Z", "notes": null, "orderId": null,
        "createdAt": "2026-11-02T10:00:00.000Z", "updatedAt": "2026-11-02T10:05:00.000Z",
    })
}

/// Quote as its customer sees it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Quote", many = "quotes", example = quote_example())]
struct OwnQuote {
    /// ID of the quote.
    id: Id,
    /// Human-readable quote number.
    number: String,
    /// Current status of the quote.
    status: QuoteStatus,
    /// Email address of the customer.
    customer_email: Option<String>,
    /// ID of the request for a custom piece that the quote is for.
    custom_request_id: Option<Id>,
    /// Lines of the quote.
    lines: Vec<OwnLine>,
    /// Sum of the line amounts, in minor units of the currency.
    subtotal_cents: i64,
    /// Shipping charge, in minor units of the currency.
    shipping_cents: i64,
    /// Tax on lines and shipping, in minor units of the currency.
    tax_cents: i64,
    /// Total amount, in minor units of the currency.
    total_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// Time until which the quote can be accepted.
    valid_until: Option<Timestamp>,
    /// Notes from the shop.
    notes: Option<String>,
    /// ID of the resulting order; null until the quote is accepted.
    order_id: Option<Id>,
    /// Time at which the quote was created.
    created_at: Timestamp,
    /// Time of the last change.
    updated_at: Timestamp,
}

/// Line of a quote.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteLine")]
struct OwnLine {
    /// Description of the quoted item.
    description: String,
    /// Number of units.
    quantity: u32,
    /// Net unit price, in minor units of the currency.
    unit_price_cents: i64,
    /// ID of the SKU to print; null for items that are not printed.
    sku_id: Option<Id>,
}

impl From<&QuoteLine> for OwnLine {
    fn from(line: &QuoteLine) -> Self {
        Self {
            description: line.description.clone(),
            quantity: line.quantity,
            unit_price_cents: line.unit_price_cents,
            sku_id: line.sku_id,
        }
    }
}

impl OwnQuote {
    fn new(quote: &Quote, now: Timestamp) -> Self {
        Self {
            id: quote.id,
            number: quote.number_text(),
            status: quote.shown_status(now),
            customer_email: quote.customer_email.clone(),
            custom_request_id: quote.custom_request_id,
            lines: quote.lines.iter().map(Into::into).collect(),
            subtotal_cents: quote.subtotal_cents,
            shipping_cents: quote.shipping_cents,
            tax_cents: quote.tax_cents,
            total_cents: quote.total_cents,
            currency: quote.currency.clone(),
            valid_until: quote.valid_until,
            notes: quote.notes.clone(),
            order_id: quote.order_id,
            created_at: quote.created_at,
            updated_at: quote.updated_at,
        }
    }
}

impl OwnListItem for OwnQuote {
    const LIST_NAME: &'static str = "QuoteListResponse";
    const ENTRIES: &'static str = "Quotes, newest first.";
}

/// One of the customer's quotes.
#[derive(Response, Serialize)]
#[api(name = "QuoteResponse", example = json!({"success": true, "quote": quote_example()}))]
struct QuoteReply {
    success: Success,
    quote: OwnQuote,
}

impl QuoteReply {
    fn of(app: &OwnQuoteHandles, quote: &Quote) -> Plain<Self> {
        Plain(Self { success: Success, quote: OwnQuote::new(quote, app.quotes.environment.now()) })
    }
}

async fn list(
    State(app): State<OwnQuoteHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<OwnQuoteQuery>,
    RequestSite(site): RequestSite,
) -> Result<Plain<OwnList<OwnQuote>>, ApiError> {
    let (_, email) = who.customer()?;
    let (page, now): (Page, _) = (query.page.into(), app.quotes.environment.now());
    let filter = QuoteFilter {
        status: query.status,
        site: site.map(|site| site.0),
        customer_email: Some(email.to_owned()),
        sent: true,
        now,
        ..QuoteFilter::default()
    };
    let (some, total) = app.quotes.queries.quotes(&filter, page).await?;
    let some = some.iter().filter_map(|one| one.state.as_ref());
    Ok(OwnList::reply(page, some.map(|one| OwnQuote::new(one, now)), total))
}

/// Returns a quote that has been sent; fails with 404 for drafts and unknown IDs.
async fn sent(app: &OwnQuoteHandles, id: Id) -> Result<Quote, ApiError> {
    let (_, quote) = find_present(&app.quotes.quotes, id).await?;
    if quote.is_known_to_customers() { Ok(quote) } else { Err(Refusal::not_found("quote").into()) }
}

async fn one(
    State(app): State<OwnQuoteHandles>,
    NamedId(id): NamedId,
    who: Caller,
) -> Result<Plain<QuoteReply>, ApiError> {
    let (_, email) = who.customer()?;
    let quote = sent(&app, id).await?;
    if !quote.is_for(email) {
        return Err(Refusal::not_found("quote").into());
    }
    Ok(QuoteReply::of(&app, &quote))
}

/// Returns the customer's own quote; fails with 403 if it belongs to a different customer.
pub async fn own(app: &OwnQuoteHandles, who: &Caller, id: Id) -> Result<Quote, ApiError> {
    let (_, email) = who.customer()?;
    let quote = sent(app, id).await?;
    if quote.is_for(email) {
        Ok(quote)
    } else {
        Err(ApiError::forbidden("forbidden", "this quote belongs to another customer"))
    }
}

async fn accept(
    State(app): State<OwnQuoteHandles>,
    NamedId(id): NamedId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Plain<QuoteReply>, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| QuoteCommand::Accept) };
    let quote = accept_own(&app, &call, id, command).await?;
    Ok(QuoteReply::of(&app, &quote))
}

/// Accepts the customer's own quote and creates its order. Used by both the API and the pages.
pub async fn accept_own<B>(
    app: &OwnQuoteHandles,
    call: &CommandRequest<B>,
    id: Id,
    command: impl Future<Output = Result<QuoteCommand, ApiError>>,
) -> Result<Quote, ApiError> {
    own(app, &call.who, id).await?;
    let quotes = &app.quotes.quotes;
    let done = call.ask_with(quotes, CommandTarget::Id(id), command).await?;
    // The order is there when this is answered. Whatever ends this request before, the quote itself has it made.
    if let Some(order) = done.answer.order_id.filter(|_| !done.answer.order_made) {
        match app.quotes.quote_orders.make(&done.answer, order).await {
            Ok(()) => drop(quotes.ask(id, CommandOrigin::system(), QuoteCommand::Ordered).await?),
            Err(QuoteOrderError::Trouble(error)) => return Err(error.into()),
            Err(QuoteOrderError::Refused(words)) => {
                let message = format!("the order cannot be created at the moment: {words}; the shop has been notified");
                quotes.ask(id, CommandOrigin::system(), QuoteCommand::NotOrdered(words)).await?;
                return Err(ApiError::conflict("order_not_made", message));
            }
        }
    }
    sent(app, id).await
}

async fn decline(
    State(app): State<OwnQuoteHandles>,
    NamedId(id): NamedId,
    call: CommandRequest<OptionalBody<Declining>>,
) -> Result<Plain<QuoteReply>, ApiError> {
    own(&app, &call.who, id).await?;
    let command = async { call.read_body().map(Declining::command) };
    let done = call.ask_with(&app.quotes.quotes, CommandTarget::Id(id), command).await?;
    Ok(QuoteReply::of(&app, &done.answer))
}
