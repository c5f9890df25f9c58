//! Checkout sessions, which can be created, retrieved, expired, paid and declined.

use serde_json::{Value, json};

use super::books::{ProcessorObjects, now};
use super::fault::ErrorResponse;
use super::params::Params;

/// Minimum and maximum lifetime of a session in seconds.
const LIFETIME_SECONDS: (i64, i64) = (30 * 60, 24 * 3600);
/// Minimum amount of a payment, in minor units.
const MIN_AMOUNT: i64 = 50;
/// Maximum length of a reference in characters.
const MAX_REFERENCE_CHARS: usize = 200;

/// Customer's action on a checkout page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payer {
    /// Pays, and the money is available immediately.
    Pays,
    /// Pays with a delayed payment method, whose money arrives later or never.
    PaysSlowly,
    /// Uses a card that is declined.
    IsDeclined,
}

const PARAMS: [&str; 14] = [
    "mode",
    "line_items",
    "success_url",
    "cancel_url",
    "customer",
    "customer_email",
    "client_reference_id",
    "metadata",
    "payment_intent_data",
    "subscription_data",
    "expires_at",
    "allow_promotion_codes",
    "automatic_tax",
    "locale",
];

pub(super) fn create(books: &mut ProcessorObjects, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&PARAMS)?;
    let mode = params.required("mode")?;
    if !matches!(mode, "payment" | "subscription") {
        return Err(ErrorResponse::invalid("Invalid mode: must be one of payment or subscription".to_owned(), "mode"));
    }
    let success = web_address(params, "success_url")?.ok_or_else(|| ErrorResponse::missing("success_url"))?;
    let cancel = web_address(params, "cancel_url")?;
    if params.has("customer") && params.has("customer_email") {
        let message = "You may only specify one of these parameters: customer, customer_email.";
        return Err(ErrorResponse::invalid(message.to_owned(), "customer"));
    }
    if let Some(customer) = params.text("customer") {
        books.named("customer", customer, "customer")?;
    }
    let email = params.text("customer_email");
    let disliked =
        |email: &str| books.dislikes_addresses || !email.contains('@') || email.contains(char::is_whitespace);
    if email.is_some_and(disliked) {
        let message = format!("Invalid email address: {}", email.unwrap_or_default());
        return Err(ErrorResponse::invalid(message, "customer_email").code("email_invalid"));
    }
    let reference = params.text("client_reference_id");
    if reference.is_some_and(|reference| reference.chars().count() > MAX_REFERENCE_CHARS) {
        return Err(ErrorResponse::invalid("Invalid string: too long".to_owned(), "client_reference_id"));
    }
    let (least, most) = LIFETIME_SECONDS;
    let expires_at = params.integer("expires_at")?.unwrap_or(now() + most);
    if !(now() + least - 60..=now() + most + 60).contains(&expires_at) {
        let message = "The `expires_at` timestamp must be from 30 minutes to 24 hours from Checkout Session creation.";
        return Err(ErrorResponse::invalid(message.to_owned(), "expires_at"));
    }
    let other = if mode == "payment" { "subscription_data" } else { "payment_intent_data" };
    if params.has(other) {
        return Err(ErrorResponse::invalid(format!("You can not pass `{other}` in `{mode}` mode."), other));
    }
    let data = if mode == "payment" { "payment_intent_data" } else { "subscription_data" };
    let data = params.part(data);
    data.as_ref().map_or(Ok(()), |data| data.only(&["metadata", "description"]))?;
    let data_metadata = data.as_ref().map_or(Ok(json!({})), |data| data.metadata("metadata"))?;
    let (lines, currency) = lines(books, params, mode)?;
    let total: i64 = lines.iter().filter_map(|line| line["amount_total"].as_i64()).sum();
    if mode == "payment" && total < MIN_AMOUNT {
        let message = "The Checkout Session's total amount due must add up to at least $0.50 usd".to_owned();
        return Err(ErrorResponse::invalid(message, "line_items").code("amount_too_small"));
    }
    let id = ProcessorObjects::id("cs_test");
    let session = json!({
        "id": id, "object": "checkout.session", "mode": mode, "status": "open", "payment_status": "unpaid",
        "amount_subtotal": total, "amount_total": total, "currency": currency, "created": now(), "expires_at": expires_at,
        "client_reference_id": reference, "customer": params.text("customer"), "customer_email": email,
        "customer_details": email.map(|email| json!({"email": email, "name": null})), "livemode": false,
        "metadata": params.metadata("metadata")?, "payment_intent": null, "subscription": null, "invoice": null,
        "success_url": success, "cancel_url": cancel, "ui_mode": "hosted_page", "locale": params.text("locale"),
        "allow_promotion_codes": params.flag("allow_promotion_codes")?,
        "url": format!("{}/pay/{id}", books.base_url),
        "line_items_of_simulator": lines, "data_metadata_of_simulator": data_metadata,
    });
    books.add(session).map(|session| public_view(&session))
}

