//! Orders: listed, shown, changed, cancelled, paid by hand, shipped. Placing is in [`super::place`].

mod address;
mod requests;
pub mod site;
mod timeline;
mod view;

use std::sync::Arc;

use axum::extract::State;
use serde_json::Value;

use super::place::place;
use crate::actors::kernel::directory::Directory;
use crate::domain::aggregate::Versioned;
use crate::domain::event::Numbered;
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::material::Material;
use crate::domain::order::{Order, OrderAnswer, OrderCommand, Payment, Shipment};
use crate::domain::principal::Role;
use crate::domain::refusal::Refusal;
use crate::domain::sku::Sku;
use crate::http::access::{Caller, RequiredAccess};
use crate::http::command_request::{CommandOutcome, CommandRequest, CommandTarget, found, state_of};
use crate::http::error::ApiError;
use crate::http::handles::{NewOrders, handles};
use crate::http::page::Query;
use crate::http::path_id::PathId;
use crate::http::reply::{Listed, Plain, Resource};
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{EmptyBody, OptionalBody, Shown};
use crate::store::queries::{OrderFilter, Queries};
use requests::{ManualPayment, NewShipment, OrderCancellation, OrderChange, OrderQuery};
use site::SiteHeader;
use timeline::{EventView, Timeline};

pub use requests::PRIORITY;
pub use view::{OrderNumber, OrderView};

/// The collection of orders.
pub const PATH: &str = "/api/orders";
/// The id that examples use for an order.
pub const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8065";

const STATE: &str = "invalid_transition";

/// An order as answers own it.
type ShownOrder = Shown<Arc<Versioned<Order>>>;

handles! {
    /// What the routes of orders use.
    pub(crate) struct OrderHandles {
        orders: Directory<Order>,
        skus: Directory<Sku>,
        files: Directory<File>,
        materials: Directory<Material>,
        queries: Queries,
        new_orders: NewOrders,
    }
}

/// The routes of orders.
pub fn routes() -> ResourceRoutes {
    let [customer, operator] = [Role::Customer, Role::Operator].map(RequiredAccess::Role);
    let about = "Placed, paid, made, shipped. Customers' keys see and make their own; another's order is 404 for them.";
    ResourceRoutes::new("Orders", about, "order")
        .get(customer, PATH, list, |op| op.named("listOrders", "List orders"))
        .post(customer, PATH, place, |op| {
            op.named("placeOrder", "Place an order")
                .about("Prices come from the catalogue and are frozen. `priority` and `dueAt` are set by staff only.")
                .no(403, "forbidden", "The key orders for another customer, or sets what staff set.")
        })
        .get(customer, "/api/orders/{id}", one, |op| op.named("getOrder", "Show an order"))
        .patch(operator, "/api/orders/{id}", update, |op| {
            op.named("updateOrder", "Change an order")
                .about("Unfinished jobs follow priority and due date.")
                .no(409, STATE, "The order does not stand so that this can change.")
                .no(409, "tax_differs", "The new destination has another tax rate.")
        })
        .post(customer, "/api/orders/{id}/cancel", cancel, |op| {
            op.named("cancelOrder", "Cancel an order")
                .about("A customer may while it is unpaid. `force` gives up printers that do not answer.")
                .no(403, "forbidden", "A customer may cancel an order only while it is unpaid.")
                .no(409, STATE, "It is shipped, cancelled or refunded.")
        })
        .post(operator, "/api/orders/{id}/confirm", confirm, |op| {
            op.named("confirmOrder", "Confirm a draft").about("A draft that costs nothing is paid at once.").no(
                409,
                STATE,
                "It is no draft.",
            )
        })
        .post(operator, "/api/orders/{id}/mark-paid", mark_paid, |op| {
            op.named("markOrderPaid", "Record a payment by hand")
                .about("Without an amount, all that is due. Paid in full, its jobs are made.")
                .no(409, STATE, "It is paid already.")
                .no(409, "not_payable", "It is cancelled or refunded.")
        })
        .post(operator, "/api/orders/{id}/ship", ship, |op| {
            op.named("shipOrder", "Ship an order").no(409, STATE, "It is not ready.")
        })
        .get(customer, "/api/orders/{id}/timeline", timeline, |op| {
            op.named("getOrderTimeline", "Show what happened to an order").about("Oldest first.")
        })
}

/// An event as timelines show it.
pub fn event(numbered: &Numbered) -> Value {
    serde_json::to_value(EventView::new(numbered)).unwrap_or_default()
}

