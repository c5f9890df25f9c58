//! Page that a payment link opens. Anyone with the link can see the amount due and pay it; the page contains no
//! personal data except the name. No session is required.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::html;

use super::brand::Brand;
use super::form::PageForm;
use super::frame::{lead_to_payment, money, shop_page};
use super::invoices::{GIVEN_BACK_WORDS, lines, order_is_cancelled, status_chip};
use super::times::document_day;
use actors::checkouts::ReturnPages;
use domain::id::Id;
use domain::limits::LimitKind;
use http::command_request::state_of;
use http::error::ApiError;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http_api::billing::invoices::begin_checkout;
use http_api::billing::pay::{PayToken, linked};
use http_api::production::invoices::InvoiceHandles;

/// Serves the page that a payment link opens.
pub(super) async fn show(State(app): State<InvoiceHandles>, PayToken(token): PayToken) -> Result<Response, ApiError> {
    let state = linked(&app, &token).await?;
    let invoice = state_of(&state)?;
    let issued: Vec<Id> = invoice.issued().map(|one| one.id).into_iter().collect();
    let number = app.queries.document_numbers(&issued).await?.into_values().next().unwrap_or_default();
    let (due, currency) = (invoice.due_cents(), &invoice.content.currency);
    let cancelled = order_is_cancelled(&app, invoice).await?;
    let status = invoice.shown_status(app.environment.now());
    let title = format!("Invoice {number}");
    let content = html! {
        h1 { (title) }
        p { "For " strong { (invoice.content.buyer.name) } " " (status_chip(status, cancelled)) }
        @if cancelled {
            p {
                "Its order was cancelled; no payment is due."
                @if invoice.ledger.kept_cents > 0 { " " (GIVEN_BACK_WORDS) }
            }
        } @else if due > 0 {
            form method="post" action={ "/pay/" (token) } {
                button type="submit" { "Pay " (money(due, currency)) }
            }
            @if let Some(at) = invoice.due_at { p class="small muted" { "Due " (document_day(at)) } }
        } @else {
            p { "Thank you. There is nothing left to pay." }
        }
        (lines(invoice))
    };
    Ok(shop_page(&Brand::new(&app.config), StatusCode::OK, &title, &content))
}

/// Forwards to the payment processor's payment page for the invoice.
pub(super) async fn pay(
    State(app): State<InvoiceHandles>,
    State(limits): State<Arc<RateLimiter>>,
    PayToken(token): PayToken,
    ClientAddress(client): ClientAddress,
    sent: PageForm,
) -> Result<LimitedReply<Response>, ApiError> {
    let charge = WindowKey::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        let state = linked(&app, &token).await?;
        let page = format!("{}/pay/{token}", app.config.public_url().trim_end_matches('/'));
        let pages = ReturnPages { success_url: page.clone(), cancel_url: page };
        let open = begin_checkout(&app, state_of(&state)?, &sent.call.origin(), &pages).await?;
        Ok(lead_to_payment(&Brand::new(&app.config), &open.url))
    };
    within(&limits, app.environment.now(), &[charge], open).await
}
