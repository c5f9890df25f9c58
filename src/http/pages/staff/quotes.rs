//! Quotes: list, quote page with costs and margin, forms for drafting and editing quotes, and the custom requests to
//! which quotes respond.

mod act;
mod draft;
mod line;
mod new;
mod one;
mod request;
mod requests;

use std::sync::Arc;

use api_derive::Request;
use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use super::board::BoardHandles;
use super::filled_form::address;
use super::sheet::{ListPart, customer_link, non_empty, page_of, status_filters};
use super::shell::{StaffSection, StaffViewer, Tone};
use super::{QUOTES_PATH, REQUESTS_PATH};
use crate::design::{Icon, empty_place};
use crate::frame::time;
use config::Config;
use domain::custom_request::{CustomRequest, CustomRequestStatus};
use domain::notation::amount;
use domain::quote::{Quote, QuoteStatus};
use domain::time::Timestamp;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http_api::production::custom_requests::CustomRequestHandles;
use http_api::production::quotes::QuoteHandles;
use store::queries::{CustomRequestFilter, Page, QuoteFilter};
use words::Language;
use words::staff::quotes as texts;

/// Path of the form for a new quote.
const NEW_PATH: &str = "/shop/quotes/new";
/// Path to which a model for a new quote is uploaded.
const MODELS_PATH: &str = "/shop/quotes/models";
/// Statuses by which the list can be filtered.
const STATUSES: [QuoteStatus; 5] =
    [QuoteStatus::Draft, QuoteStatus::Sent, QuoteStatus::Accepted, QuoteStatus::Declined, QuoteStatus::Expired];

handles! {
    /// Dependencies of the pages for quotes and custom requests.
    pub(crate) struct StaffQuoteHandles {
        board: BoardHandles,
        quotes: QuoteHandles,
        requests: CustomRequestHandles,
        config: Arc<Config>,
    }
}

/// Adds the routes of the pages for quotes and custom requests.
pub(super) fn routes(routes: Routes) -> Routes {
    let session = RequiredAccess::Session;
    let (get, post, form) = (Method::GET, Method::POST, PageBounds::Form);
    routes
        .page(get.clone(), session, QUOTES_PATH, list, form)
        .page(get.clone(), session, NEW_PATH, new::show, form)
        .page(post.clone(), session, NEW_PATH, new::create, form)
        .page(post.clone(), session, MODELS_PATH, new::upload, PageBounds::Upload)
        .page(get.clone(), session, "/shop/quotes/{id}", one::show, form)
        .page(post.clone(), session, "/shop/quotes/{id}/{act}", act::on_quote, form)
        .page(get.clone(), session, REQUESTS_PATH, requests::list, form)
        .page(get, session, "/shop/requests/{id}", request::show, form)
        .page(post, session, "/shop/requests/{id}/{act}", request::act, form)
}

