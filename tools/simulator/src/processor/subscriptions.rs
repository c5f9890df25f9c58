//! Subscriptions, which are started by a paid session and can be renewed, cancelled and resumed, with their prices and
//! invoices.

use serde_json::{Value, json};

use super::books::{ProcessorObjects, now};
use super::customers::add_card;
use super::fault::ErrorResponse;
use super::params::Params;
use super::sessions::{charge, public_view};

/// Billing period length in seconds; a month has thirty days.
const PERIOD_SECONDS: i64 = 30 * 24 * 3600;

/// Event at the end of a subscription's period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The next period is paid, or the subscription ends if it was set to cancel at the end of the period.
    Paid,
    /// The card is declined.
    Declined,
    /// The subscription is cancelled immediately.
    Ended,
}

/// Creates a monthly recurring price.
pub(super) fn add_price(
    books: &mut ProcessorObjects,
    product: &str,
    cents: i64,
    currency: &str,
) -> Result<String, ErrorResponse> {
    let product = books.add(json!({
        "id": ProcessorObjects::id("prod"), "object": "product", "name": product, "active": true, "created": now(), "metadata": {},
    }))?;
    let price = books.add(json!({
        "id": ProcessorObjects::id("price"), "object": "price", "currency": currency, "unit_amount": cents, "active": true,
        "product": product["id"], "nickname": null, "recurring": {"interval": "month", "interval_count": 1},
        "created": now(), "metadata": {},
    }))?;
    Ok(price["id"].as_str().unwrap_or_default().to_owned())
}

/// Starts the subscription for a paid session in subscription mode.
pub(super) fn begin(books: &mut ProcessorObjects, session: &Value) -> Result<Value, ErrorResponse> {
    let customer = match session["customer"].as_str() {
        Some(existing) => existing.to_owned(),
        None => {
            let created = books.add(json!({
                "id": ProcessorObjects::id("cus"), "object": "customer", "email": session["customer_email"], "name": null,
                "created": now(), "metadata": {},
            }))?;
            created["id"].as_str().unwrap_or_default().to_owned()
        }
    };
    let card = add_card(books, &customer, "4242")?;
    let id = ProcessorObjects::id("sub");
    let lines = session["line_items_of_simulator"].as_array().cloned().unwrap_or_default();
    let items: Vec<Value> = lines.iter().map(|line| item(&id, line)).collect();
    let subscription = books.add(json!({
        "id": id, "object": "subscription", "status": "active", "customer": customer, "currency": session["currency"],
        "cancel_at_period_end": false, "cancel_at": null, "canceled_at": null, "ended_at": null, "trial_end": null,
        "created": now(), "livemode": false, "metadata": session["data_metadata_of_simulator"],
        "default_payment_method": card["id"], "latest_invoice": null,
        "items": {"object": "list", "data": items, "has_more": false, "url": format!("/v1/subscription_items?subscription={id}")},
    }))?;
    books.happened("customer.subscription.created", &subscription);
    let invoice = invoice(books, &subscription, true)?;
    books.change(&id, &json!({"latest_invoice": invoice["id"]}));
    let done = json!({
        "status": "complete", "payment_status": "paid", "subscription": id, "customer": customer, "invoice": invoice["id"],
        "url": null,
    });
    let done = public_view(&books.change(session["id"].as_str().unwrap_or_default(), &done));
    books.happened("checkout.session.completed", &done);
    Ok(done)
}

fn item(subscription: &str, line: &Value) -> Value {
    json!({
        "id": ProcessorObjects::id("si"), "object": "subscription_item", "price": line["price"], "quantity": line["quantity"],
        "subscription": subscription, "created": now(), "metadata": {},
        "current_period_start": now(), "current_period_end": now() + PERIOD_SECONDS,
    })
}

