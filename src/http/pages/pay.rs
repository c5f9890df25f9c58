//! Page that a payment link opens. Anyone with the link can see the amount due and pay it; the page contains no
//! personal data except the name. No session is required, but the page is in the language of a customer who is signed
//! in.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::html;

use super::brand::Brand;
use super::form::PageForm;
use super::frame::{PageLanguage, SLOT, document_day, lead_to_payment, shop_page, with_parts};
use super::invoices::{cancelled_text, lines, order_is_cancelled, status_chip};
use actors::checkouts::ReturnPages;
use domain::id::Id;
use domain::limits::LimitKind;
use domain::notation;
use http::command_request::state_of;
use http::error::ApiError;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http_api::billing::invoices::begin_checkout;
use http_api::billing::pay::{PayToken, linked};
use http_api::production::invoices::InvoiceHandles;
use words::pages;

/// Serves the page that a payment link opens.
pub(super) async fn show(
    State(app): State<InvoiceHandles>,
    PageLanguage(language): PageLanguage,
    PayToken(token): PayToken,
) -> Result<Response, ApiError> {
    let state = linked(&app, &token).await?;
    let invoice = state_of(&state)?;
    let issued: Vec<Id> = invoice.issued().map(|one| one.id).into_iter().collect();
    let number = app.queries.document_numbers(&issued).await?.into_values().next().unwrap_or_default();
    let (due, currency) = (invoice.due_cents(), &invoice.content.currency);
    let cancelled = order_is_cancelled(&app, invoice).await?;
    let status = invoice.shown_status(app.environment.now());
    let title = pages::invoice_title(language, &number);
    let buyer = html! { strong { (invoice.content.buyer.name) } };
    let content = html! {
        h1 { (title) }
        p {
            (with_parts(&pages::invoice_for(language, SLOT), &[&buyer])) " " (status_chip(language, status, cancelled))
        }
        @if cancelled {
            p { (cancelled_text(language, invoice)) }
        } @else if due > 0 {
            form method="post" action={ "/pay/" (token) } {
                button type="submit" { (pages::pay_amount(language, &notation::amount(language, due, currency))) }
            }
            @if let Some(at) = invoice.due_at {
                p class="small muted" {
                    (with_parts(&pages::due_note(language, SLOT), &[&document_day(language, at)]))
                }
            }
        } @else {
            p { (pages::nothing_to_pay(language)) }
        }
        (lines(language, invoice))
    };
    Ok(shop_page(&Brand::new(&app.config, language), StatusCode::OK, &title, &content))
}

/// Forwards to the payment processor's payment page for the invoice.
pub(super) async fn pay(
    State(app): State<InvoiceHandles>,
    State(limits): State<Arc<RateLimiter>>,
    PayToken(token): PayToken,
    ClientAddress(client): ClientAddress,
    PageLanguage(language): PageLanguage,
    sent: PageForm,
) -> Result<LimitedReply<Response>, ApiError> {
    let charge = WindowKey::of_address(LimitKind::OrderCheckout, client);
    let open = async {
        let state = linked(&app, &token).await?;
        let page = format!("{}/pay/{token}", app.config.public_url().trim_end_matches('/'));
        let pages = ReturnPages { success_url: page.clone(), cancel_url: page };
        let open = begin_checkout(&app, state_of(&state)?, &sent.call.origin(), &pages).await?;
        Ok(lead_to_payment(&Brand::new(&app.config, language), &open.url))
    };
    within(&limits, app.environment.now(), &[charge], open).await
}
