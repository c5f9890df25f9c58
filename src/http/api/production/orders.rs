//! Orders: listing, viewing, changing and cancelling them, with payments and shipments. New orders are placed in
//! `place`.

mod checkout;
mod lines;
mod list;
mod one;
pub mod operations;
mod packing;
mod recovery;
mod requests;
pub mod site;
mod timeline;
pub mod to_pay;
mod view;

use std::sync::Arc;

use axum::extract::State;

use super::place;
use actors::checkouts::Checkouts;
use actors::forecaster::Forecaster;
use actors::orders::make::ProductionSources;
use config::Config;
use domain::aggregate::Versioned;
use domain::customer::Customer;
use domain::id::Id;
use domain::ledger::Ledger;
use domain::order::{Order, OrderAnswer, Payment};
use domain::principal::Role;
use domain::printer::Printer;
use domain::refusal::Refusal;
use domain::sku::Sku;
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandOutcome, CommandRequest, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::operation::DescribedError;
use http::page::{PageQuery, Query};
use http::path_id::PathId;
use http::reply::{ListPage, Resource};
use http::routes::ResourceRoutes;
use http::wire::{AsView, EmptyBody, OptionalBody};
use kernel::directory::Directory;
use kernel::environment::Environment;
use printers::connections::PrinterConnections;
use requests::{NewShipment, OrderCancellation, OrderPatch};
use store::queries::Queries;

pub use lines::OrderLines;
pub use list::{ListedOrder, OrderSort, TimingSelection};
pub use requests::{ManualPayment, ManualRefund, PRIORITY};
pub use timeline::{CUSTOMER_STEPS, StepFor};
pub use view::{OrderFor, OrderNumber, OrderOutlook, OrderReader, OrderView, PendingRefund, ShipmentView};

/// Path of the order collection.
pub const PATH: &str = "/api/orders";
/// Order ID used in examples in the API description.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8065";

const STATE: &str = "invalid_transition";

/// Response that owns the order it contains.
pub type OwnedOrderReply = AsView<OrderFor<Arc<Versioned<Order>>>>;

/// Errors when refunding an order or an invoice.
pub(super) const REFUND_ERRORS: [DescribedError; 4] = [
    (
        409,
        "refund_at_processor",
        "The payment was made through the payment processor, and no API key is configured. Refund it there; the refund \
         is then recorded here automatically.",
    ),
    (
        409,
        "refunds_under_way",
        "Too many refunds are pending at the payment processor, or a refund failed and its amount is being checked.",
    ),
    (409, "payment_unnamed", "The payment processor has not reported the payment's ID yet."),
    (409, "nothing_to_refund", "The payment is already fully refunded, or there is no payment."),
];

