//! Orders: listed, shown, changed, cancelled, paid by hand, shipped (decisions §3). Placing is in [`super::place`].

mod view;

use crate::domain::aggregate::Versioned;
use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::order::{Order, OrderAnswer, OrderCommand, Payment, Shipment};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::body::sure;
use crate::http::command_request::{CommandOutcome, CommandRequest, CommandTarget, found, state_of};
use crate::http::error::{Answer, ApiError};
use crate::http::page::{Params, body, site};
use crate::http::path_id::PathId;
use crate::http::reply;
use crate::store::queries::OrderFilter;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Value, json};
use std::sync::Arc;
pub use view::OrderView;

/// An order as it is shown, as a part of something else.
pub fn view(order: &Order, payments: &[Payment], version: i64) -> Result<Value, ApiError> {
    serde_json::to_value(OrderView::new(order, payments, version)).map_err(ApiError::internal)
}

/// An event as timelines show it.
pub fn event(numbered: &Numbered) -> Value {
    let event = &numbered.event;
    json!({
        "id": event.id, "seq": numbered.seq, "event": event.event, "timestamp": event.timestamp,
        "subject": {"kind": event.subject_kind, "id": event.subject_id}, "actor": event.actor, "data": event.data,
    })
}

/// The order after a change. Jobs and payments are no part of a kept answer: they are read from the order's last commit.
pub async fn shown(app: &AppState, done: &CommandOutcome<OrderAnswer>) -> Result<Value, ApiError> {
    let OrderAnswer::Order(order) = &done.answer else {
        return Err(ApiError::internal(format!("an order answered {:?}", done.answer)));
    };
    let state = app.orders.read(done.id).await?;
    let now = state.as_ref().and_then(|state| state.state.as_ref());
    let then = |payment: &&Payment| payment.created_at <= order.updated_at;
    let payments: Vec<Payment> = now.map(|now| now.payments.iter().filter(then).cloned().collect()).unwrap_or_default();
    // The first answer still has them at hand: left out, so that a repeat says the same.
    let order = Order { jobs: Default::default(), ..(**order).clone() };
    view(&order, &payments, done.version)
}

/// `GET /api/orders?status=&kind=&site=&customerEmail=&q=`: a customer's key sees its own.
pub async fn list(State(app): State<AppState>, who: Caller, params: Params, headers: HeaderMap) -> Answer {
    let page = params.page()?;
    let text = |name: &str| params.text(name).map(str::to_owned);
    let filter = OrderFilter {
        status: params.word("status")?,
        kind: params.word("kind")?,
        site: site(&params, &headers)?,
        customer_email: text("customerEmail").or_else(|| text("email")).map(|email| email.trim().to_lowercase()),
        made_by: None,
        own: who.own(),
        q: text("q"),
        number: None,
    };
    let (some, total) = app.queries.orders(&filter, page).await?;
    let items = some.iter().filter_map(|found| {
        let order = found.state.as_ref()?;
        Some(view(order, &order.payments, found.version))
    });
    reply::ok(body(page, "orders", items.collect::<Result<_, _>>()?, total))
}

/// The order, if it is theirs to see: another's is 404.
async fn visible(app: &AppState, who: &Caller, id: Id) -> Result<Arc<Versioned<Order>>, ApiError> {
    let (_, state) = found(&app.orders, id).await?;
    if who.sees(state_of(&state)?) { Ok(state) } else { Err(Refusal::not_found("order").into()) }
}

/// `GET /api/orders/{id}`
pub async fn one(State(app): State<AppState>, PathId(id): PathId, who: Caller) -> Answer {
    let state = visible(&app, &who, id).await?;
    let order = state_of(&state)?;
    reply::resource(state.version, &OrderView::new(order, &order.payments, state.version))
}

/// `PATCH /api/orders/{id} {notes?, priority?, dueAt?, shippingAddress?}`
pub async fn update(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let mut body = call.fields()?;
    let notes = body.nullable_text("notes", 1000);
    let priority: Option<u8> = body.opt("priority");
    body.check(priority.is_none_or(|priority| priority <= 9), "priority", "must be from 0 to 9");
    let due_at: Option<Option<Timestamp>> = body.nullable("dueAt");
    let shipping_address = body.nullable("shippingAddress");
    body.finish()?;
    let change = OrderCommand::Update { if_version: call.if_match(), notes, priority, due_at, shipping_address };
    finish(&app, &call, id, async { Ok(change) }).await
}

async fn finish(
    app: &AppState,
    call: &CommandRequest,
    id: Id,
    command: impl Future<Output = Result<OrderCommand, ApiError>>,
) -> Answer {
    let done = call.ask_with(&app.orders, CommandTarget::Id(id), command).await?;
    reply::changed(&done, shown(app, &done).await?)
}

/// `POST /api/orders/{id}/cancel {force?}`: a customer only while it is unpaid.
pub async fn cancel(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    visible(&app, &call.who, id).await?;
    let command = async {
        let mut body = call.optional_fields()?;
        let force: Option<bool> = body.opt("force");
        body.finish()?;
        // Only staff know whether a printer may be given up.
        Ok(OrderCommand::Cancel { force: force.unwrap_or(false) && !call.who.is_customer() })
    };
    finish(&app, &call, id, command).await
}

/// `POST /api/orders/{id}/confirm`
pub async fn confirm(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let command = async {
        call.optional_fields()?.finish()?;
        Ok(OrderCommand::Confirm)
    };
    finish(&app, &call, id, command).await
}

/// `POST /api/orders/{id}/mark-paid {amountCents?, method, reference?}`
pub async fn mark_paid(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let command = async {
        let mut body = call.fields()?;
        let amount_cents: Option<i64> = body.opt("amountCents");
        body.check(amount_cents.is_none_or(|cents| cents > 0), "amountCents", "must be above 0");
        let method = body.need_text("method", 50);
        let reference = body.nullable_text("reference", 200).flatten();
        body.finish()?;
        Ok(OrderCommand::MarkPaid { amount_cents, method: sure(method)?, reference })
    };
    finish(&app, &call, id, command).await
}

/// `POST /api/orders/{id}/ship {carrier, trackingNumber, estimatedDelivery}`
pub async fn ship(State(app): State<AppState>, PathId(id): PathId, call: CommandRequest) -> Answer {
    let command = async {
        let mut body = call.fields()?;
        let carrier = body.need_text("carrier", 100);
        let tracking_number = body.need_text("trackingNumber", 100);
        let estimated_delivery: Option<String> = body.need("estimatedDelivery");
        let is_date = |text: &String| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok();
        body.check(estimated_delivery.as_ref().is_none_or(is_date), "estimatedDelivery", "must be a date, YYYY-MM-DD");
        body.finish()?;
        Ok(OrderCommand::Ship(Shipment {
            carrier: sure(carrier)?,
            tracking_number: sure(tracking_number)?,
            estimated_delivery: sure(estimated_delivery)?,
        }))
    };
    finish(&app, &call, id, command).await
}

/// `GET /api/orders/{id}/timeline`: what happened, oldest first.
pub async fn timeline(State(app): State<AppState>, PathId(id): PathId, who: Caller) -> Answer {
    visible(&app, &who, id).await?;
    let events = app.queries.timeline(id).await?;
    reply::ok(json!({ "timeline": events.iter().map(event).collect::<Vec<_>>() }))
}
