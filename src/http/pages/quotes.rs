//! Customer's quote pages: list, details, accepting and declining.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::form::PageForm;
use super::frame::{PageLanguage, SLOT, Section, Viewer, day_in, none_yet, see_other, time, with_parts};
use super::part_query::PartQuery;
use super::paths::{MODELS, ORDERS, QUOTES};
use super::pictures;
use crate::design::{Icon, Tone, chip, empty_place, icon};
use config::Config;
use domain::notation::{amount, size};
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
use words::{Language, pages};

handles! {
    /// Dependencies of the quote pages.
    pub(crate) struct QuotePageHandles {
        own: OwnQuoteHandles,
        config: Arc<Config>,
    }
}

fn status_words(language: Language, status: QuoteStatus) -> String {
    match status {
        QuoteStatus::Draft => pages::quote_draft(language),
        QuoteStatus::Sent => pages::quote_sent(language),
        QuoteStatus::Accepted => pages::quote_accepted(language),
        QuoteStatus::Declined => pages::quote_declined(language),
        QuoteStatus::Expired => pages::quote_expired(language),
    }
}

/// Renders a quote's status.
fn status_chip(language: Language, status: QuoteStatus) -> Markup {
    let tone = match status {
        QuoteStatus::Sent => Tone::Attention,
        QuoteStatus::Accepted => Tone::Working,
        QuoteStatus::Draft | QuoteStatus::Declined | QuoteStatus::Expired => Tone::Idle,
    };
    chip(tone, &status_words(language, status))
}

/// Serves the list of quotes.
pub(super) async fn list(
    State(app): State<QuotePageHandles>,
    who: Caller,
    PageLanguage(language): PageLanguage,
    OpenQuery(part): OpenQuery<PartQuery>,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config, PageLanguage(language))?;
    let (_, email) = who.customer()?;
    let now = app.own.quotes.environment.now();
    let filter = QuoteFilter { customer_email: Some(email.to_owned()), sent: true, now, ..QuoteFilter::default() };
    let (some, total) = app.own.quotes.queries.quotes(&filter, part.page()).await?;
    let some: Vec<&Quote> = some.iter().filter_map(|one| one.state.as_ref()).collect();
    let title = pages::quotes_title(language);
    let content = html! {
        div class="head" {
            h1 { (title) }
            a class="btn primary push" href=(MODELS) { (icon(Icon::Upload)) (pages::models_title(language)) }
        }
        @if some.is_empty() {
            (empty_place(Icon::ScrollText, &pages::quotes_empty(language), &html! {
                p class="small" { (none_yet(language, email)) }
            }))
        } @else {
            ul class="panel rows" {
                @for quote in &some { (row(language, quote, now)) }
            }
        }
        (part.links(language, QUOTES, total))
    };
    Ok(viewer.page(Section::Quotes, &title, &content))
}

/// Renders a quote in the list.
fn row(language: Language, quote: &Quote, now: Timestamp) -> Markup {
    let status = quote.shown_status(now);
    html! {
        li class="row" {
            (pictures::quote("thumb", quote))
            div {
                a class="tall" href={ (QUOTES) "/" (quote.id) } { (quote.number_text()) } " "
                (status_chip(language, status))
                @if let Some(until) = quote.valid_until.filter(|_| status == QuoteStatus::Sent) {
                    div class="small muted" {
                        (with_parts(&pages::valid_until(language, SLOT), &[&day_in(language, until)]))
                    }
                }
            }
            span class="num" { (amount(language, quote.total_cents, &quote.currency)) }
        }
    }
}

/// Serves a quote's page.
pub(super) async fn one(
    State(app): State<QuotePageHandles>,
    PathId(id): PathId,
    who: Caller,
    language: PageLanguage,
) -> Result<Response, ApiError> {
    let viewer = Viewer::new(&who, &app.config, language)?;
    let quote = own(&app.own, &who, id).await?;
    let now = app.own.quotes.environment.now();
    let title = pages::quote_title(viewer.language(), &quote.number_text());
    Ok(viewer.page(Section::Quotes, &title, &quote_view(&viewer, &quote, now)))
}

fn quote_view(viewer: &Viewer, quote: &Quote, now: Timestamp) -> Markup {
    let (status, language) = (quote.shown_status(now), viewer.language());
    let money = |cents: i64| amount(language, cents, &quote.currency);
    let sum = |words: String, cents: i64| {
        html! { @if cents != 0 { dt { (words) } dd { (money(cents)) } } }
    };
    let form = |act: &'static str, class: Option<&'static str>, words: String| {
        html! {
            form method="post" action={ (QUOTES) "/" (quote.id) "/" (act) } {
                (viewer.hidden())
                button class=[class] type="submit" { (words) }
            }
        }
    };
    html! {
        section class="panel hero" {
            (pictures::quote("view", quote))
            div {
                h1 { (pages::quote_title(language, &quote.number_text())) }
                p {
                    (status_chip(language, status))
                    @if let Some(until) = quote.valid_until.filter(|_| status == QuoteStatus::Sent) {
                        span class="small muted" {
                            " " (with_parts(&pages::valid_until(language, SLOT), &[&time(language, until)]))
                        }
                    }
                }
            }
        }
        @if status == QuoteStatus::Sent {
            p { (pages::quote_text(language)) }
            div class="acts" {
                (form("accept", None, pages::accept(language)))
                (form("decline", Some("second"), pages::decline(language)))
                (viewer.brand.ask(&quote.number_text()))
            }
        }
        @if status == QuoteStatus::Expired {
            p { (pages::quote_expired_text(language)) }
            p class="acts" { (viewer.brand.ask(&quote.number_text())) }
        }
        @if let Some(order) = quote.order_id.filter(|_| quote.order_made) {
            p class="acts" {
                a class="btn primary" href={ (ORDERS) "/" (order) } { (icon(Icon::Package)) (pages::open_order(language)) }
            }
        }
        section class="panel" aria-labelledby="offered" {
            h2 id="offered" class="pad" { (pages::items(language)) }
            ul class="rows" {
                @for (n, line) in quote.lines.iter().enumerate() {
                    li class="row" {
                        (pictures::quote_line(quote, n))
                        div {
                            b { (line.quantity) " × " (line.description) }
                            @if let Some(model) = &line.model {
                                div class="small muted" { (size(language, model.size)) }
                            }
                        }
                        span class="num" { (money(line.unit_price_cents.saturating_mul(line.quantity.into()))) }
                    }
                }
            }
            dl class="pad" {
                (sum(pages::shipping(language), quote.shipping_cents))
                (sum(pages::tax(language), quote.tax_cents))
                dt class="sum" { (pages::total(language)) } dd class="sum" { (money(quote.total_cents)) }
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
    let to = order.map_or_else(|| format!("{QUOTES}/{id}"), |order| format!("{ORDERS}/{order}"));
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
    Ok(see_other(&format!("{QUOTES}/{id}")))
}
