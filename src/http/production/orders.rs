//! Orders: listed, shown, changed, cancelled, paid by hand, shipped (decisions §3). Placing is in [`super::place`].

use crate::domain::event::Numbered;
use crate::domain::id::Id;
use crate::domain::job::{Job, JobState};
use crate::domain::order::{Order, OrderAnswer, OrderCommand, Payment, Shipment};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::AppState;
use crate::http::access::Who;
use crate::http::body::sure;
use crate::http::call::{Call, Done, To, found, state_of};
use crate::http::error::{Answer, ApiError};
use crate::http::lookup::ThingId;
use crate::http::page::{Params, body, site};
use crate::http::reply;
use crate::store::queries::OrderFilter;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Value, json};

/// An order as it is shown.
pub fn view(order: &Order, payments: &[Payment], version: i64) -> Value {
    let lines = order.lines.iter().enumerate().map(|(at, line)| {
        let mut shown = json!({
            "skuId": line.sku_id, "quantity": line.quantity, "unitPriceCents": line.unit_price_cents,
            "description": line.description, "taxRateBps": line.tax_rate_bps,
        });
        if let Some(jobs) = progress(order, at) {
            shown["jobs"] = jobs;
        }
        shown
    });
    let payments = payments.iter().map(|payment| {
        json!({
            "id": payment.id, "amountCents": payment.amount_cents, "currency": payment.currency,
            "method": payment.method, "reference": payment.reference, "createdAt": payment.created_at,
        })
    });
    json!({
        "id": order.id, "number": order.number_text(), "kind": order.kind, "status": order.status, "site": order.site,
        "customerId": order.customer_id, "customerEmail": order.customer_email, "lines": lines.collect::<Vec<_>>(),
        "currency": order.currency, "subtotalCents": order.subtotal_cents, "shippingCents": order.shipping_cents,
        "taxCents": order.tax_cents, "discountCents": order.discount_cents, "totalCents": order.total_cents,
        "payments": payments.collect::<Vec<_>>(), "shipment": order.shipment, "flags": order.flags,
        "shippingAddress": order.shipping_address, "priority": order.priority, "dueAt": order.due_at,
        "notes": order.notes, "paidAt": order.paid_at,
        "createdAt": order.created_at, "updatedAt": order.updated_at, "version": version,
    })
}

/// How many plates a line makes and how many are done; nothing where jobs are not at hand.
fn progress(order: &Order, line: usize) -> Option<Value> {
    let mut jobs = order.jobs.values().filter(|job: &&std::sync::Arc<Job>| job.line as usize == line).peekable();
    jobs.peek()?;
    let (total, done) =
        jobs.fold((0, 0), |(total, done), job| (total + 1, done + i32::from(job.state == JobState::Completed)));
    Some(json!({"total": total, "completed": done}))
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
pub async fn shown(app: &AppState, done: &Done<OrderAnswer>) -> Result<Value, ApiError> {
    let OrderAnswer::Order(order) = &done.answer else {
        return Err(ApiError::internal(format!("an order answered {:?}", done.answer)));
    };
    let state = app.shop.orders.read(done.id).await?;
    let now = state.as_ref().and_then(|state| state.state.as_ref());
    let then = |payment: &&Payment| payment.created_at <= order.updated_at;
    let payments: Vec<Payment> = now.map(|now| now.payments.iter().filter(then).cloned().collect()).unwrap_or_default();
    // The first answer still has them at hand: left out, so that a repeat says the same.
    let order = Order { jobs: Default::default(), ..(**order).clone() };
    Ok(view(&order, &payments, done.version))
}

/// `GET /api/orders?status=&kind=&site=&customerEmail=&q=`: a customer's key sees its own.
pub async fn list(State(app): State<AppState>, who: Who, params: Params, headers: HeaderMap) -> Answer {
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
    let (some, total) = app.shop.queries.orders(&filter, page).await?;
    let items = some.iter().filter_map(|found| {
        let order = found.state.as_ref()?;
        Some(view(order, &order.payments, found.version))
    });
    reply::ok(body(page, "orders", items.collect(), total))
}

/// The order, if it is theirs to see: another's is 404.
async fn visible(app: &AppState, who: &Who, id: Id) -> Result<(i64, Order), ApiError> {
    let (version, state) = found(&app.shop.orders, id).await?;
    let order = state_of(&state)?;
    if who.sees(order) { Ok((version, order.clone())) } else { Err(Refusal::not_found("order").into()) }
}

/// `GET /api/orders/{id}`
pub async fn one(State(app): State<AppState>, ThingId(id): ThingId, who: Who) -> Answer {
    let (version, order) = visible(&app, &who, id).await?;
    reply::resource(version, view(&order, &order.payments, version))
}

/// `PATCH /api/orders/{id} {notes?, priority?, dueAt?, shippingAddress?}`
pub async fn update(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
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
    call: &Call,
    id: Id,
    command: impl Future<Output = Result<OrderCommand, ApiError>>,
) -> Answer {
    let done = call.ask_with(&app.shop.orders, To::Id(id), command).await?;
    reply::changed(&done, shown(app, &done).await?)
}

/// `POST /api/orders/{id}/cancel {force?}`: a customer only while it is unpaid.
pub async fn cancel(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
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
pub async fn confirm(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
    let command = async {
        call.optional_fields()?.finish()?;
        Ok(OrderCommand::Confirm)
    };
    finish(&app, &call, id, command).await
}

/// `POST /api/orders/{id}/mark-paid {amountCents?, method, reference?}`
pub async fn mark_paid(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
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
pub async fn ship(State(app): State<AppState>, ThingId(id): ThingId, call: Call) -> Answer {
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
pub async fn timeline(State(app): State<AppState>, ThingId(id): ThingId, who: Who) -> Answer {
    visible(&app, &who, id).await?;
    let events = app.shop.queries.timeline(id).await?;
    reply::ok(json!({ "timeline": events.iter().map(event).collect::<Vec<_>>() }))
}
