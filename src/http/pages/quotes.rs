//! Customer's quote pages: list, details, accepting and declining.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::form::PageForm;
use super::frame::{Section, Viewer, day, money, see_other, time};
use super::orders::PartQuery;
use super::pictures;
use crate::design::{Icon, Tone, chip, empty_place, icon};
use config::Config;
use domain::quote::{Quote, QuoteCommand, QuoteStatus};
use domain::time::Timestamp;
use http::access::Caller;
use http::command_request::CommandTarget;
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::path_id::PathId;
use http_api::billing::quotes::{OwnQuoteHandles, accept_own, own};
use store::queries::QuoteFilter;

/// Path of the quote list.
pub(super) const PATH: &str = "/quotes";

handles! {
    /// Dependencies of the quote pages.
    pub(crate) struct QuotePageHandles {
        own: OwnQuoteHandles,
        config: Arc<Config>,
    }
}

fn status_words(status: QuoteStatus) -> &'static str {
    match status {
        QuoteStatus::Draft => "Draft",
        QuoteStatus::Sent => "Waiting for you",
        QuoteStatus::Accepted => "Accepted",
        QuoteStatus::Declined => "Declined",
        QuoteStatus::Expired => "Expired",
    }
}

/// Renders a quote's status.
fn status_chip(status: QuoteStatus) -> Markup {
    let tone = match status {
        QuoteStatus::Sent => Tone::Attention,
        QuoteStatus::Accepted => Tone::Working,
        QuoteStatus::Draft | QuoteStatus::Declined | QuoteStatus::Expired => Tone::Idle,
    };
    chip(tone, status_words(status))
}

/// Serves the list of quotes.
pub(super) async fn list(
    State(app): State<QuotePageHandles>,
    who: Caller,
    OpenQuery(part): OpenQuery<PartQuery>,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config)?;
    let (_, email) = who.customer()?;
    let now = app.own.quotes.environment.now();
    let filter = QuoteFilter { customer_email: Some(email.to_owned()), sent: true, now, ..QuoteFilter::default() };
    let (some, total) = app.own.quotes.queries.quotes(&filter, part.page()).await?;
    let some: Vec<&Quote> = some.iter().filter_map(|one| one.state.as_ref()).collect();
    let content = html! {
        div class="head" {
            h1 { "Your quotes" }
            a class="btn primary push" href=(super::models::PATH) { (icon(Icon::Upload)) "Get a price for a model" }
        }
        @if some.is_empty() {
            (empty_place(Icon::ScrollText, "Quotes appear here once we have sent them, to be accepted or declined.", &html! {
                p class="small" { "There are none for " strong { (email) } " yet." }
            }))
        } @else {
            ul class="panel rows" {
                @for quote in &some { (row(quote, now)) }
            }
        }
        (part.links(PATH, total))
    };
    Ok(viewer.page(Section::Quotes, "Your quotes", &content))
}

/// Renders a quote in the list.
fn row(quote: &Quote, now: Timestamp) -> Markup {
    let status = quote.shown_status(now);
    html! {
        li class="row" {
            (pictures::quote("thumb", quote))
            div {
                a class="tall" href={ (PATH) "/" (quote.id) } { (quote.number_text()) } " "
                (status_chip(status))
                @if let Some(until) = quote.valid_until.filter(|_| status == QuoteStatus::Sent) {
                    div class="small muted" { "Valid until " (day(until)) }
                }
            }
            span class="num" { (money(quote.total_cents, &quote.currency)) }
        }
    }
}

/// Serves a quote's page.
pub(super) async fn one(
    State(app): State<QuotePageHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config)?;
    let quote = own(&app.own, &who, id).await?;
    let now = app.own.quotes.environment.now();
    let title = format!("Quote {}", quote.number_text());
    Ok(viewer.page(Section::Quotes, &title, &quote_view(&viewer, &quote, now)))
}

fn quote_view(viewer: &Viewer, quote: &Quote, now: Timestamp) -> Markup {
    let (status, currency) = (quote.shown_status(now), &quote.currency);
    let sum = |words: &'static str, cents: i64| {
        html! { @if cents != 0 { dt { (words) } dd { (money(cents, currency)) } } }
    };
    let form = |act: &'static str, class: Option<&'static str>, words: &'static str| {
        html! {
            form method="post" action={ (PATH) "/" (quote.id) "/" (act) } {
                (viewer.hidden())
                button class=[class] type="submit" { (words) }
            }
        }
    };
    html! {
        section class="panel hero" {
            (pictures::quote("view", quote))
            div {
                h1 { "Quote " (quote.number_text()) }
                p {
                    (status_chip(status))
                    @if let Some(until) = quote.valid_until.filter(|_| status == QuoteStatus::Sent) {
                        span class="small muted" { " Valid until " (time(until)) }
                    }
                }
            }
        }
        @if status == QuoteStatus::Sent {
            p { "If you accept, we make it at this price. You pay on the next page." }
            div class="acts" {
                (form("accept", None, "Accept and order"))
                (form("decline", Some("second"), "Decline"))
                (viewer.brand.ask(&quote.number_text()))
            }
        }
        @if status == QuoteStatus::Expired {
            p { "It is no longer valid. Ask us for a new one." }
            p class="acts" { (viewer.brand.ask(&quote.number_text())) }
        }
        @if let Some(order) = quote.order_id.filter(|_| quote.order_made) {
            p class="acts" {
                a class="btn primary" href={ (super::orders::PATH) "/" (order) } { (icon(Icon::Package)) "Open the order" }
            }
        }
        section class="panel" aria-labelledby="offered" {
            h2 id="offered" class="pad" { "Items" }
            ul class="rows" {
                @for (n, line) in quote.lines.iter().enumerate() {
                    li class="row" {
                        (pictures::quote_line(quote, n))
                        div {
                            b { (line.quantity) " × " (line.description) }
                            @if let Some(model) = &line.model {
                                div class="small muted" { (model.size.x) " × " (model.size.y) " × " (model.size.z) " mm" }
                            }
                        }
                        span class="num" { (money(line.unit_price_cents.saturating_mul(line.quantity.into()), currency)) }
                    }
                }
            }
            dl class="pad" {
                (sum("Shipping", quote.shipping_cents))
                (sum("Tax", quote.tax_cents))
                dt class="sum" { "Total" } dd class="sum" { (money(quote.total_cents, currency)) }
            }
            @if let Some(notes) = &quote.notes { p class="pad small muted" { (notes) } }
        }
    }
}

/// Accepts one of the customer's own quotes and redirects to the resulting order.
pub(super) async fn accept(
    State(app): State<QuotePageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let quote = accept_own(&app.own, &sent.call, id, async { Ok(QuoteCommand::Accept) }).await?;
    let order = quote.order_id.filter(|_| quote.order_made);
    let to = order.map_or_else(|| format!("{PATH}/{id}"), |order| format!("{}/{order}", super::orders::PATH));
    Ok(see_other(&to))
}

/// Declines one of the customer's own quotes.
pub(super) async fn decline(
    State(app): State<QuotePageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    own(&app.own, &sent.call.who, id).await?;
    let command = QuoteCommand::Decline { reason: None };
    sent.call.ask(&app.own.quotes.quotes, CommandTarget::Id(id), command).await?;
    Ok(see_other(&format!("{PATH}/{id}")))
}