/// Returns a session's public form, without the simulator's internal fields.
pub(super) fn public_view(session: &Value) -> Value {
    let mut view = session.clone();
    if let Some(members) = view.as_object_mut() {
        members.retain(|name, _| !name.ends_with("_of_simulator"));
    }
    view
}

fn web_address(params: &Params, name: &str) -> Result<Option<String>, ErrorResponse> {
    let text = params.text(name);
    let web = |text: &str| text.starts_with("https://") || text.starts_with("http://");
    if text.is_some_and(|text| !web(text)) {
        let message = "Not a valid URL: an explicit scheme (such as https) must be provided".to_owned();
        return Err(ErrorResponse::invalid(message, name).code("url_invalid"));
    }
    Ok(text.map(str::to_owned))
}

/// Builds the line items and returns them with their currency.
fn lines(books: &ProcessorObjects, params: &Params, mode: &str) -> Result<(Vec<Value>, String), ErrorResponse> {
    let mut lines = Vec::new();
    let mut currency: Option<String> = None;
    for line in params.parts("line_items") {
        line.only(&["price", "price_data", "quantity"])?;
        let quantity = line.integer("quantity")?.unwrap_or(1);
        if quantity < 1 {
            return Err(ErrorResponse::invalid(
                "This value must be greater than or equal to 1.".to_owned(),
                &line.named("quantity"),
            ));
        }
        let price = match (line.text("price"), line.part("price_data")) {
            (Some(id), None) => books.named("price", id, &line.named("price"))?.clone(),
            (None, Some(data)) => price_of(&data)?,
            _ => return Err(ErrorResponse::missing(&line.named("price"))),
        };
        let recurs = !price["recurring"].is_null();
        if recurs != (mode == "subscription") {
            let message =
                "You must provide recurring prices in `subscription` mode, and one-time prices in `payment` mode.";
            return Err(ErrorResponse::invalid(message.to_owned(), &line.named("price")));
        }
        let of_line = price["currency"].as_str().unwrap_or_default().to_owned();
        if currency.get_or_insert_with(|| of_line.clone()) != &of_line {
            return Err(ErrorResponse::invalid("All prices must be in the same currency.".to_owned(), "line_items"));
        }
        let amount = price["unit_amount"].as_i64().unwrap_or_default().saturating_mul(quantity);
        lines.push(json!({"price": price, "quantity": quantity, "amount_total": amount}));
    }
    let currency = currency.ok_or_else(|| ErrorResponse::missing("line_items"))?;
    Ok((lines, currency))
}

fn price_of(data: &Params) -> Result<Value, ErrorResponse> {
    data.only(&["currency", "unit_amount", "product_data", "recurring", "tax_behavior"])?;
    let product = data.part("product_data").ok_or_else(|| ErrorResponse::missing(&data.named("product_data")))?;
    product.only(&["name", "description", "images", "metadata"])?;
    let currency = data.required("currency")?;
    if currency.len() != 3 || currency.bytes().any(|byte| !byte.is_ascii_lowercase()) {
        return Err(ErrorResponse::invalid(format!("Invalid currency: {currency}"), &data.named("currency")));
    }
    let amount = data.integer("unit_amount")?.ok_or_else(|| ErrorResponse::missing(&data.named("unit_amount")))?;
    if !(0..=99_999_999).contains(&amount) {
        let fault = ErrorResponse::invalid("Invalid amount".to_owned(), &data.named("unit_amount"));
        return Err(if amount < 0 { fault } else { fault.code("amount_too_large") });
    }
    let recurring = data.part("recurring").map(|one| json!({"interval": one.text("interval"), "interval_count": 1}));
    Ok(json!({
        "id": ProcessorObjects::id("price"), "object": "price", "currency": currency, "unit_amount": amount, "recurring": recurring,
        "product": {"object": "product", "name": product.required("name")?},
    }))
}

/// Returns a session, after marking it as expired if its lifetime has ended.
pub(super) fn look(books: &mut ProcessorObjects, id: &str) -> Result<Value, ErrorResponse> {
    let session = books.get("checkout.session", id)?;
    let over = session["status"] == "open" && session["expires_at"].as_i64().is_some_and(|at| at <= now());
    if over {
        close(books, id);
    }
    books.get("checkout.session", id).cloned()
}

/// Expands the session's payment if requested.
pub(super) fn expanded(books: &ProcessorObjects, mut session: Value, params: &Params) -> Result<Value, ErrorResponse> {
    for member in params.texts("expand") {
        if member != "payment_intent" {
            return Err(ErrorResponse::invalid(format!("This property cannot be expanded ({member})."), "expand"));
        }
        if let Some(intent) = session["payment_intent"].as_str().and_then(|id| books.get("payment_intent", id).ok()) {
            session["payment_intent"] = intent.clone();
        }
    }
    Ok(session)
}

