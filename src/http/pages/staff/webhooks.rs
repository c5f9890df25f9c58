//! Webhook endpoints for the staff: health, deliveries and responses. Operators can view them, admins can also change
//! them.

mod acts;
mod form;
mod log;
mod page;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use maud::{Markup, html};

use super::WEBHOOKS_PATH;
use super::board::BoardHandles;
use super::filled_form::{address, ways};
use super::shell::{StaffSection, StaffViewer, Tone};
use crate::design::{Icon, icon};
use crate::frame::{SLOT, in_english, time, with_parts};
use domain::endpoint::{DELIVERY_WINDOW, Delivery, Endpoint, EndpointState};
use domain::principal::Role;
use http::access::{Caller, RequiredAccess};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::routes::{PageBounds, Routes};
use http_api::production::endpoints::EndpointHandles;
use store::queries::Page;
use words::Language;
use words::staff::webhooks as texts;

/// Number of endpoints per page.
const ENDPOINTS_PER_PAGE: u64 = 25;

handles! {
    /// Dependencies of the webhook pages.
    pub(crate) struct WebhookPageHandles {
        board: BoardHandles,
        endpoints: EndpointHandles,
    }
}

/// Adds the routes of the webhook pages.
pub(super) fn routes(routes: Routes) -> Routes {
    let (get, post, session, bounds) = (Method::GET, Method::POST, RequiredAccess::Session, PageBounds::Form);
    let admin = RequiredAccess::Role(Role::Admin);
    routes
        .page(get.clone(), session, WEBHOOKS_PATH, list, bounds)
        .page(get.clone(), admin, form::NEW_PATH, form::show, bounds)
        .page(post.clone(), admin, form::NEW_PATH, form::add, bounds)
        .page(get, session, "/shop/webhooks/{id}", page::show, bounds)
        .page(post.clone(), admin, "/shop/webhooks/{id}/change", acts::change, bounds)
        .page(post.clone(), admin, "/shop/webhooks/{id}/rotate", acts::rotate, bounds)
        .page(post.clone(), admin, "/shop/webhooks/{id}/replay", acts::replay, bounds)
        .page(post.clone(), admin, "/shop/webhooks/{id}/{act}", acts::act_on, bounds)
        .page(post, admin, "/shop/deliveries/{id}/redeliver", acts::redeliver, bounds)
}

