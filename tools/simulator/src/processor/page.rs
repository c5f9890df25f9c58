//! Checkout page, on which the customer pays or declines, and the portal page.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use serde_json::Value;

use super::Payer;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color:#1a1a2e}\
    h1{font-size:1.1rem;font-weight:600}b{font-size:2rem}form{margin:.6rem 0}button{width:100%;padding:.8rem;font:inherit;\
    border:1px solid #cbd5e1;border-radius:.5rem;background:#fff;cursor:pointer}button.pay{background:#4338ca;color:#fff;\
    border-color:#4338ca}small{color:#64748b}";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn page(title: &str, body: &str) -> Response {
    let title = escaped(title);
    Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style><body>{body}</body></html>"
    ))
    .into_response()
}

/// Formats an amount for display: `12.50 USD`.
fn amount(session: &Value) -> String {
    let cents = session["amount_total"].as_i64().unwrap_or_default();
    let currency = session["currency"].as_str().unwrap_or_default().to_uppercase();
    format!("{}.{:02} {currency}", cents / 100, cents % 100)
}

/// Renders the page of an open session; `words` is a message about a previous failure.
pub(super) fn checkout(session: &Value, words: Option<&str>) -> Response {
    let id = escaped(session["id"].as_str().unwrap_or_default());
    let lines = session["line_items_of_simulator"].as_array().cloned().unwrap_or_default();
    let line = |line: &Value| {
        let name = line["price"]["product"]["name"].as_str().unwrap_or("Subscription");
        format!("<li>{} × {}</li>", line["quantity"], escaped(name))
    };
    let lines: String = lines.iter().map(line).collect();
    let button = |act: &str, class: &str, words: &str| {
        format!("<form method=\"post\" action=\"/pay/{id}/{act}\"><button class=\"{class}\">{words}</button></form>")
    };
    let words = words.map_or_else(String::new, |words| format!("<p role=\"alert\">{}</p>", escaped(words)));
    let buttons = [
        button("pay", "pay", "Pay"),
        button("later", "", "Pay with a delayed payment method"),
        button("decline", "", "Try a card that is declined"),
    ];
    let back = session["cancel_url"]
        .as_str()
        .map_or_else(String::new, |url| format!("<p><a href=\"{}\">Back to the shop</a></p>", escaped(url)));
    let small = "<small>This page belongs to the simulated payment processor; no money is moved.</small>";
    let body = format!(
        "<h1>Simulated checkout</h1><p><b>{}</b></p><ul>{lines}</ul>{words}{}{back}{small}",
        amount(session),
        buttons.concat()
    );
    page("Simulated checkout", &body)
}

/// Renders the page of a session that cannot be paid.
pub(super) fn closed(session: &Value) -> Response {
    let status = session["status"].as_str().unwrap_or_default();
    let body = format!("<h1>This checkout is {}</h1>", escaped(status));
    (StatusCode::GONE, page("Simulated checkout", &body)).into_response()
}

/// Redirects the customer back to the shop after the payment.
pub(super) fn back(session: &Value) -> Response {
    let url = session["success_url"].as_str().unwrap_or("/");
    let url = url.replace("{CHECKOUT_SESSION_ID}", session["id"].as_str().unwrap_or_default());
    Redirect::to(&url).into_response()
}

/// Renders the page of a portal session.
pub(super) fn portal(session: &Value) -> Response {
    let url = escaped(session["return_url"].as_str().unwrap_or("/"));
    page("Simulated portal", &format!("<h1>Simulated portal</h1><p><a href=\"{url}\">Back to the shop</a></p>"))
}

/// Returns the action for a button on the checkout page.
pub(super) fn payer(act: &str) -> Option<Payer> {
    match act {
        "pay" => Some(Payer::Pays),
        "later" => Some(Payer::PaysSlowly),
        "decline" => Some(Payer::IsDeclined),
        _ => None,
    }
}
