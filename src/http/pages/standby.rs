//! Answers of a server that stands by for another one: a page for people, errors for programs, and health checks.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use maud::html;
use serde_json::json;
use tokio::sync::watch;

use super::frame::page_in;
use crate::design::assets;
use http::error::ApiError;
use http::language::accepted_language;
use http_api::billing;
use store::lease::CurrentLeader;
use words::{Language, pages};

/// Seconds after which clients may ask again: a server that takes over is ready by then.
const RETRY_SECONDS: u32 = 5;

/// Builds the router of a server that stands by for `leader`.
pub fn router(leader: watch::Receiver<CurrentLeader>) -> Router {
    assets::routes().fallback(answer).layer(from_fn(billing::answered_by_contract)).with_state(leader)
}

async fn answer(State(leader): State<watch::Receiver<CurrentLeader>>, request: Request) -> Response {
    let leader = leader.borrow().clone();
    match request.uri().path() {
        "/healthz" => Json(json!({"status": "ok"})).into_response(),
        "/readyz" => with_leader(&leader, "standby"),
        _ if wants_page(request.headers()) => page(accepted_language(request.headers()), &leader),
        _ => with_leader(&leader, "unavailable"),
    }
}

/// Returns whether a browser asks for a page.
fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|kinds| kinds.contains("text/html"))
}

/// Builds the error for programs, with the given status in its body and the leader beside it.
fn with_leader(leader: &CurrentLeader, status: &str) -> Response {
    let message = if leader.address.is_empty() {
        "this server is on standby until the database is free".to_owned()
    } else {
        format!("this server is on standby; {} leads", leader.address)
    };
    let error = ApiError::unavailable("unavailable", message, RETRY_SECONDS);
    let mut body = error.body();
    body["status"] = json!(status);
    body["leader"] = json!({"address": leader.address, "since": leader.since.to_string()});
    let mut response = error.into_response();
    *response.body_mut() = Json(body).into_response().into_body();
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response
}

fn page(language: Language, leader: &CurrentLeader) -> Response {
    let title = pages::standby_title(language);
    let has_address = leader.address.starts_with("http");
    let content = html! {
        h1 { (title) }
        @if has_address {
            p { (pages::standby_text(language)) }
            p { a class="button" href=(leader.address) { (pages::standby_link(language)) } }
            p class="small muted" { (leader.address) }
        } @else {
            p { (pages::standby_busy_text(language)) }
        }
    };
    let mut response = page_in(language, StatusCode::SERVICE_UNAVAILABLE, &title, &content);
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, RETRY_SECONDS.into());
    headers.insert(header::VARY, HeaderValue::from_static("Accept, Accept-Language"));
    response
}