fn close(books: &mut ProcessorObjects, id: &str) -> Value {
    let closed = public_view(&books.change(id, &json!({"status": "expired", "url": null})));
    books.happened("checkout.session.expired", &closed);
    closed
}

pub(super) fn expire(books: &mut ProcessorObjects, id: &str, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&[])?;
    let session = look(books, id)?;
    if session["status"] != "open" {
        let status = session["status"].as_str().unwrap_or_default();
        let message = format!(
            "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status of {status}."
        );
        return Err(ErrorResponse::invalid(message, "session"));
    }
    Ok(close(books, id))
}

/// Acts as the customer on a checkout page.
pub(super) fn act(books: &mut ProcessorObjects, id: &str, payer: Payer) -> Result<Value, ErrorResponse> {
    let session = look(books, id)?;
    if session["status"] != "open" {
        return Err(ErrorResponse::invalid("This checkout page is no longer open.".to_owned(), "session"));
    }
    if session["mode"] == "subscription" {
        return match payer {
            Payer::IsDeclined => Ok(session),
            Payer::Pays | Payer::PaysSlowly => super::subscriptions::begin(books, &session),
        };
    }
    let intent = intent_of(books, &session)?;
    if payer == Payer::IsDeclined {
        let error = json!({
            "type": "card_error", "code": "card_declined", "decline_code": "generic_decline",
            "message": "Your card was declined.",
        });
        let failed = books.change(&intent, &json!({"status": "requires_payment_method", "last_payment_error": error}));
        books.happened("payment_intent.payment_failed", &failed);
        return Ok(session);
    }
    let paid = payer == Payer::Pays;
    if paid {
        charge(books, &intent)?;
    } else {
        books.change(&intent, &json!({"status": "processing", "last_payment_error": null}));
    }
    let word = if paid { "paid" } else { "unpaid" };
    let done = json!({"status": "complete", "payment_status": word, "payment_intent": intent, "url": null});
    let done = public_view(&books.change(id, &done));
    books.happened("checkout.session.completed", &done);
    Ok(done)
}

/// Settles a delayed payment, whose money either arrives or never arrives.
pub(super) fn settle(books: &mut ProcessorObjects, id: &str, arrives: bool) -> Result<Value, ErrorResponse> {
    let session = books.get("checkout.session", id)?.clone();
    if session["status"] != "complete" || session["payment_status"] != "unpaid" {
        return Err(ErrorResponse::invalid("no delayed payment is pending".to_owned(), "session"));
    }
    if !arrives {
        let intent = session["payment_intent"].as_str().unwrap_or_default();
        books.change(intent, &json!({"status": "requires_payment_method"}));
        books.happened("checkout.session.async_payment_failed", &public_view(&session));
        return Ok(session);
    }
    charge(books, session["payment_intent"].as_str().unwrap_or_default())?;
    let done = public_view(&books.change(id, &json!({"payment_status": "paid"})));
    books.happened("checkout.session.async_payment_succeeded", &done);
    Ok(done)
}

/// Returns a session's payment intent, which is created on the first attempt to pay.
fn intent_of(books: &mut ProcessorObjects, session: &Value) -> Result<String, ErrorResponse> {
    let id = session["id"].as_str().unwrap_or_default();
    if let Some(existing) = books.intents.get(id) {
        return Ok(existing.clone());
    }
    let intent = json!({
        "id": ProcessorObjects::id("pi"), "object": "payment_intent", "amount": session["amount_total"], "amount_received": 0,
        "currency": session["currency"], "created": now(), "livemode": false, "status": "requires_payment_method",
        "metadata": session["data_metadata_of_simulator"], "latest_charge": null, "last_payment_error": null,
        "customer": session["customer"],
    });
    let intent = books.add(intent)?["id"].as_str().unwrap_or_default().to_owned();
    books.intents.insert(id.to_owned(), intent.clone());
    Ok(intent)
}

pub(super) fn charge(books: &mut ProcessorObjects, intent: &str) -> Result<(), ErrorResponse> {
    let payment_intent = books.get("payment_intent", intent)?.clone();
    let charge = books.add(json!({
        "id": ProcessorObjects::id("ch"), "object": "charge", "amount": payment_intent["amount"], "amount_captured": payment_intent["amount"],
        "amount_refunded": 0, "currency": payment_intent["currency"], "created": now(), "livemode": false,
        "metadata": payment_intent["metadata"], "paid": true, "payment_intent": intent, "refunded": false, "status": "succeeded",
        "customer": payment_intent["customer"],
    }))?;
    let paid = json!({
        "status": "succeeded", "amount_received": payment_intent["amount"], "latest_charge": charge["id"], "last_payment_error": null,
    });
    let paid = books.change(intent, &paid);
    books.happened("payment_intent.succeeded", &paid);
    Ok(())
}
