//! OpenAPI 3.1 descriptions of both halves of the API, generated from the routes that are served.
//!
//! Properties that follow from a route (method, path, access) are derived in [`mod@derive`]; texts, bodies and specific
//! errors are in one file per resource. A route without a description appears in the document with its derived
//! properties, and fails a test; so does a description without a route.

pub mod catalogue;
pub mod derive;
mod document;
mod downgrade;
pub mod half;
pub mod operation;
mod shared;

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response as HttpResponse};
use serde_json::{Value, json};
use shape::{Shape, open_object};

use crate::http::access::RequiredAccess;
use crate::http::error::ApiError;
use crate::http::production::health;
use crate::http::routes::{ResourceRoutes, Served};
use crate::http::wire::{Components, Reply, ToSchema};
use half::Half;
use operation::{DescribedContent, DescribedOperation};

pub use api_schema::{shape, words};
pub use document::document;

/// Renders the document of one half as formatted JSON, with `public_url` as the server's URL.
pub fn json(half: Half, served: &[Served], public_url: &str) -> String {
    let document = document(half, served, public_url);
    let text = document.to_pretty_json().unwrap_or_else(|error| {
        tracing::error!(%error, "the description of the API cannot be written");
        String::new()
    });
    text + "\n"
}

/// Converts the JSON of the document to OpenAPI 3.0.3.
pub fn downgraded(json: &str) -> Result<String, ApiError> {
    let document = serde_json::from_str(json).map_err(ApiError::internal)?;
    serde_json::to_string_pretty(&downgrade::downgraded(document)).map_err(ApiError::internal)
}

/// Returns the inconsistencies: routes without a description, and descriptions without a route.
pub fn misfits(half: Half, served: &[Served]) -> Vec<String> {
    let resources = half.resources();
    let described: Vec<&DescribedOperation> = resources.iter().flat_map(|resource| &resource.operations).collect();
    let is = |route: &Served, operation: &DescribedOperation| {
        route.method == operation.method && route.path == operation.path
    };
    let bare = served.iter().filter(|route| !described.iter().any(|operation| is(route, operation)));
    let idle = described.iter().filter(|operation| !served.iter().any(|route| is(route, operation)));
    bare.map(|route| format!("no description: {} {}", route.method, route.path))
        .chain(idle.map(|operation| format!("no route: {} {}", operation.method, operation.path)))
        .collect()
}

/// Returns the routes that serve the API description.
pub fn routes() -> ResourceRoutes {
    let open = RequiredAccess::Open;
    ResourceRoutes::new(health::TAG, health::ABOUT, "actor")
        .get(open, "/api/openapi.json", show, |op| op.named("getDescription", "Show this description"))
        .get(open, "/api/openapi-3.0.json", show_downgraded, |op| {
            op.named("getDescription30", "Show this description as OpenAPI 3.0")
                .about("For generators that do not read OpenAPI 3.1. What endpoints are sent (`webhooks`) is left out.")
        })
}

/// Returns the route that serves the description of the billing API.
pub fn billing_routes() -> ResourceRoutes {
    ResourceRoutes::new("Meta", "The API itself.", "document").get(
        RequiredAccess::Open,
        "/api/v1/openapi.json",
        show_billing,
        |op| op.named("getBillingDescription", "Show this description"),
    )
}

/// Description of the API as served.
struct DescriptionResponse(HttpResponse);

impl IntoResponse for DescriptionResponse {
    fn into_response(self) -> HttpResponse {
        self.0
    }
}

impl ToSchema for DescriptionResponse {
    const NAME: Option<&'static str> = Some("OpenApiDocument");
    fn schema() -> Shape {
        open_object().about("A document as the OpenAPI specification defines it.")
    }
    fn example() -> Value {
        json!({"openapi": "3.1.0"})
    }
}

impl Reply for DescriptionResponse {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<Self>();
        operation.answer = (200, DescribedContent::Named("OpenApiDocument"));
    }
}

async fn show(State(made): State<Arc<Descriptions>>) -> Result<DescriptionResponse, ApiError> {
    Ok(served_description(made.present()?.clone()))
}

async fn show_billing(State(made): State<Arc<Descriptions>>) -> Result<DescriptionResponse, ApiError> {
    Ok(served_description(made.billing()?.clone()))
}

async fn show_downgraded(State(made): State<Arc<Descriptions>>) -> Result<DescriptionResponse, ApiError> {
    Ok(served_description(made.downgraded()?.clone()))
}

/// Descriptions of the served routes, as JSON. Each is generated on the first request for it: a start does not wait for
/// what most runs of a server never show.
#[derive(Debug, Default)]
pub struct Descriptions {
    subject: OnceLock<DescribedRoutes>,
    present: OnceLock<Bytes>,
    billing: OnceLock<Bytes>,
    /// OpenAPI 3.0 version.
    downgraded: OnceLock<Bytes>,
}

/// Routes that a server describes.
#[derive(Debug)]
pub(super) struct DescribedRoutes {
    /// Routes of the production half.
    pub production: Vec<Served>,
    /// Routes of the billing half.
    pub billing: Vec<Served>,
    /// URL of the server.
    pub public_url: String,
}

impl Descriptions {
    /// Stores the routes to describe, unless some are already stored.
    pub(super) fn set_routes(&self, routes: impl FnOnce() -> DescribedRoutes) {
        self.subject.get_or_init(routes);
    }

    fn present(&self) -> Result<&Bytes, ApiError> {
        self.generated(Half::Production)
    }

    fn billing(&self) -> Result<&Bytes, ApiError> {
        self.generated(Half::Billing)
    }

    fn generated(&self, half: Half) -> Result<&Bytes, ApiError> {
        let missing = || ApiError::internal("there is no description of the API");
        let routes = self.subject.get().ok_or_else(missing)?;
        let (place, served) = match half {
            Half::Production => (&self.present, &routes.production),
            Half::Billing => (&self.billing, &routes.billing),
        };
        let text = place.get_or_init(|| json(half, served, &routes.public_url).into());
        if text.is_empty() { Err(missing()) } else { Ok(text) }
    }

    fn downgraded(&self) -> Result<&Bytes, ApiError> {
        if let Some(cached) = self.downgraded.get() {
            return Ok(cached);
        }
        let json = std::str::from_utf8(self.present()?).map_err(ApiError::internal)?;
        let document = downgraded(json)?;
        Ok(self.downgraded.get_or_init(|| document.into()))
    }
}

fn served_description(json: Bytes) -> DescriptionResponse {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "public, max-age=3600")];
    DescriptionResponse((headers, json).into_response())
}
