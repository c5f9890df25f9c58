//! Quotes, as operators see them: drafted manually or from a model, sent and withdrawn, and shown with the shop's
//! costs.

mod lines;
mod models;
pub mod operations;
mod requests;
mod view;

use std::sync::Arc;

use axum::extract::State;

use super::orders::site::SiteHeader;
use actors::quotes::QuoteOrders;
use config::Config;
use domain::custom_request::CustomRequest;
use domain::customer::{AddressKind, Customer};
use domain::file::File;
use domain::id::Id;
use domain::material::Material;
use domain::order::{Address, Order};
use domain::principal::Role;
use domain::quote::{LineMargin, Quote, margins};
use domain::refusal::Refusal;
use domain::sku::Sku;
use files::blobs::Blobs;
use http::access::RequiredAccess;
use http::command_request::{CommandRequest, find_present};
use http::error::ApiError;
use http::handles::handles;
use http::model_upload::ModelHandles;
use http::page::Query;
use http::path_id::PathId;
use http::reply::{Created, ListPage, NoContent, Resource};
use http::routes::ResourceRoutes;
use http::wire::{EmptyBody, OptionalBody};
use kernel::directory::Directory;
use kernel::environment::Environment;
use requests::{QuoteChange, QuoteQuery, QuoteRequest};
use store::queries::{Queries, QuoteFilter};

pub use models::{ModelForm, draft_of_model, quote_model};
pub use requests::{Declining, NewQuoteLine};
use view::QuoteView;
pub use view::{EXAMPLE_ID, ModelSlicing};

/// Path of the quote collection.
pub const PATH: &str = "/api/quotes";
const STATE: &str = "invalid_transition";

handles! {
    /// Dependencies of the quote routes.
    pub struct QuoteHandles {
        quotes: Directory<Quote>,
        orders: Directory<Order>,
        skus: Directory<Sku>,
        files: Directory<File>,
        materials: Directory<Material>,
        customers: Directory<Customer>,
        custom_requests: Directory<CustomRequest>,
        quote_orders: QuoteOrders,
        queries: Queries,
        environment: Arc<Environment>,
        config: Arc<Config>,
        blobs: Arc<Blobs>,
        models: ModelHandles,
    }
}

/// Returns the quote routes.
pub fn routes() -> ResourceRoutes {
    let operator = RequiredAccess::Role(Role::Operator);
    let about = "Offers to customers with prices and an expiry date. Drafts can be edited; a sent quote never changes, \
                 and when the customer accepts it, it becomes an order of kind `custom` at the quoted prices. \
                 Uploading a model creates a draft with a price.";
    ResourceRoutes::new("Quotes", about, "quote")
        .get(operator, PATH, list, |op| op.named("listQuotes", "List quotes"))
        .post(operator, PATH, create, |op| {
            op.named("createQuote", "Create a draft quote").about(
                "A line specifies a SKU, an uploaded model, or neither if nothing is printed (`printed: false`). If a \
                 model has no price, it is calculated from the costs.",
            )
        })
        .post_long(operator, "/api/quotes/models", models::upload, |op| {
            op.named("createQuoteFromModel", "Create a draft quote from a model")
                .about(
                    "The model (STL or 3MF) is measured and priced by volume immediately, and by its G-code after \
                     slicing.",
                )
                .takes_form(http::wire::schema_of::<ModelForm>())
        })
        .get(operator, "/api/quotes/{id}", one, |op| {
            op.named("getQuote", "Retrieve a quote")
                .about("Includes the estimated costs of models and, after printing, the actual costs.")
        })
        .patch(operator, "/api/quotes/{id}", update, |op| {
            op.named("updateQuote", "Update a draft quote").error(
                409,
                STATE,
                "The quote was sent and can no longer be changed.",
            )
        })
        .delete(operator, "/api/quotes/{id}", remove, |op| {
            op.named("deleteQuote", "Delete a draft quote").error(
                409,
                STATE,
                "The quote has already been sent. To withdraw it, use the decline endpoint.",
            )
        })
        .post(operator, "/api/quotes/{id}/send", send, |op| {
            op.named("sendQuote", "Send a quote")
                .about(
                    "Printed items require a SKU, public or private. For a model, a private SKU is created; this \
                     requires a material.",
                )
                .error(409, STATE, "The quote is not a draft.")
        })
        .post(operator, "/api/quotes/{id}/decline", decline, |op| {
            op.named("declineQuote", "Withdraw a quote, or record that the customer declined it")
                .error(409, STATE, "The quote is a draft or already accepted.")
                .error(409, "quote_expired", "The quote has expired.")
        })
        .post(operator, "/api/custom-requests/{id}/quote", answer, |op| {
            op.named("quoteCustomRequest", "Create a draft quote for a custom request")
                .of("custom_request")
                .about(
                    "The draft is created with the request's estimated price and customer. Specify what is printed \
                     before sending it.",
                )
                .error(409, "custom_request_closed", "The custom request is closed.")
        })
        .schema::<ModelForm>()
}