fn invoice(books: &mut ProcessorObjects, subscription: &Value, paid: bool) -> Result<Value, ErrorResponse> {
    let items = subscription["items"]["data"].as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let total: i64 = items.iter().map(|one| number(&one["price"]["unit_amount"]) * number(&one["quantity"])).sum();
    let id = ProcessorObjects::id("in");
    let customer = books.get("customer", subscription["customer"].as_str().unwrap_or_default()).ok();
    let email = customer.map_or(Value::Null, |customer| customer["email"].clone());
    let line = |one: &Value| {
        let product = one["price"]["product"].as_str().and_then(|id| books.get("product", id).ok());
        let name = product.map_or("a product", |product| product["name"].as_str().unwrap_or_default());
        let amount = number(&one["price"]["unit_amount"]) * number(&one["quantity"]);
        json!({
            "id": ProcessorObjects::id("il"), "object": "line_item", "amount": amount, "currency": subscription["currency"],
            "description": format!("{} × {name}", one["quantity"]), "quantity": one["quantity"],
        })
    };
    let lines: Vec<Value> = items.iter().map(line).collect();
    let invoice = books.add(json!({
        "customer_email": email,
        "lines": {"object": "list", "data": lines, "has_more": false, "url": format!("/v1/invoices/{id}/lines")},
        "id": id, "object": "invoice", "customer": subscription["customer"], "currency": subscription["currency"],
        "status": if paid { "paid" } else { "open" }, "total": total, "amount_due": total,
        "amount_paid": if paid { total } else { 0 }, "number": format!("SIM-{:04}", books.all("invoice").count() + 1),
        "created": now(), "livemode": false, "hosted_invoice_url": format!("{}/invoice/{id}", books.base_url),
        "parent": {"type": "subscription_details", "subscription_details": {"subscription": subscription["id"], "metadata": subscription["metadata"]}},
    }))?;
    if !paid {
        books.happened("invoice.payment_failed", &invoice);
        return Ok(invoice);
    }
    // The invoice does not say by which payment it was paid; an object between the two does.
    let intent = books.add(json!({
        "id": ProcessorObjects::id("pi"), "object": "payment_intent", "amount": total, "amount_received": 0,
        "currency": subscription["currency"], "created": now(), "livemode": false, "status": "processing", "metadata": {},
        "latest_charge": null, "last_payment_error": null, "customer": subscription["customer"],
    }))?;
    let intent = intent["id"].as_str().unwrap_or_default();
    charge(books, intent)?;
    let payment = books.add(json!({
        "id": ProcessorObjects::id("inpay"), "object": "invoice_payment", "amount_paid": total, "currency": subscription["currency"],
        "created": now(), "invoice": id, "is_default": true, "livemode": false, "status": "paid",
        "payment": {"type": "payment_intent", "payment_intent": intent},
    }))?;
    books.happened("invoice.paid", &invoice);
    books.happened("invoice_payment.paid", &payment);
    Ok(invoice)
}

pub(super) fn list(books: &ProcessorObjects, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&["customer", "status", "price", "limit", "starting_after", "ending_before"])?;
    let (customer, status) = (params.text("customer"), params.text("status"));
    let fits = |one: &Value| {
        let of_status = match status {
            None => one["status"] != "canceled",
            Some("all") => true,
            Some(required) => one["status"] == required,
        };
        of_status && customer.is_none_or(|customer| one["customer"] == customer)
    };
    books.page("subscription", "/v1/subscriptions", params, fits)
}

/// Returns a subscription, with the requested expansions.
pub(super) fn show(books: &ProcessorObjects, id: &str, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&[])?;
    let mut subscription = books.get("subscription", id)?.clone();
    for member in params.texts("expand") {
        match member.as_str() {
            "latest_invoice" => expand(books, "invoice", &mut subscription["latest_invoice"]),
            "default_payment_method" => {
                expand(books, "payment_method", &mut subscription["default_payment_method"]);
            }
            "customer" => expand(books, "customer", &mut subscription["customer"]),
            "items.data.price.product" => {
                let items = subscription["items"]["data"].as_array_mut();
                items.into_iter().flatten().for_each(|one| expand(books, "product", &mut one["price"]["product"]));
            }
            other => {
                return Err(ErrorResponse::invalid(format!("This property cannot be expanded ({other})."), "expand"));
            }
        }
    }
    Ok(subscription)
}

fn expand(books: &ProcessorObjects, kind: &str, member: &mut Value) {
    if let Some(whole) = member.as_str().and_then(|id| books.get(kind, id).ok()) {
        *member = whole.clone();
    }
}

pub(super) fn update(books: &mut ProcessorObjects, id: &str, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&["cancel_at_period_end", "metadata", "default_payment_method"])?;
    let subscription = books.get("subscription", id)?.clone();
    if subscription["status"] == "canceled" {
        let message = "A canceled subscription can only update its cancellation_details and metadata.";
        return Err(ErrorResponse::invalid(message.to_owned(), ""));
    }
    let mut members = json!({});
    if let Some(cancel) = params.flag("cancel_at_period_end")? {
        let end = subscription["items"]["data"][0]["current_period_end"].clone();
        members = json!({"cancel_at_period_end": cancel, "cancel_at": if cancel { end } else { Value::Null }});
    }
    let changed = books.change(id, &members);
    books.happened("customer.subscription.updated", &changed);
    Ok(changed)
}

/// Ends the current period of a subscription.
pub(super) fn renew(books: &mut ProcessorObjects, id: &str, how: Renewal) -> Result<Value, ErrorResponse> {
    let subscription = books.get("subscription", id)?.clone();
    let ends = how == Renewal::Ended || subscription["cancel_at_period_end"] == true;
    if ends {
        let ended = books.change(id, &json!({"status": "canceled", "canceled_at": now(), "ended_at": now()}));
        books.happened("customer.subscription.deleted", &ended);
        return Ok(ended);
    }
    let paid = how == Renewal::Paid;
    let invoice = invoice(books, &subscription, paid)?;
    let mut items = subscription["items"].clone();
    if paid {
        for one in items["data"].as_array_mut().into_iter().flatten() {
            let end = one["current_period_end"].as_i64().unwrap_or_default();
            (one["current_period_start"], one["current_period_end"]) = (json!(end), json!(end + PERIOD_SECONDS));
        }
    }
    let status = if paid { "active" } else { "past_due" };
    let changed = books.change(id, &json!({"status": status, "items": items, "latest_invoice": invoice["id"]}));
    books.happened("customer.subscription.updated", &changed);
    Ok(changed)
}
