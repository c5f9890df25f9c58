//! The customer's own orders: list, details, and drafts.

mod follow;
mod view;

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::json;

use self::view::{OrderDetail, OrderSummary};
use super::checkout::CheckoutReply;
use super::list::{ListQuery, OwnList, OwnListItem};
use super::reply::{CreatedReply, Success};
use super::site::RequestSite;
use crate::production::orders::OrderHandles;
use crate::production::orders::to_pay::before_checkout;
use crate::production::place::{MAX_LINES, NewOrderLine, buyer_of, look_up};
use domain::aggregate::Versioned;
use domain::customer::Customer;
use domain::id::Id;
use domain::limits::LimitKind;
use domain::order::{Address, NewOrder, Order, OrderCommand, OrderKind, OrderStatus};
use domain::refusal::Refusal;
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandRequest, CommandTarget, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http::page::OpenQuery;
use http::path_id::NamedId;
use http::reply::{Media, MediaType, Plain};
use http::return_paths::CheckoutBody;
use http::routes::ResourceRoutes;
use http::sse;
use http::wire::{ItemsWithin, MaxChars, OptionalBody};
use kernel::directory::Directory;
use kernel::environment::Environment;
use store::queries::{OrderFilter, Page};

pub use follow::{FollowHandles, follow};
pub(super) use view::EXAMPLE_ID;
pub use view::steps;

handles! {
    /// Dependencies of the customer order routes.
    pub struct OwnOrderHandles {
        orders: OrderHandles,
        customers: Directory<Customer>,
        limits: Arc<RateLimiter>,
        environment: Arc<Environment>,
    }
}

/// Returns the customer order routes.
pub fn routes() -> ResourceRoutes {
    let customer = RequiredAccess::Customer;
    ResourceRoutes::new("Orders", "The customer's orders and draft orders.", "order")
        .get(customer, "/api/v1/orders", list, |op| op.named("listOrders", "List your orders"))
        .post(customer, "/api/v1/orders/draft", draft, |op| {
            op.named("createDraftOrder", "Create a draft order")
                .about(
                    "Prices come from the catalogue, and the email address from the session. Paying the draft places \
                     the order.",
                )
                .error(400, "not_orderable", "A line has a SKU with neither G-code nor a model.")
        })
        .get(customer, "/api/v1/orders/{orderId}", one, |op| {
            op.named("getOrder", "Retrieve one of your orders").error(
                403,
                "forbidden",
                "The order belongs to \
                 another customer.",
            )
        })
        .get_long(customer, "/api/v1/orders/{orderId}/stream", stream, |op| {
            op.named("streamOrder", "Stream one of your orders")
                .about(
                    "Server-sent events: `order` with the JSON of the order, immediately and after each change, and \
                     `over` once the order is cancelled or refunded, all payments are refunded and no printer is \
                     working on it. No `over` is sent for a shipped order, because its parts can still be reprinted. \
                     The stream ends when the session ends, and after ten minutes at the latest; reconnect to \
                     continue.",
                )
                .error(403, "forbidden", "The order belongs to another customer.")
                .error(429, "too_many_streams", "The customer has too many open streams.")
        })
        .post(RequiredAccess::Open, "/api/v1/orders/{orderId}/checkout", check_out, |op| {
            op.named("checkOutOrder", "Create a checkout for an order")
                .about(
                    "Available to anyone who knows the ID. Returns the payment page for the full amount due; while it \
                     is open, all callers receive the same page. Places the order if it is a draft.",
                )
                .error(
                    400,
                    "not_payable",
                    "The order is cancelled or refunded, costs nothing, or has an amount that \
                     the processor does not accept.",
                )
                .error(400, "address_required", "The order is a draft without an address, on which the tax depends.")
                .error(400, "not_orderable", "The order is a draft, and one of its items is no longer available.")
                .error(400, "price_changed", "The order is a draft, and a price has changed; create a new draft.")
                .error(409, "already_paid", "The order is already paid.")
                .error(409, "payment_pending", "A payment is in progress.")
                .error(503, "payments_not_configured", "No API key for the payment processor is configured.")
                .error(503, "processor_unavailable", "The payment processor does not respond.")
        })
}

/// Filter for the customer's orders.
#[derive(Request, Debug)]
pub struct OwnOrderQuery {
    /// Return only orders of the given kind.
    kind: Option<OrderKind>,
    /// Return only orders with the given status.
    status: Option<OrderStatus>,
    #[api(flatten)]
    page: ListQuery,
}

/// Draft of an order, to be placed later.
#[derive(Request, Debug)]
#[api(name = "DraftOrderRequest", example = json!({
    "lines": [{"skuId": crate::production::skus::EXAMPLE_ID, "quantity": 2}], "notes": "Please in blue.",
}))]
pub struct DraftRequest {
    /// Order lines, one per SKU.
    #[api(ItemsWithin(1..=MAX_LINES))]
    lines: Vec<NewOrderLine>,
    /// ID of the shipping address in the customer's profile. Defaults to the default shipping address.
    shipping_address_id: Option<Id>,
    /// Notes for the shop.
    #[api(MaxChars(1000))]
    notes: Option<String>,
}

impl OwnListItem for OrderSummary {
    const LIST_NAME: &'static str = "OrderListResponse";
    const ENTRIES: &'static str = "Orders, newest first.";
}

/// One of the customer's orders.
#[derive(Response, Serialize)]
#[api(name = "OrderResponse", example = json!({"success": true, "order": OrderDetail::example()}))]
struct OrderReply {
    success: Success,
    order: OrderDetail,
}

/// Draft that was created.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "DraftOrderResponse", example = json!({"success": true, "orderId": EXAMPLE_ID}))]
struct DraftReply {
    success: Success,
    /// ID of the draft.
    order_id: Id,
}

