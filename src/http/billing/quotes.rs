//! The customer's own quotes: listed, shown, accepted, declined; and models that they upload for a price.
//!
//! A draft is nobody's business but the shop's. Of a model that a customer uploaded they see the price that it has by
//! now, by the id of the model and not by that of the draft.

mod models;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};

use super::list::{ListPage, ListQuery};
use super::reply::Success;
use super::site::RequestSite;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::quotes::NotOrdered;
use crate::domain::id::Id;
use crate::domain::quote::{QUOTE_DECLINED, QUOTE_EXPIRED, Quote, QuoteCommand, QuoteLine, QuoteStatus};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::access::{Caller, RequiredAccess};
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::limits::Limits;
use crate::http::openapi::operation::DescribedOperation;
use crate::http::page::OpenQuery;
use crate::http::path_id::NamedId;
use crate::http::production::quotes::{Declining, EXAMPLE_ID, QuoteHandles, present};
use crate::http::reply::Plain;
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{EmptyBody, OptionalBody, schema_of};
use crate::store::queries::{Page, QuoteFilter};
use models::OwnModelForm;
pub(crate) use models::{first_model, take_model};

handles! {
    /// What the routes of a customer's quotes use.
    pub(crate) struct OwnQuoteHandles {
        quotes: QuoteHandles,
        limits: Arc<Limits>,
    }
}

/// The routes of a customer's quotes.
pub fn routes() -> ResourceRoutes {
    let customer = RequiredAccess::Customer;
    ResourceRoutes::new("Quotes", "What the shop offers to make, at which price and until when.", "quote")
        .get(customer, "/api/v1/quotes", list, |op| op.named("listQuotes", "List the own quotes"))
        .post_long(customer, "/api/v1/quotes/models", models::upload, |op| {
            op.named("createQuoteModel", "Upload a model for a quote")
                .about("STL or 3MF. It is measured and has a price at once; the shop looks at it and sends the quote, which is what counts.")
                .takes_form(schema_of::<OwnModelForm>())
                .error(507, "storage_full", "The shop has no room for more files of customers now.")
        })
        .get(customer, "/api/v1/quotes/models/{modelId}", models::model, |op| {
            op.named("getQuoteModel", "Show the price of an uploaded model")
                .about("The price becomes more exact once the slicer is done.")
        })
        .get(customer, "/api/v1/quotes/{quoteId}", one, |op| op.named("getQuote", "Show an own quote"))
        .post(customer, "/api/v1/quotes/{quoteId}/accept", accept, |op| {
            answered(op.named("acceptQuote", "Accept an own quote"))
                .about("Makes one order of kind `custom` at the prices of the quote; accepted again, it is the same order.")
                .error(409, QUOTE_DECLINED, "It was declined or withdrawn.")
                .error(409, "order_not_made", "What it offers is gone; the shop was told.")
        })
        .post(customer, "/api/v1/quotes/{quoteId}/decline", decline, |op| {
            answered(op.named("declineQuote", "Decline an own quote"))
                .error(409, "invalid_transition", "It was accepted.")
        })
        .schema::<OwnModelForm>()
}

fn answered(op: DescribedOperation) -> DescribedOperation {
    op.error(403, "forbidden", "It is the quote of somebody else.").error(409, QUOTE_EXPIRED, "It is no longer valid.")
}

/// Which of the own quotes are listed.
#[derive(Request, Debug)]
pub struct OwnQuoteQuery {
    /// Only quotes with this status, as it is shown: one that has expired is not sent.
    status: Option<QuoteStatus>,
    #[api(flatten)]
    page: ListQuery,
}

fn quote_example() -> Value {
    json!({
        "id": EXAMPLE_ID, "number": "QUO-000123", "status": "sent", "customerEmail": "ann@example.org",
        "customRequestId": null, "lines": [{
            "description": "Bracket", "quantity": 2, "unitPriceCents": 1850,
            "skuId": crate::http::production::skus::EXAMPLE_ID,
        }],
        "subtotalCents": 3700, "shippingCents": 0, "taxCents": 0, "totalCents": 3700, "currency": "usd",
        "validUntil": "2026-11-16T10:00:00.000Z", "notes": null, "orderId": null,
        "createdAt": "2026-11-02T10:00:00.000Z", "updatedAt": "2026-11-02T10:05:00.000Z",
    })
}

/// A quote as its customer sees it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Quote", example = quote_example())]
struct OwnQuote {
    /// Id of the quote.
    id: Id,
    /// The number that people see.
    number: String,
    /// Where it stands now.
    status: QuoteStatus,
    /// The customer's e-mail address.
    customer_email: Option<String>,
    /// The custom request that it answers.
    custom_request_id: Option<Id>,
    /// What is offered.
    lines: Vec<OwnLine>,
    /// Sum of the lines, in minor units of the currency.
    subtotal_cents: i64,
    /// Charge for shipping.
    shipping_cents: i64,
    /// Tax on lines and shipping.
    tax_cents: i64,
    /// What is to be paid in all.
    total_cents: i64,
    /// ISO 4217, in lower case.
    currency: String,
    /// Until when it can be accepted.
    valid_until: Option<Timestamp>,
    /// Notes of the shop.
    notes: Option<String>,
    /// The order that it has become; null before it was accepted.
    order_id: Option<Id>,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

/// A line of a quote.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteLine")]
struct OwnLine {
    /// What is offered.
    description: String,
    /// How many.
    quantity: u32,
    /// Net price of one, in minor units.
    unit_price_cents: i64,
    /// The SKU that is printed; null for what is not printed.
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

/// A page of the own quotes.
#[derive(Response, Serialize)]
#[api(name = "QuoteListResponse", example = json!({
    "success": true, "quotes": [quote_example()],
    "pagination": {"limit": 20, "offset": 0, "total": 1, "hasMore": false},
}))]
struct QuoteList {
    success: Success,
    /// The quotes, newest first.
    quotes: Vec<OwnQuote>,
    pagination: ListPage,
}

/// One of the own quotes.
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
) -> Result<Plain<QuoteList>, ApiError> {
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
    let quotes: Vec<OwnQuote> = some.map(|one| OwnQuote::new(one, now)).collect();
    let pagination = ListPage::of(page, quotes.len(), total);
    Ok(Plain(QuoteList { success: Success, quotes, pagination }))
}

/// A quote that was sent; 404 for drafts and for what there is not.
async fn sent(app: &OwnQuoteHandles, id: Id) -> Result<Quote, ApiError> {
    let (_, quote) = present(&app.quotes, id).await?;
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

/// The own quote; who would see or answer somebody else's is refused.
pub(crate) async fn own(app: &OwnQuoteHandles, who: &Caller, id: Id) -> Result<Quote, ApiError> {
    let (_, email) = who.customer()?;
    let quote = sent(app, id).await?;
    if quote.is_for(email) {
        Ok(quote)
    } else {
        Err(ApiError::forbidden("forbidden", "this quote belongs to somebody else"))
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

/// Accepts an own quote and makes its order: the one way, of the API and of the pages.
pub(crate) async fn accept_own<B>(
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
            Err(NotOrdered::Trouble(error)) => return Err(error.into()),
            Err(NotOrdered::Refused(words)) => {
                let told = format!("the order cannot be made now: {words}; the shop was told");
                quotes.ask(id, CommandOrigin::system(), QuoteCommand::NotOrdered(words)).await?;
                return Err(ApiError::conflict("order_not_made", told));
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