async fn list(
    State(app): State<QuoteHandles>,
    Query(query): Query<QuoteQuery>,
    SiteHeader(site): SiteHeader,
) -> Result<ListPage<QuoteView>, ApiError> {
    let page = query.page.into();
    let now = app.environment.now();
    let filter = QuoteFilter {
        status: query.status,
        site: query.site.or(site).map(|site| site.0),
        customer_email: query.customer_email.map(|email| email.trim().to_lowercase()),
        custom_request_id: query.custom_request_id,
        order_id: query.order_id,
        sent: false,
        now,
    };
    let (some, total) = app.queries.quotes(&filter, page).await?;
    let items = some.iter().filter_map(|one| one.state.as_ref()).map(|one| QuoteView::new(one, now, &[]));
    Ok(ListPage::new(page, items, total))
}

/// Returns the actual costs and margins of a quote's lines, as far as the quote's order has been printed.
pub async fn margins_of(app: &QuoteHandles, quote: &Quote) -> Result<Vec<LineMargin>, ApiError> {
    let order = match quote.order_id {
        Some(order) => app.orders.read(order).await?,
        None => None,
    };
    let order = order.as_ref().and_then(|state| state.state.as_ref());
    Ok(order.map(|order| margins(quote, order)).unwrap_or_default())
}

/// Returns the current view of a quote, with the actual margins if the quote has become an order.
async fn view_of(app: &QuoteHandles, quote: &Quote) -> Result<QuoteView, ApiError> {
    Ok(QuoteView::new(quote, app.environment.now(), &margins_of(app, quote).await?))
}

async fn one(State(app): State<QuoteHandles>, PathId(id): PathId) -> Result<Resource<QuoteView>, ApiError> {
    let (version, quote) = find_present(&app.quotes, id).await?;
    Ok(Resource::new(version, view_of(&app, &quote).await?))
}

/// Returns the default shipping address, if any, of the customer with the given email address.
pub async fn home_of(app: &QuoteHandles, email: Option<&str>) -> Result<Option<Address>, ApiError> {
    let Some(email) = email else { return Ok(None) };
    let Some(id) = app.queries.customer_by_email(&email.trim().to_lowercase()).await? else { return Ok(None) };
    let state = app.customers.read(id).await?;
    let customer = state.as_ref().and_then(|state| state.state.as_ref());
    let mut addresses = customer.into_iter().flat_map(|customer| &customer.addresses);
    let home = addresses.find(|one| one.kind == AddressKind::Shipping && one.is_default);
    Ok(home.map(domain::customer::CustomerAddress::postal))
}

/// Checks that a custom request, if given, exists.
async fn must_exist(app: &QuoteHandles, request: Option<Id>) -> Result<(), ApiError> {
    match request {
        Some(id) if app.custom_requests.read(id).await?.is_none() => {
            Err(Refusal::field("customRequestId", "no such custom request").into())
        }
        _ => Ok(()),
    }
}

async fn create(
    State(app): State<QuoteHandles>,
    SiteHeader(site): SiteHeader,
    call: CommandRequest<QuoteRequest>,
) -> Result<Created<QuoteView>, ApiError> {
    let done = operations::create(&app, site, &call).await?;
    Ok(Created::under(PATH, &done, view_of(&app, &done.answer).await?))
}

async fn update(
    State(app): State<QuoteHandles>,
    PathId(id): PathId,
    call: CommandRequest<QuoteChange>,
) -> Result<Resource<QuoteView>, ApiError> {
    let done = operations::update(&app, id, &call).await?;
    Ok(Resource::after(&done, view_of(&app, &done.answer).await?))
}

async fn remove(
    State(app): State<QuoteHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    operations::remove(&app, id, &call).await?;
    Ok(NoContent)
}

async fn send(
    State(app): State<QuoteHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<QuoteView>, ApiError> {
    let done = operations::send(&app, id, &call).await?;
    Ok(Resource::after(&done, view_of(&app, &done.answer).await?))
}

async fn decline(
    State(app): State<QuoteHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<Declining>>,
) -> Result<Resource<QuoteView>, ApiError> {
    let done = operations::decline(&app, id, &call).await?;
    Ok(Resource::after(&done, view_of(&app, &done.answer).await?))
}

async fn answer(
    State(app): State<QuoteHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Created<QuoteView>, ApiError> {
    let done = operations::answer_request(&app, id, &call).await?;
    Ok(Created::under(PATH, &done, view_of(&app, &done.answer).await?))
}
