//! Customer's quote pages: list, details, accepting and declining.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::form::PageForm;
use super::frame::{Section, Viewer, money, see_other, time};
use super::orders::PartQuery;
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
        QuoteStatus::Sent => "Waits for you",
        QuoteStatus::Accepted => "Accepted",
        QuoteStatus::Declined => "Declined",
        QuoteStatus::Expired => "Expired",
    }
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
        h1 { "Your quotes" }
        p class="acts" { a class="button" href=(super::models::PATH) { "Ask for a price of a model" } }
        @if some.is_empty() {
            p { "There is no quote for " strong { (email) } " yet." }
        } @else {
            ul class="card rows" {
                @for quote in &some {
                    li {
                        a href={ (PATH) "/" (quote.id) } { (quote.number_text()) }
                        span class="state" { (status_words(quote.shown_status(now))) }
                        @if let Some(until) = quote.valid_until { span class="soft" { "until " (time(until)) } }
                        span { (money(quote.total_cents, &quote.currency)) }
                    }
                }
            }
        }
        (part.links(PATH, total))
    };
    Ok(viewer.page(Section::Quotes, "Your quotes", &content))
}

/// Serves the page of one quote.
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
        h1 { "Quote " (quote.number_text()) }
        p {
            span class="state" { (status_words(status)) }
            @if let Some(until) = quote.valid_until.filter(|_| status == QuoteStatus::Sent) { " until " (time(until)) }
        }
        @if let Some(order) = quote.order_id.filter(|_| quote.order_made) {
            p { a href={ (super::orders::PATH) "/" (order) } { "The order that it has become" } }
        }
        section class="card" aria-labelledby="offered" {
            h2 id="offered" { "What we offer" }
            ul class="rows" {
                @for line in &quote.lines {
                    li {
                        span { (line.quantity) " × " (line.description) }
                        span { (money(line.unit_price_cents.saturating_mul(line.quantity.into()), currency)) }
                    }
                }
            }
            dl {
                (sum("Shipping", quote.shipping_cents))
                (sum("Tax", quote.tax_cents))
                dt class="sum" { "Total" } dd class="sum" { (money(quote.total_cents, currency)) }
            }
            @if let Some(notes) = &quote.notes { p class="soft" { (notes) } }
        }
        @if status == QuoteStatus::Sent {
            p { "If you accept, we make it at this price. You pay on the next page." }
            div class="acts" {
                (form("accept", None, "Accept and order"))
                (form("decline", Some("second"), "Decline"))
            }
        }
        @if status == QuoteStatus::Expired {
            p { "It is no longer valid. Write to us, and we make you another one." }
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
