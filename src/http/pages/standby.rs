//! Responses from a standby server: a page for people, errors for programs, and health checks.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use maud::html;
use serde_json::json;

use super::frame::page_in;
use crate::design::assets;
use config::Config;
use domain::aggregate::LastNumbers;
use http::language::accepted_language;
use http::request_id;
use http_api::billing;
use http_api::production::health::{STANDBY_RETRY_SECONDS, standby_error, standby_readiness};
use kernel::environment::Environment;
use platform::watch::WatchReceiver;
use store::lease::CurrentLeader;
use words::{Language, pages};

/// Rate limit headers, which every API response has. Nothing is counted here.
const LIMIT_HEADERS: [&str; 2] = ["x-ratelimit-limit", "x-ratelimit-remaining"];

/// State of a standby server.
#[derive(Clone)]
struct StandbyState {
    leader: WatchReceiver<CurrentLeader>,
    requests_per_minute: u32,
}

/// Builds the router of a standby server of `leader`.
pub fn router(config: &Config, leader: WatchReceiver<CurrentLeader>) -> Router {
    let requests_per_minute = config.limits.anonymous_requests_per_minute;
    let ids = Arc::new(Environment::of_the_machine(config.rules(), LastNumbers::default()));
    assets::routes::<StandbyState>()
        .fallback(answer)
        .layer(from_fn(billing::answered_by_contract))
        .layer(from_fn_with_state(ids, request_id::name))
        .with_state(StandbyState { leader, requests_per_minute })
}

async fn answer(State(state): State<StandbyState>, request: Request) -> Response {
    let leader = state.leader.borrow().clone();
    let mut response = match request.uri().path() {
        "/healthz" => Json(json!({"status": "ok"})).into_response(),
        "/readyz" => standby_readiness(&leader),
        _ if wants_page(request.headers()) => page(accepted_language(request.headers()), &leader),
        _ => standby_error(&leader).into_response(),
    };
    let headers = response.headers_mut();
    for name in LIMIT_HEADERS {
        headers.insert(name, state.requests_per_minute.into());
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Returns whether a browser asks for a page.
fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|kinds| kinds.contains("text/html"))
}

fn page(language: Language, leader: &CurrentLeader) -> Response {
    let title = pages::standby_title(language);
    let content = html! {
        h1 { (title) }
        @if leader.is_server {
            p { (pages::standby_text(language)) }
            @if leader.address.starts_with("http") {
                p { a class="button" href=(leader.address) { (pages::standby_link(language)) } }
                p class="small muted" { (leader.address) }
            }
        } @else {
            p { (pages::standby_busy_text(language)) }
        }
    };
    let mut response = page_in(language, StatusCode::SERVICE_UNAVAILABLE, &title, &content);
    response.headers_mut().insert(header::RETRY_AFTER, STANDBY_RETRY_SECONDS.into());
    response
}
