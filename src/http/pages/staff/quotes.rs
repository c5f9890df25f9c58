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
use super::sheet::{ListFilter, ListPart, customer_link, list_filters, non_empty, page_of};
use super::shell::{StaffSection, StaffViewer, Tone};
use super::{QUOTES_PATH, REQUESTS_PATH};
use crate::frame::{money, time};
use config::Config;
use domain::custom_request::{CustomRequest, CustomRequestStatus};
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
fn quote_state(status: QuoteStatus) -> (Tone, &'static str) {
    match status {
        QuoteStatus::Draft => (Tone::Attention, "Draft"),
        QuoteStatus::Sent => (Tone::Working, "Sent"),
        QuoteStatus::Accepted => (Tone::Working, "Accepted"),
        QuoteStatus::Declined => (Tone::Idle, "Declined"),
        QuoteStatus::Expired => (Tone::Idle, "Expired"),
    }
}

/// Renders a quote as a table row for use on other pages.
pub(super) fn quote_row(quote: &Quote, now: Timestamp) -> Markup {
    let (tone, words) = quote_state(quote.shown_status(now));
    html! {
        a href=(page_of(QUOTES_PATH, quote.id)) { (quote.number_text()) }
        span class=(tone.class()) { (words) }
        span class="soft" { (time(quote.created_at)) }
        span { (money(quote.total_cents, &quote.currency)) }
    }
}

/// Renders a custom request as a table row for use on other pages.
pub(super) fn request_row(request: &CustomRequest) -> Markup {
    let (tone, words) = requests::request_state(request.status);
    html! {
        a href=(page_of(REQUESTS_PATH, request.id)) { (request.wishes.product_type) ", " (request.wishes.subject_type) }
        span class=(tone.class()) { (words) }
        span class="soft" { (time(request.created_at)) }
        span { (money(request.estimate.total_cents, &request.estimate.currency)) }
    }
}

/// Serves the quote list.
async fn list(
    State(app): State<StaffQuoteHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<QuoteListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
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
    let content = html! {
        div class="head" {
            h1 { "Quotes" }
            span class="push" {}
            a class="btn" href=(REQUESTS_PATH) {
                "Custom requests" @if unanswered > 0 { " (" (unanswered) " new)" }
            }
            a class="btn primary" href=(NEW_PATH) { "New quote" }
        }
        (statuses(status, email))
        (tools(status, email))
        div id="quotes" data-fresh="" {
            @if !some.is_empty() {
                (table(&some, now))
            } @else if status.is_some() || email.is_some() {
                p { "No quotes match. " a href=(QUOTES_PATH) { "Show all" } }
            } @else {
                p { "No quotes yet. Create a quote from a model or manually, or from a custom request." }
            }
            (part.links(total))
        }
    };
    Ok(viewer.page(StaffSection::Quotes, "Quotes", &app.board.view(), &content))
}

/// Renders the links that filter the list by status.
fn statuses(chosen: Option<QuoteStatus>, email: Option<&str>) -> Markup {
    let path = |status: &str| address(QUOTES_PATH, &[("status", status), ("email", email.unwrap_or_default())]);
    let every = ListFilter { label: "All", path: path(""), count: None, is_current: chosen.is_none() };
    let filters = STATUSES.into_iter().map(|status| ListFilter {
        label: quote_state(status).1,
        path: path(&status.to_string()),
        count: None,
        is_current: chosen == Some(status),
    });
    list_filters("Status", &[every].into_iter().chain(filters).collect::<Vec<_>>())
}

fn tools(chosen: Option<QuoteStatus>, email: Option<&str>) -> Markup {
    html! {
        form class="tools" method="get" action=(QUOTES_PATH) role="search" {
            @if let Some(status) = chosen { input type="hidden" name="status" value=(status); }
            div class="field" {
                label for="email" { "Customer email" }
                input id="email" name="email" type="search" maxlength="254" value=[email];
            }
            button class="second" type="submit" { "Search" }
        }
    }
}

fn table(quotes: &[&Quote], now: Timestamp) -> Markup {
    html! {
        div class="table list" tabindex="0" role="region" aria-label="Quotes" {
            table {
                thead {
                    tr {
                        th scope="col" { "Quote" } th scope="col" { "Status" } th scope="col" { "Customer" }
                        th scope="col" { "Created" } th scope="col" { "Valid until" } th scope="col" class="number" { "Total" }
                    }
                }
                tbody {
                    @for quote in quotes {
                        tr {
                            th scope="row" { a href=(page_of(QUOTES_PATH, quote.id)) { (quote.number_text()) } }
                            td class="states" {
                                @let (tone, words) = quote_state(quote.shown_status(now));
                                span class=(tone.class()) { (words) }
                                @if quote.order_error.is_some() { " " span class=(Tone::Error.class()) { "order can't be created" } }
                            }
                            td class="wide" { @if let Some(email) = &quote.customer_email { (customer_link(email)) } }
                            td class="spare" data-label="Created" { (time(quote.created_at)) }
                            td data-label="Valid until" { @if let Some(until) = quote.valid_until { (time(until)) } }
                            td class="number" data-label="Total" { (money(quote.total_cents, &quote.currency)) }
                        }
                    }
                }
            }
        }
    }
}