/// The order after a change. Jobs and payments are no part of a kept answer: they are read from the order's last commit.
pub(crate) async fn shown(app: &OrderHandles, done: &CommandOutcome<OrderAnswer>) -> Result<ShownOrder, ApiError> {
    let OrderAnswer::Order(order) = &done.answer else {
        return Err(ApiError::internal(format!("an order answered {:?}", done.answer)));
    };
    let state = app.orders.read(done.id).await?;
    let now = state.as_ref().and_then(|state| state.state.as_ref());
    let then = |payment: &&Payment| payment.created_at <= order.updated_at;
    let payments: Vec<Payment> = now.map(|now| now.payments.iter().filter(then).cloned().collect()).unwrap_or_default();
    // The first answer still has the jobs at hand: left out, so that a repeat says the same.
    let order = Order { jobs: Default::default(), payments, ..(**order).clone() };
    Ok(Shown(Arc::new(Versioned { version: done.version, state: Some(order) })))
}

async fn list(
    State(app): State<OrderHandles>,
    who: Caller,
    Query(query): Query<OrderQuery>,
    SiteHeader(site): SiteHeader,
) -> Result<Listed<Shown<Versioned<Order>>>, ApiError> {
    let page = query.page.into();
    let filter = OrderFilter {
        status: query.status,
        kind: query.kind,
        site: query.site.or(site).map(|site| site.0),
        customer_email: query.customer_email.or(query.email).map(|email| email.trim().to_lowercase()),
        made_by: None,
        own: who.own(),
        q: query.q,
        number: None,
    };
    let (some, total) = app.queries.orders(&filter, page).await?;
    let items = some.into_iter().filter(|order| order.state.is_some()).map(Shown).collect();
    Ok(Listed { page, items, total })
}

/// The order, if the caller may see it: another's is 404.
async fn visible(app: &OrderHandles, who: &Caller, id: Id) -> Result<Arc<Versioned<Order>>, ApiError> {
    let (_, state) = found(&app.orders, id).await?;
    if who.sees(state_of(&state)?) { Ok(state) } else { Err(Refusal::not_found("order").into()) }
}

async fn one(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Resource<ShownOrder>, ApiError> {
    let state = visible(&app, &who, id).await?;
    Ok(Resource::new(state.version, Shown(state)))
}

async fn finish<B>(
    app: &OrderHandles,
    call: &CommandRequest<B>,
    id: Id,
    command: impl Future<Output = Result<OrderCommand, ApiError>>,
) -> Result<Resource<ShownOrder>, ApiError> {
    let done = call.ask_with(&app.orders, CommandTarget::Id(id), command).await?;
    Ok(Resource::after(&done, shown(app, &done).await?))
}

async fn update(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OrderChange>,
) -> Result<Resource<ShownOrder>, ApiError> {
    let OrderChange { notes, priority, due_at, shipping_address } = call.read_body()?;
    let change = OrderCommand::Update {
        if_version: call.if_match(),
        notes: notes.present(),
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
) -> Result<Resource<ShownOrder>, ApiError> {
    visible(&app, &call.who, id).await?;
    let command = async {
        let OrderCancellation { force } = call.read_body()?;
        // Only staff know whether a printer may be given up.
        Ok(OrderCommand::Cancel { force: force && !call.who.is_customer() })
    };
    finish(&app, &call, id, command).await
}

async fn confirm(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<OptionalBody<EmptyBody>>,
) -> Result<Resource<ShownOrder>, ApiError> {
    let command = async { call.read_body().map(|EmptyBody {}| OrderCommand::Confirm) };
    finish(&app, &call, id, command).await
}

async fn mark_paid(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<ManualPayment>,
) -> Result<Resource<ShownOrder>, ApiError> {
    let command = async {
        let ManualPayment { amount_cents, method, reference } = call.read_body()?;
        Ok(OrderCommand::MarkPaid { amount_cents: amount_cents.present(), method, reference })
    };
    finish(&app, &call, id, command).await
}

async fn ship(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    call: CommandRequest<NewShipment>,
) -> Result<Resource<ShownOrder>, ApiError> {
    let command = async {
        let shipment: Shipment = call.read_body()?.into_fields();
        Ok(OrderCommand::Ship(shipment))
    };
    finish(&app, &call, id, command).await
}

async fn timeline(
    State(app): State<OrderHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Plain<Shown<Timeline>>, ApiError> {
    visible(&app, &who, id).await?;
    Ok(Plain(Shown(Timeline(app.queries.timeline(id).await?))))
}