handles! {
    /// Dependencies of the order routes.
    pub struct OrderHandles {
        orders: Directory<Order>,
        customers: Directory<Customer>,
        skus: Directory<Sku>,
        sources: ProductionSources,
        queries: Queries,
        printers: Directory<Printer>,
        printer_connections: Arc<PrinterConnections>,
        forecaster: Forecaster,
        checkouts: Checkouts,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// Returns the order routes.
pub fn routes() -> ResourceRoutes {
    let about = "Orders from placement to shipment. Customers' keys can only place and read the customer's own orders; \
                 for other orders, they receive a 404.";
    let routes = ResourceRoutes::new("Orders", about, "order");
    add_shipping_routes(add_payment_routes(add_order_routes(routes)))
}

/// Adds the routes that list, place and change orders.
fn add_order_routes(routes: ResourceRoutes) -> ResourceRoutes {
    let [customer, operator] = [Role::Customer, Role::Operator].map(RequiredAccess::Role);
    routes
        .get(customer, PATH, list::show, |op| {
            op.named("listOrders", "List orders").about(
                "Sorted newest first by default. With `sort=timing`, orders that are late come first, then those at \
                 risk and those on time, each by the time at which they have to be ready; orders without a timing \
                 follow, newest first.",
            )
        })
        .post(customer, PATH, place::create, |op| {
            op.named("placeOrder", "Place an order")
                .about(
                    "Prices come from the catalogue and are fixed when the order is placed. Only staff can set \
                     `priority` and `dueAt`.",
                )
                .error(
                    403,
                    "forbidden",
                    "The key belongs to another customer, or the request sets a field reserved for staff.",
                )
                .error(
                    409,
                    "not_orderable",
                    "A customer cannot order a SKU with neither G-code nor a model. Staff can; its jobs are on hold \
                     until there is a file.",
                )
        })
        .get(customer, "/api/orders/{id}", one::show, |op| op.named("getOrder", "Retrieve an order"))
        .patch(operator, "/api/orders/{id}", update, |op| {
            op.named("updateOrder", "Update an order")
                .about("A new priority or due date also applies to the order's unfinished jobs.")
                .error(409, STATE, "The status of the order does not allow this change.")
                .error(409, "tax_differs", "The new destination has a different tax rate.")
        })
        .post(customer, "/api/orders/{id}/cancel", cancel, |op| {
            op.named("cancelOrder", "Cancel an order")
                .about(
                    "Customers can cancel an order only while it is unpaid. With `force`, the order does not wait for \
                     printers that do not respond.",
                )
                .error(403, "forbidden", "Customers can cancel an order only while it is unpaid.")
                .error(409, STATE, "The order is shipped, cancelled or refunded.")
        })
        .post(operator, "/api/orders/{id}/confirm", confirm, |op| {
            op.named("confirmOrder", "Confirm a draft")
                .about(
                    "The prices of the draft are kept. A draft that costs nothing is paid immediately, without an \
                     invoice.",
                )
                .error(409, STATE, "The order is not a draft.")
        })
}

/// Adds the routes for payments, checkouts and refunds.
fn add_payment_routes(routes: ResourceRoutes) -> ResourceRoutes {
    let [customer, operator] = [Role::Customer, Role::Operator].map(RequiredAccess::Role);
    routes
        .post(operator, "/api/orders/{id}/mark-paid", mark_paid, |op| {
            op.named("markOrderPaid", "Record a payment")
                .about(
                    "The amount defaults to the full amount due; a partial payment leaves the order unpaid. Full \
                     payment creates the jobs.",
                )
                .error(409, STATE, "The order is already paid.")
                .error(409, "not_payable", "The order is cancelled or refunded.")
        })
        .post(customer, "/api/orders/{id}/checkout", checkout::check_out, |op| {
            op.named("checkOutOrder", "Create a checkout for an order")
                .unkeyed()
                .about(
                    "Returns the payment page for the full amount due; while it is open, all callers receive the same \
                     page. Places the order if it is a draft. The page closes when the order is paid in another way or \
                     cancelled.",
                )
                .error(
                    400,
                    "not_payable",
                    "The order is cancelled or refunded, costs nothing, or has an amount that the processor does not \
                     accept.",
                )
                .error(400, "address_required", "The order is a draft without an address, on which the tax depends.")
                .error(400, "not_orderable", "The order is a draft, and one of its items is no longer available.")
                .error(409, "price_changed", "The order is a draft, and a price has changed; create a new draft.")
                .error(409, "already_paid", "The order is already paid.")
                .error(409, "payment_pending", "A payment is in progress.")
                .error(503, "payments_not_configured", "No API key for the payment processor is configured.")
                .error(503, "processor_unavailable", "The payment processor does not respond.")
        })
        .post(operator, "/api/orders/{id}/refund", refund, |op| {
            op.named("refundOrder", "Issue a refund")
                .about(
                    "Refunds the payment `paymentId`. If omitted, refunds payments through the payment processor, \
                     newest first. Payments that were recorded manually are recorded as refunded. The processor \
                     refunds its own payments; until it responds, the refund is listed under `pendingRefunds`. The \
                     order becomes refunded once all its payments have been refunded. `method` records that the amount \
                     of a failed refund was returned in another way.",
                )
                .errors(&REFUND_ERRORS)
        })
}

/// Adds the routes for shipments and the order history.
fn add_shipping_routes(routes: ResourceRoutes) -> ResourceRoutes {
    let [customer, operator] = [Role::Customer, Role::Operator].map(RequiredAccess::Role);
    routes
        .post(operator, "/api/orders/{id}/ship", ship, |op| {
            op.named("shipOrder", "Ship an order")
                .about(
                    "Ships everything not shipped yet, or only the parts in `lines`, which is possible while others \
                     are still being made. The order becomes shipped when its last part is shipped. The carrier \
                     `pickup` requires neither tracking number nor date.",
                )
                .error(409, STATE, "The order is not ready, or, for a partial shipment, not printing yet.")
                .error(409, "order_short", "Good parts are missing; send `acceptShort` to ship anyway.")
                .error(409, "nothing_good", "The order has no good parts to ship, even with `acceptShort`.")
                .error(409, "parts_not_there", "A line has fewer unshipped good parts than requested.")
                .error(409, "too_many_shipments", "The order has the maximum number of shipments.")
        })
        .get(operator, "/api/orders/{id}/shipments/{number}/packing-list", packing::show, |op| {
            op.named("getPackingList", "Retrieve the packing list of a shipment").error(
                404,
                "shipment_not_found",
                "The order has no shipment with this number.",
            )
        })
        .get(customer, "/api/orders/{id}/timeline", timeline, |op| {
            op.named("getOrderTimeline", "List the history of an order").about(
                "Sorted oldest first. Customers see the order's steps and printed parts, but not the staff or printers \
                 involved.",
            )
        })
}

/// Returns the order as the response to a change. Stored responses contain neither jobs nor payments: payments are read
/// from the order's last commit, and jobs are omitted, so that a retried request receives the same response.
pub async fn reply_after(
    app: &OrderHandles,
    who: &Caller,
    done: &CommandOutcome<OrderAnswer>,
) -> Result<OwnedOrderReply, ApiError> {
    let order = &*done.answer.order;
    let state = app.orders.read(done.id).await?;
    let now = state.as_ref().and_then(|state| state.state.as_ref());
    let then = |payment: &&Payment| payment.created_at <= order.updated_at;
    let payments = now.map(|now| now.ledger.payments.iter().filter(then).cloned().collect()).unwrap_or_default();
    let ledger = Ledger { payments, ..order.ledger.clone() };
    // The first answer still has the jobs at hand: left out, so that a repeat says the same.
    let order = Order { jobs: Default::default(), ledger, ..order.clone() };
    Ok(AsView(OrderFor(
        Arc::new(Versioned { version: done.version, state: Some(order) }),
        who.into(),
        OrderOutlook::default(),
    )))
}

/// Returns the order if the caller may see it; fails with 404 for an order of a different customer.
async fn visible(orders: &Directory<Order>, who: &Caller, id: Id) -> Result<Arc<Versioned<Order>>, ApiError> {
    let (_, state) = find_existing(orders, id).await?;
    if who.sees(state_of(&state)?) { Ok(state) } else { Err(Refusal::not_found("order").into()) }
}

async fn update(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OrderPatch>,
) -> Result<Resource<OwnedOrderReply>, ApiError> {
    let done = operations::update(&app, id, &call).await?;
    Ok(Resource::after(&done, reply_after(&app, &call.who, &done).await?))
}

async fn cancel(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<OrderCancellation>>,
) -> Result<Resource<OwnedOrderReply>, ApiError> {
    let done = operations::cancel(&app, id, &call).await?;
    Ok(Resource::after(&done, reply_after(&app, &call.who, &done).await?))
}

async fn confirm(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<OwnedOrderReply>, ApiError> {
    let done = operations::confirm(&app, id, &call).await?;
    Ok(Resource::after(&done, reply_after(&app, &call.who, &done).await?))
}

async fn mark_paid(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<ManualPayment>,
) -> Result<Resource<OwnedOrderReply>, ApiError> {
    let done = operations::mark_paid(&app, id, &call).await?;
    Ok(Resource::after(&done, reply_after(&app, &call.who, &done).await?))
}

async fn refund(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<ManualRefund>>,
) -> Result<Resource<OwnedOrderReply>, ApiError> {
    let done = operations::refund(&app, id, &call).await?;
    Ok(Resource::after(&done, reply_after(&app, &call.who, &done).await?))
}

async fn ship(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<NewShipment>,
) -> Result<Resource<OwnedOrderReply>, ApiError> {
    let done = operations::ship(&app, id, &call).await?;
    Ok(Resource::after(&done, reply_after(&app, &call.who, &done).await?))
}

async fn timeline(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    who: Caller,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<AsView<StepFor>>, ApiError> {
    visible(&app.orders, &who, id).await?;
    let page = page.into();
    let own_steps = who.is_customer().then_some(&CUSTOMER_STEPS[..]);
    let (events, total) = app.queries.timeline(id, own_steps, page).await?;
    Ok(ListPage::new(page, events.into_iter().map(|event| AsView(StepFor::new(event, &who))), total))
}