/// Query parameters of the quote list. Unknown values are ignored.
#[derive(Request, Debug)]
struct QuoteListQuery {
    /// Only quotes with the given status, as spelled in the API.
    status: Option<String>,
    /// Only quotes for the customer with the given email address.
    email: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Returns the tone and label for a quote's status.
fn quote_state(language: Language, status: QuoteStatus) -> (Tone, String) {
    match status {
        QuoteStatus::Draft => (Tone::Attention, texts::status_draft(language)),
        QuoteStatus::Sent => (Tone::Working, texts::status_sent(language)),
        QuoteStatus::Accepted => (Tone::Working, texts::status_accepted(language)),
        QuoteStatus::Declined => (Tone::Idle, texts::status_declined(language)),
        QuoteStatus::Expired => (Tone::Idle, texts::status_expired(language)),
    }
}

/// Renders a quote as a table row for use on other pages.
pub(super) fn quote_row(language: Language, quote: &Quote, now: Timestamp) -> Markup {
    let (tone, words) = quote_state(language, quote.shown_status(now));
    html! {
        a href=(page_of(QUOTES_PATH, quote.id)) { (quote.number_text()) }
        span class=(tone.class()) { (words) }
        span class="soft" { (time(language, quote.created_at)) }
        span { (amount(language, quote.total_cents, &quote.currency)) }
    }
}

/// Renders a custom request as a table row for use on other pages.
pub(super) fn request_row(language: Language, request: &CustomRequest) -> Markup {
    let (tone, words) = requests::request_state(language, request.status);
    html! {
        a href=(page_of(REQUESTS_PATH, request.id)) { (request.wishes.product_type) ", " (request.wishes.subject_type) }
        span class=(tone.class()) { (words) }
        span class="soft" { (time(language, request.created_at)) }
        span { (amount(language, request.estimate.total_cents, &request.estimate.currency)) }
    }
}

/// Serves the quote list.
async fn list(
    State(app): State<StaffQuoteHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<QuoteListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let now = app.quotes.environment.now();
    let status = STATUSES.into_iter().find(|status| query.status.as_deref() == Some(status.to_string().as_str()));
    let email = non_empty(query.email.as_ref());
    let narrowed = vec![("status", query.status.as_deref()), ("email", email)];
    let part = ListPart { path: QUOTES_PATH, narrowed, from: query.from };
    let filter = QuoteFilter { status, customer_email: email.map(str::to_lowercase), now, ..QuoteFilter::default() };
    let (some, total) = app.quotes.queries.quotes(&filter, part.page()).await?;
    let some: Vec<&Quote> = some.iter().filter_map(|one| one.state.as_ref()).collect();
    let unanswered = CustomRequestFilter { status: Some(CustomRequestStatus::New), ..CustomRequestFilter::default() };
    let (_, unanswered) = app.quotes.queries.custom_requests(&unanswered, Page { limit: 1, offset: 0 }).await?;
    let title = texts::title(language);
    let content = html! {
        div class="head" {
            h1 { (title) }
            span class="push" {}
            a class="btn" href=(REQUESTS_PATH) {
                @if unanswered > 0 { (texts::requests_link_new(language, unanswered)) } @else { (texts::requests_link(language)) }
            }
            a class="btn primary" href=(NEW_PATH) { (texts::new_quote(language)) }
        }
        (statuses(language, status, email))
        (tools(language, status, email))
        div id="quotes" data-fresh="" {
            @if !some.is_empty() {
                (table(language, &some, now))
            } @else if status.is_some() || email.is_some() {
                p { (texts::none_match(language)) " " a href=(QUOTES_PATH) { (texts::show_all(language)) } }
            } @else {
                @let begin = html! { a class="btn" href=(NEW_PATH) { (texts::new_quote(language)) } };
                (empty_place(Icon::ScrollText, &texts::none_yet(language), &begin))
            }
            (part.links(language, total))
        }
    };
    Ok(viewer.page(StaffSection::Quotes, &title, &app.board.view(), &content))
}

/// Renders the links that filter the list by status.
fn statuses(language: Language, chosen: Option<QuoteStatus>, email: Option<&str>) -> Markup {
    let path = |status: &str| address(QUOTES_PATH, &[("status", status), ("email", email.unwrap_or_default())]);
    let labels = STATUSES.map(|status| (status, quote_state(language, status).1));
    status_filters(&texts::filter_label(language), &texts::all(language), &labels, chosen, path)
}

fn tools(language: Language, chosen: Option<QuoteStatus>, email: Option<&str>) -> Markup {
    html! {
        form class="tools" method="get" action=(QUOTES_PATH) role="search" {
            @if let Some(status) = chosen { input type="hidden" name="status" value=(status); }
            div class="field" {
                label for="email" { (texts::email_filter(language)) }
                input id="email" name="email" type="search" maxlength="254" value=[email];
            }
            button class="second" type="submit" { (texts::search(language)) }
        }
    }
}

fn table(language: Language, quotes: &[&Quote], now: Timestamp) -> Markup {
    let (created, valid) = (texts::created_column(language), texts::valid_column(language));
    let total = texts::total_column(language);
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (texts::quote_column(language)) } th scope="col" { (texts::status_column(language)) }
                        th scope="col" { (texts::customer_column(language)) }
                        th scope="col" { (created) } th scope="col" { (valid) } th scope="col" class="number" { (total) }
                    }
                }
                tbody {
                    @for quote in quotes {
                        tr {
                            th scope="row" { a href=(page_of(QUOTES_PATH, quote.id)) { (quote.number_text()) } }
                            td class="states" {
                                @let (tone, words) = quote_state(language, quote.shown_status(now));
                                span class=(tone.class()) { (words) }
                                @if quote.order_error.is_some() { " " span class=(Tone::Error.class()) { (texts::order_failed_mark(language)) } }
                            }
                            td class="wide" { @if let Some(email) = &quote.customer_email { (customer_link(email)) } }
                            td class="spare" data-label=(created) { (time(language, quote.created_at)) }
                            td data-label=(valid) { @if let Some(until) = quote.valid_until { (time(language, until)) } }
                            td class="number" data-label=(total) { (amount(language, quote.total_cents, &quote.currency)) }
                        }
                    }
                }
            }
        }
    }
}
