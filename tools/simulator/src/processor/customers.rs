//! Customers, their stored cards, and links to the customer portal.

use serde_json::{Value, json};

use super::books::{ProcessorObjects, now};
use super::fault::ErrorResponse;
use super::params::Params;

const LIST: [&str; 3] = ["limit", "starting_after", "ending_before"];

pub(super) fn create(books: &mut ProcessorObjects, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&["email", "name", "phone", "description", "metadata"])?;
    let email = params.text("email");
    if email.is_some_and(|email| !email.contains('@')) {
        return Err(ErrorResponse::invalid("Invalid email address".to_owned(), "email").code("email_invalid"));
    }
    let customer = json!({
        "id": ProcessorObjects::id("cus"), "object": "customer", "email": email, "name": params.text("name"),
        "phone": params.text("phone"), "description": params.text("description"), "created": now(), "livemode": false,
        "metadata": params.metadata("metadata")?, "invoice_settings": {"default_payment_method": null},
    });
    let customer = books.add(customer)?;
    books.happened("customer.created", &customer);
    Ok(customer)
}

pub(super) fn list(books: &ProcessorObjects, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&[&LIST[..], &["email"]].concat())?;
    let email = params.text("email");
    books.page("customer", "/v1/customers", params, |one| email.is_none_or(|email| one["email"] == email))
}

/// Searches for customers. Of the search language, only queries for a single field are supported: `email:'x'`,
/// `metadata['key']:'value'`.
pub(super) fn search(books: &ProcessorObjects, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&["query", "limit", "page"])?;
    let query = params.required("query")?;
    let malformed = || ErrorResponse::invalid(format!("We were unable to parse your search query: {query}"), "query");
    let (member, value) = query.split_once(':').ok_or_else(malformed)?;
    let quoted = |text: &str| {
        let text = text.trim();
        let inside = ['\'', '"'].iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark));
        inside.map(str::to_owned)
    };
    let value = quoted(value).ok_or_else(malformed)?;
    let key = member.strip_prefix("metadata[").and_then(|rest| rest.strip_suffix(']'));
    let page = match (key, member) {
        (Some(key), _) => {
            let key = quoted(key).ok_or_else(malformed)?;
            books.page("customer", "/v1/customers/search", params, |one| one["metadata"][&key] == value.as_str())?
        }
        (None, "email") => {
            books.page("customer", "/v1/customers/search", params, |one| one["email"] == value.as_str())?
        }
        _ => return Err(malformed()),
    };
    let (data, more) = (&page["data"], &page["has_more"]);
    Ok(
        json!({"object": "search_result", "data": data, "has_more": more, "next_page": null, "url": "/v1/customers/search"}),
    )
}

/// Adds a card to a customer.
pub(super) fn add_card(books: &mut ProcessorObjects, customer: &str, last4: &str) -> Result<Value, ErrorResponse> {
    books.get("customer", customer)?;
    books.add(json!({
        "id": ProcessorObjects::id("pm"), "object": "payment_method", "type": "card", "created": now(), "livemode": false,
        "customer": customer, "metadata": {}, "billing_details": {"email": null, "name": null},
        "card": {"brand": "visa", "last4": last4, "exp_month": 12, "exp_year": 2031, "country": "US", "funding": "credit"},
    }))
}

/// Returns the payment methods of the customer specified in the path or in a parameter.
pub(super) fn payment_methods(
    books: &ProcessorObjects,
    of: Option<&str>,
    params: &Params,
) -> Result<Value, ErrorResponse> {
    let own: &[&str] = if of.is_some() { &["type"] } else { &["type", "customer"] };
    params.only(&[&LIST[..], own].concat())?;
    let customer = match of {
        Some(customer) => customer,
        None => params.required("customer")?,
    };
    books.named("customer", customer, "customer")?;
    let kind = params.text("type");
    let fits = |one: &Value| one["customer"] == customer && kind.is_none_or(|kind| one["type"] == kind);
    books.page("payment_method", "/v1/payment_methods", params, fits)
}

pub(super) fn create_portal(books: &mut ProcessorObjects, params: &Params) -> Result<Value, ErrorResponse> {
    params.only(&["customer", "return_url", "configuration", "locale"])?;
    let customer = params.required("customer")?;
    books.named("customer", customer, "customer")?;
    let id = ProcessorObjects::id("bps");
    books.add(json!({
        "id": id, "object": "billing_portal.session", "customer": customer, "created": now(), "livemode": false,
        "return_url": params.text("return_url"), "url": format!("{}/portal/{id}", books.base_url),
    }))
}