/// Query parameters of the list of endpoints.
#[derive(api_derive::Request, Debug)]
pub(super) struct EndpointListQuery {
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Returns the tone and the label of an endpoint's health.
fn health(language: Language, endpoint: &Endpoint) -> (Tone, String) {
    match endpoint.state {
        EndpointState::Disabled if endpoint.disabled_by.is_some() => (Tone::Error, texts::disabled(language)),
        EndpointState::Disabled => (Tone::Idle, texts::disabled(language)),
        EndpointState::Active if failing(endpoint) > 0 => (Tone::Attention, texts::failing(language)),
        EndpointState::Active => (Tone::Working, texts::active(language)),
    }
}

/// Returns the number of deliveries that have failed at least once and will be retried.
fn failing(endpoint: &Endpoint) -> usize {
    endpoint.window.values().filter(|delivery| delivery.attempts > 0).count()
}

/// Describes an endpoint's health in sentences.
fn standing(language: Language, endpoint: &Endpoint) -> Markup {
    html! {
        @if let Some(reason) = reason_disabled(language, endpoint) { p class="bad" { (reason) } }
        p { (pending_words(language, endpoint)) }
        @if let Some(last) = latest_failure(language, endpoint) { p class="soft" { (last) } }
        @if let Some(at) = endpoint.tried_at {
            p class="soft" { (with_parts(&texts::last_attempt(language, SLOT), &[&time(language, at)])) }
        }
    }
}

/// Renders the reason why deliveries to an endpoint were stopped; `None` unless they were.
fn reason_disabled(language: Language, endpoint: &Endpoint) -> Option<Markup> {
    let reason = endpoint.disabled_reason.as_ref()?;
    Some(with_parts(&texts::deliveries_stopped(language, SLOT), &[&in_english(language, reason)]))
}

/// Returns the number of pending deliveries, and of those that will be retried.
fn pending_words(language: Language, endpoint: &Endpoint) -> String {
    let (waiting, failing) = (endpoint.window.size(), failing(endpoint));
    let pending = match waiting {
        0 => texts::no_pending(language),
        _ if endpoint.backlog => texts::more_pending(language, waiting.min(DELIVERY_WINDOW)),
        _ => texts::pending(language, waiting),
    };
    if failing > 0 { format!("{pending} {}", texts::will_retry(language, failing)) } else { pending }
}

/// Renders the latest failure among the pending deliveries; `None` if none of them has failed.
fn latest_failure(language: Language, endpoint: &Endpoint) -> Option<Markup> {
    let tried = endpoint.window.values().filter(|delivery| delivery.attempted_at.is_some());
    let last = tried.max_by_key(|delivery| delivery.attempted_at)?;
    Some(with_parts(&texts::latest_failure(language, SLOT), &[&failure(language, last)]))
}

/// Renders the status of a failed delivery, with the error.
fn failure(language: Language, delivery: &Delivery) -> Markup {
    html! {
        @match delivery.last_status {
            Some(status) => { (status) },
            None => { (texts::without_response(language)) },
        }
        @if let Some(error) = &delivery.last_error { " (" (in_english(language, error)) ")" }
    }
}

/// Serves the list of endpoints.
pub(super) async fn list(
    State(app): State<WebhookPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<EndpointListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.endpoints.config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let from = u64::from(query.from);
    let (some, total) = app.endpoints.queries.endpoints(Page { limit: ENDPOINTS_PER_PAGE, offset: from }).await?;
    let admin = who.has(Role::Admin);
    let content = html! {
        h1 { (title) }
        p { (texts::introduction(language)) " " a href="/docs/events" { (texts::event_reference(language)) } }
        @if admin { p { a class="button" href=(form::NEW_PATH) { (texts::add_endpoint(language)) } } }
        div id="endpoints" data-fresh="" {
            @if total == 0 {
                section class="card" {
                    p { (texts::no_endpoints(language)) }
                    @if admin { p { (texts::no_endpoints_advice(language)) } }
                    @else { p { (texts::only_admins(language)) } }
                }
            }
            @if !some.is_empty() {
                section class="panel tasks" aria-label=(title) {
                    ul class="rows" {
                        @for stored in some.iter().filter_map(|versioned| versioned.state.as_ref()) {
                            // The endpoint in memory also contains its pending deliveries.
                            @let resident = app.endpoints.endpoints.resident(stored.id).map(|handle| handle.read());
                            @let current = resident.as_ref().and_then(|versioned| versioned.state.as_ref());
                            (entry(language, current.unwrap_or(stored)))
                        }
                    }
                }
            }
            (ways(language, from, total, ENDPOINTS_PER_PAGE, |from| {
                address(WEBHOOKS_PATH, &[("from", &from.to_string())])
            }))
        }
    };
    Ok(viewer.page(StaffSection::Webhooks, &title, &app.board.view(), &content))
}

/// Renders an endpoint as a row: its URL, its health with the reason, and its events.
fn entry(language: Language, endpoint: &Endpoint) -> Markup {
    let (tone, words) = health(language, endpoint);
    let reason = reason_disabled(language, endpoint).or_else(|| latest_failure(language, endpoint));
    html! {
        li class="row aside" {
            div class="thumb" { (icon(Icon::Webhook)) }
            div class="task" {
                div class="task-title" {
                    a class="ellipsis" title=(endpoint.url) href={ (WEBHOOKS_PATH) "/" (endpoint.id) } { (endpoint.url) }
                    span class=(tone.class()) { (words) }
                }
                div class="muted small ellipsis" {
                    @match reason {
                        Some(reason) => { (reason) },
                        None => { (pending_words(language, endpoint)) },
                    }
                }
                div class="faint small ellipsis" { (texts::events_line(language, &endpoint.events.join(", "))) }
            }
        }
    }
}
