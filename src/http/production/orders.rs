//! Orders: list, show, change, cancel, record payments, ship. Placing is in `place`.

mod address;
mod by_page;
mod checkout;
mod lines;
mod packing;
mod requests;
pub mod site;
mod timeline;
pub(crate) mod to_pay;
mod view;

use std::sync::Arc;

use axum::extract::State;

use super::jobs;
use super::place::place;
use crate::actors::checkouts::Checkouts;
use crate::actors::forecaster::Forecaster;
use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::environment::Environment;
use crate::actors::orders::make::MakeSources;
use crate::config::Config;
use crate::domain::aggregate::Versioned;
use crate::domain::customer::Customer;
use crate::domain::id::Id;
use crate::domain::order::{Order, OrderAnswer, OrderCommand, Payment, SeenPrints};
use crate::domain::principal::Role;
use crate::domain::printer::Printer;
use crate::domain::refusal::Refusal;
use crate::domain::sku::Sku;
use crate::http::access::{Caller, RequiredAccess};
use crate::http::command_request::{CommandOutcome, CommandRequest, CommandTarget, find_existing, state_of};
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::page::{PageQuery, Query};
use crate::http::path_id::PathId;
use crate::http::reply::{ListPage, Resource};
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{AsView, EmptyBody, OptionalBody};
use crate::printers::connections::PrinterConnections;
use crate::store::queries::{OrderFilter, Queries};
use requests::{NewShipment, OrderCancellation, OrderPatch, OrderQuery};
use site::SiteHeader;

pub(crate) use by_page::act_by_page;
pub use lines::Lines;
pub use requests::{ManualPayment, ManualRefund, PRIORITY};
pub use timeline::{CUSTOMER_STEPS, StepFor};
pub use view::{OrderFor, OrderNumber, OrderReader, OrderView, PendingRefund, ShipmentView};

/// Path of the order collection.
pub const PATH: &str = "/api/orders";
/// Order id used in the examples of the API description.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8065";

const STATE: &str = "invalid_transition";

/// Response with an order that it owns.
pub type OrderReply = AsView<OrderFor<Arc<Versioned<Order>>>>;

