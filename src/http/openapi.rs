//! The description of the production API: OpenAPI 3.1, made from the routes that are served (decisions §1).
//!
//! What a route says already (method, path, who may) is derived from it in [`mod@derive`]; words, bodies and errors of its
//! own stand in one file for each resource. A route that nobody described is in the document all the same, with what can
//! be derived, and fails a test; so does a description without a route.
//! Not for the billing API.

pub mod derive;
mod document;
mod events;
mod inbound;
pub mod operation;
pub mod shape;
pub mod shared;
mod system;
mod webhooks;
pub mod words;

use crate::http::AppState;
use crate::http::error::{Answer, ApiError};
use crate::http::production::{audit, auth, files, jobs, keys, materials, orders, payments, printers, skus, users};
use crate::http::routes::Served;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse as _;
use operation::{Operation, Resource};

pub use document::document;

/// Everything that is described, in the order of the document.
pub fn resources() -> Vec<Resource> {
    vec![
        auth::routes().resource(),
        keys::routes().resource(),
        users::routes().resource(),
        audit::routes().resource(),
        materials::routes().resource(),
        skus::routes().resource(),
        files::routes().resource(),
        orders::routes().resource(),
        jobs::routes().resource(),
        printers::routes().resource(),
        webhooks::resource(),
        events::resource(),
        system::resource(),
        inbound::resource(),
        payments::routes().resource(),
    ]
}

/// The document as JSON, for people to read; it names this address as the server's.
pub fn json(served: &[Served], public_url: &str) -> String {
    let document = document(served, public_url);
    let text = document.to_pretty_json().unwrap_or_else(|error| {
        tracing::error!(%error, "the description of the API cannot be written");
        String::new()
    });
    text + "\n"
}

/// What does not fit together: routes without a description, descriptions without a route.
pub fn misfits(served: &[Served]) -> Vec<String> {
    let resources = resources();
    let described: Vec<&Operation> = resources.iter().flat_map(|resource| &resource.operations).collect();
    let is = |route: &Served, said: &Operation| route.method == said.method && route.path == said.path;
    let bare = served.iter().filter(|route| !described.iter().any(|said| is(route, said)));
    let idle = described.iter().filter(|said| !served.iter().any(|route| is(route, said)));
    bare.map(|route| format!("no description: {} {}", route.method, route.path))
        .chain(idle.map(|said| format!("no route: {} {}", said.method, said.path)))
        .collect()
}

/// `GET /api/openapi.json`
pub async fn show(State(app): State<AppState>) -> Answer {
    let json = app.description.get().filter(|json| !json.is_empty());
    let json = json.ok_or_else(|| ApiError::internal("there is no description of the API"))?.clone();
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "public, max-age=3600")];
    Ok((headers, json).into_response())
}