async fn list(
    State(app): State<OwnOrderHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<OwnOrderQuery>,
    RequestSite(site): RequestSite,
) -> Result<Plain<OwnList<OrderSummary>>, ApiError> {
    let (_, email) = who.customer()?;
    let page: Page = query.page.into();
    let filter = OrderFilter {
        kind: query.kind,
        status: query.status,
        site: site.map(|site| site.0),
        customer_email: Some(email.to_owned()),
        ..OrderFilter::default()
    };
    let (some, total) = app.orders.queries.orders(&filter, page).await?;
    let some = some.iter().filter_map(|order| order.state.as_ref());
    Ok(OwnList::reply(page, some.map(OrderSummary::new), total))
}

/// Returns the customer's order with the given ID; fails with 404 if it does not exist, and with 403 if it belongs to a
/// different customer.
pub async fn own(app: &OrderHandles, who: &Caller, id: Id) -> Result<Arc<Versioned<Order>>, ApiError> {
    let (_, state) = find_existing(&app.orders, id).await?;
    if who.sees(state_of(&state)?) {
        Ok(state)
    } else {
        Err(ApiError::forbidden("forbidden", "this order belongs to another customer"))
    }
}

async fn one(
    State(app): State<OwnOrderHandles>,
    NamedId(id): NamedId,
    who: Caller,
) -> Result<Plain<OrderReply>, ApiError> {
    let state = own(&app.orders, &who, id).await?;
    let timeline = view::timeline(&app.orders.queries, id, &who).await?;
    let expected = app.orders.forecaster.latest().orders.get(&id).copied();
    let order = OrderDetail::new(state, expected, timeline)?;
    Ok(Plain(OrderReply { success: Success, order }))
}

/// Media type of order event streams.
struct OrderStreamMedia;

impl MediaType for OrderStreamMedia {
    const MEDIA: &'static str = sse::MEDIA;
    const EXAMPLE: Option<&'static str> =
        Some("event: order\ndata: {\"success\":true,\"order\":{\"status\":\"refunded\"}}\n\nevent: over\ndata: {}\n\n");
}

async fn stream(
    State(app): State<FollowHandles>,
    NamedId(id): NamedId,
    who: Caller,
) -> Result<Media<OrderStreamMedia>, ApiError> {
    let reader = who.clone();
    let stream = follow(app, &who, id, "order", move |now| {
        let timeline = view::for_reader(now.steps.to_vec(), &reader);
        let order = OrderDetail::new(now.state.clone(), now.expected, timeline).ok()?;
        serde_json::to_value(OrderReply { success: Success, order }).ok()
    });
    Ok(Media::new(stream.await?))
}

async fn draft(
    State(app): State<OwnOrderHandles>,
    RequestSite(site): RequestSite,
    call: CommandRequest<DraftRequest>,
) -> Result<LimitedReply<CreatedReply<DraftReply>>, ApiError> {
    let (customer, email) = call.who.customer()?;
    let charge = WindowKey::of_mailbox(LimitKind::DraftOrder, email);
    let command = async {
        let DraftRequest { lines, shipping_address_id, notes } = call.read_body()?;
        let (lines, currency) = look_up(&app.orders, true, &lines).await.map_err(as_bad_request)?;
        Ok(OrderCommand::Create(Box::new(NewOrder {
            kind: OrderKind::Catalog,
            site: site.map(|site| site.0),
            made_by: None,
            customer_id: Some(customer),
            customer_email: Some(email.to_owned()),
            buyer: buyer_of(&app.customers, Some(customer)).await?,
            lines,
            currency,
            notes,
            internal_notes: None,
            shipping_address: address(&app.customers, customer, shipping_address_id).await?,
            priority: None,
            due_at: None,
            draft: true,
            own_use: false,
        })))
    };
    let operation = Box::pin(async {
        let done = call.ask_with(&app.orders.orders, CommandTarget::New, command).await?;
        let reply = DraftReply { success: Success, order_id: done.id };
        Ok(CreatedReply::after(&done, reply))
    });
    within(&app.limits, app.environment.now(), &[charge], operation).await
}

/// Starts the checkout of an order. While a payment page is open, every call returns the same one.
async fn check_out(
    State(app): State<OwnOrderHandles>,
    NamedId(id): NamedId,
    ClientAddress(client): ClientAddress,
    call: CommandRequest<OptionalBody<CheckoutBody>>,
) -> Result<LimitedReply<Plain<CheckoutReply>>, ApiError> {
    let charge = WindowKey::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        let pages = call.read_body()?.pages(&call.headers, &app.orders.config);
        before_checkout(&app.orders, id).await?;
        let open = app.orders.checkouts.of_order(id, &call.origin(), &pages).await?;
        Ok(Plain(open.into()))
    };
    within(&app.limits, app.environment.now(), &[charge], open).await
}

/// Converts an error about items that cannot be ordered into a 400, as the billing API's contract requires.
fn as_bad_request(error: ApiError) -> ApiError {
    match error.status() {
        StatusCode::CONFLICT => ApiError::bad_request(error.code(), error.message()),
        _ => error,
    }
}

/// Returns the profile address with the given ID, or the default shipping address, if any.
async fn address(
    customers: &Directory<Customer>,
    customer: Id,
    requested: Option<Id>,
) -> Result<Option<Address>, ApiError> {
    let (_, state) = find_existing(customers, customer).await?;
    let customer = state_of(&state)?;
    match requested {
        Some(id) => {
            let one = customer.addresses.iter().find(|one| one.id == id);
            let one = one.ok_or_else(|| Refusal::field("shippingAddressId", "is not an address in your profile"))?;
            Ok(Some(one.postal()))
        }
        None => Ok(customer.ships_to()),
    }
}