handles! {
    /// Handles that the order routes need.
    pub(crate) struct OrderHandles {
        orders: Directory<Order>,
        customers: Directory<Customer>,
        skus: Directory<Sku>,
        sources: MakeSources,
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
    let [customer, operator] = [Role::Customer, Role::Operator].map(RequiredAccess::Role);
    let about = "Placed, paid, made, shipped. Customers' keys see and make their own; another's order is 404 for them.";
    ResourceRoutes::new("Orders", about, "order")
        .get(customer, PATH, list, |op| op.named("listOrders", "List orders"))
        .post(customer, PATH, place, |op| {
            op.named("placeOrder", "Place an order")
                .about("Prices come from the catalogue and are frozen. `priority` and `dueAt` are set by staff only.")
                .error(403, "forbidden", "The key orders for another customer, or sets what staff set.")
                .error(409, "not_orderable", "A customer orders what has neither G-code nor a model. Staff may: its jobs wait for the file.")
        })
        .get(customer, "/api/orders/{id}", one, |op| op.named("getOrder", "Show an order"))
        .patch(operator, "/api/orders/{id}", update, |op| {
            op.named("updateOrder", "Change an order")
                .about("Unfinished jobs follow priority and due date.")
                .error(409, STATE, "The order has a status in which this cannot change.")
                .error(409, "tax_differs", "The new destination has another tax rate.")
        })
        .post(customer, "/api/orders/{id}/cancel", cancel, |op| {
            op.named("cancelOrder", "Cancel an order")
                .about("Customers may cancel an order while it is unpaid. `force` does not wait for printers that do not answer.")
                .error(403, "forbidden", "A customer may cancel an order only while it is unpaid.")
                .error(409, STATE, "It is shipped, cancelled or refunded.")
        })
        .post(operator, "/api/orders/{id}/confirm", confirm, |op| {
            op.named("confirmOrder", "Confirm a draft").about("A draft that costs nothing is paid at once, without an invoice. Prices are those of the draft.").error(
                409,
                STATE,
                "It is no draft.",
            )
        })
        .post(operator, "/api/orders/{id}/mark-paid", mark_paid, |op| {
            op.named("markOrderPaid", "Record a payment by hand")
                .about("Without an amount, all that is due; a part leaves the order unpaid. Paid in full, its jobs are made.")
                .error(409, STATE, "It is paid already.")
                .error(409, "not_payable", "It is cancelled or refunded.")
        })
        .post(customer, "/api/orders/{id}/checkout", checkout::check_out, |op| {
            op.named("checkOutOrder", "Pay an order at the payment processor")
                .unkeyed()
                .about(
                    "Gives the page on which all that is due is paid, the same to all who ask while it is open. A draft is \
                     placed by it. The page is closed when the order is paid otherwise, or cancelled.",
                )
                .error(400, "not_payable", "It is cancelled or refunded, costs nothing, or the processor takes no payments of its amount.")
                .error(400, "address_required", "It is a draft without an address, on which its tax depends.")
                .error(400, "not_orderable", "It is a draft, and something of it is no longer offered.")
                .error(409, "price_changed", "It is a draft, and a price has changed since: draft it again.")
                .error(409, "already_paid", "It is paid.")
                .error(409, "payment_pending", "A payment of it is on its way.")
                .error(503, "payments_not_configured", "The server has no key for the payment processor.")
                .error(503, "processor_unavailable", "The payment processor does not answer.")
        })
        .post(operator, "/api/orders/{id}/refund", refund, |op| {
            op.named("refundOrder", "Give money back")
                .about(
                    "Of the payment that `paymentId` names; without it, of what came through the payment processor, the newest \
                     first. Money that was recorded by hand is recorded as given back. The processor is asked to pay back what \
                     it took: until it has answered, the refund is shown under `pendingRefunds`. The order is refunded when \
                     nothing of its money is kept any more. With `method` it is recorded that what came back of a refund that \
                     failed was given back otherwise.",
                )
                .error(409, "refund_at_processor", "It was paid through the payment processor, and the server has no key to ask it for the refund: its refund there is recorded by its event.")
                .error(409, "refunds_under_way", "Too many refunds wait for the payment processor, or one failed and what went back is being read.")
                .error(409, "payment_unnamed", "The payment processor has not named the payment yet.")
                .error(409, "nothing_to_refund", "Nothing is left of the payment, or nothing was paid.")
        })
        .post(operator, "/api/orders/{id}/ship", ship, |op| {
            op.named("shipOrder", "Ship an order")
                .about(
                    "Without `lines` all that has not left; with `lines` those parts, also while others are being made. The \
                     order is shipped with the shipment by which the last part leaves. With the carrier `pickup` neither \
                     tracking number nor date is needed.",
                )
                .error(409, STATE, "It is not ready; or not yet printing, for a shipment of some parts.")
                .error(409, "order_short", "Good parts are missing; `acceptShort` ships it all the same.")
                .error(409, "nothing_good", "No part of it is good, so nothing can leave; also with `acceptShort`.")
                .error(409, "parts_not_there", "Fewer parts of a line are good and have not left.")
                .error(409, "too_many_shipments", "It has as many shipments as an order can have.")
        })
        .get(operator, "/api/orders/{id}/shipments/{number}/packing-list", packing::show, |op| {
            op.named("getPackingList", "Show what is packed into a shipment").error(
                404,
                "shipment_not_found",
                "The order has no shipment with this number.",
            )
        })
        .get(customer, "/api/orders/{id}/timeline", timeline, |op| {
            op.named("getOrderTimeline", "Show what happened to an order")
                .about("Oldest first. Customers see the steps of the order and that parts were printed, but not by whom or on which printer.")
        })
}

/// Returns the order as a response to a change. Jobs and payments are not part of a stored answer: payments are read
/// from the order's last commit, and jobs are left out, so that a repeated request gets the same response.
pub(crate) async fn reply_after(
    app: &OrderHandles,
    who: &Caller,
    done: &CommandOutcome<OrderAnswer>,
) -> Result<OrderReply, ApiError> {
    let OrderAnswer::Order(order) = &done.answer else {
        return Err(ApiError::internal(format!("an order answered {:?}", done.answer)));
    };
    let state = app.orders.read(done.id).await?;
    let now = state.as_ref().and_then(|state| state.state.as_ref());
    let then = |payment: &&Payment| payment.created_at <= order.updated_at;
    let payments: Vec<Payment> = now.map(|now| now.payments.iter().filter(then).cloned().collect()).unwrap_or_default();
    // The first answer still has the jobs at hand: left out, so that a repeat says the same.
    let order = Order { jobs: Default::default(), payments, ..(**order).clone() };
    Ok(AsView(OrderFor(Arc::new(Versioned { version: done.version, state: Some(order) }), who.into(), None)))
}

async fn list(
    State(app): State<OrderHandles>,
    who: Caller,
    Query(query): Query<OrderQuery>,
    SiteHeader(site): SiteHeader,
) -> Result<ListPage<AsView<OrderFor<Versioned<Order>>>>, ApiError> {
    let page = query.page.into();
    let filter = OrderFilter {
        status: query.status,
        kind: query.kind,
        site: query.site.or(site).map(|site| site.0),
        customer_email: query.customer_email.or(query.email).map(|email| email.trim().to_lowercase()),
        flag: query.flag.filter(|_| !who.is_customer()),
        flagged: query.flagged.filter(|_| !who.is_customer()),
        made_by: None,
        own: who.own(),
        q: query.q,
        number: None,
    };
    let (some, total) = app.queries.orders(&filter, page).await?;
    let reader = OrderReader::from(&who);
    let items = some.into_iter().filter(|order| order.state.is_some());
    let forecast = app.forecaster.latest();
    let expected = |order: &Versioned<Order>| forecast.orders.get(&order.state.as_ref()?.id).copied();
    let items = items.map(|order| (expected(&order), order));
    let items = items.map(|(expected, order)| AsView(OrderFor(order, reader, expected)));
    Ok(ListPage::new(page, items, total))
}

/// Returns the order if the caller may see it; responds 404 for another customer's order.
async fn visible(app: &OrderHandles, who: &Caller, id: Id) -> Result<Arc<Versioned<Order>>, ApiError> {
    let (_, state) = find_existing(&app.orders, id).await?;
    if who.sees(state_of(&state)?) { Ok(state) } else { Err(Refusal::not_found("order").into()) }
}

async fn one(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Resource<OrderReply>, ApiError> {
    let state = visible(&app, &who, id).await?;
    let expected = app.forecaster.latest().orders.get(&id).copied();
    Ok(Resource::new(state.revision(), AsView(OrderFor(state, OrderReader::from(&who), expected))))
}

async fn finish<B>(
    app: &OrderHandles,
    call: &CommandRequest<B>,
    id: Id,
    command: impl Future<Output = Result<OrderCommand, ApiError>>,
) -> Result<Resource<OrderReply>, ApiError> {
    let done = call.ask_with(&app.orders, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, reply_after(app, &call.who, &done).await?))
}

async fn update(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OrderPatch>,
) -> Result<Resource<OrderReply>, ApiError> {
    let OrderPatch { notes, internal_notes, priority, due_at, shipping_address } = call.read_body()?;
    let change = OrderCommand::Update {
        if_version: call.if_match(),
        notes: notes.present(),
        internal_notes: internal_notes.present(),
        priority: priority.present(),
        due_at: due_at.present(),
        shipping_address: shipping_address.present(),
    };
    finish(&app, &call, id, async { Ok(change) }).await
}

async fn cancel(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<OrderCancellation>>,
) -> Result<Resource<OrderReply>, ApiError> {
    visible(&app, &call.who, id).await?;
    let command = async {
        let OrderCancellation { force } = call.read_body()?;
        // Only staff know whether a printer may be given up.
        let force = force && !call.who.is_customer();
        let mut prints = SeenPrints::new();
        if force
            && let Some(state) = app.orders.read(id).await?
            && let Some(order) = &state.state
        {
            let jobs = order.jobs.values().map(|job| &**job);
            prints = jobs::seen_prints(&app.printers, &app.printer_connections, jobs);
        }
        Ok(OrderCommand::Cancel { force, prints })
    };
    finish(&app, &call, id, command).await
}

async fn confirm(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<OrderReply>, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| OrderCommand::Confirm) };
    finish(&app, &call, id, command).await
}

async fn mark_paid(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<ManualPayment>,
) -> Result<Resource<OrderReply>, ApiError> {
    let command = async { call.read_body().map(ManualPayment::order_command) };
    finish(&app, &call, id, command).await
}

async fn refund(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<ManualRefund>>,
) -> Result<Resource<OrderReply>, ApiError> {
    let at_processor = app.checkouts.has_processor();
    let command = async { call.read_body().map(|refund: ManualRefund| refund.order_command(at_processor)) };
    finish(&app, &call, id, command).await
}

async fn ship(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<NewShipment>,
) -> Result<Resource<OrderReply>, ApiError> {
    let command = async { call.read_body().map(Into::into) };
    finish(&app, &call, id, command).await
}

async fn timeline(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    who: Caller,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<AsView<StepFor>>, ApiError> {
    visible(&app, &who, id).await?;
    let page = page.into();
    let own_steps = who.is_customer().then_some(&CUSTOMER_STEPS[..]);
    let (events, total) = app.queries.timeline(id, own_steps, page).await?;
    Ok(ListPage::new(page, events.into_iter().map(|event| AsView(StepFor::new(event, &who))), total))
}
