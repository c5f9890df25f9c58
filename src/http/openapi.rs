//! OpenAPI 3.1 descriptions of both halves of the API, generated from the served routes.
//!
//! Properties that follow from a route (method, path, access) are derived in [`mod@derive`]; texts, bodies and specific
//! errors are in one file per resource. A route without a description appears in the document with only its derived
//! properties. A test fails if a route has no description, or a description has no route.

pub mod catalogue;
pub mod derive;
mod document;
mod downgrade;
pub mod half;
mod shared;
pub mod tags;

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response as HttpResponse};
use serde_json::{Value, json};
use shape::{Shape, open_object};

use crate::access::RequiredAccess;
use crate::error::ApiError;
use crate::handler::Reply;
use crate::operation::{DescribedContent, DescribedOperation, DescribedResource};
use crate::routes::{ResourceRoutes, ServedRoute};
use crate::wire::{Components, ToSchema};
use half::Half;

pub use api_schema::{shape, words};
pub use document::document;

/// Renders the document for one half as formatted JSON, with `public_url` as the server's URL.
pub fn json(half: Half, resources: &[DescribedResource], served: &[ServedRoute], public_url: &str) -> String {
    let document = document(half, resources, served, public_url);
    let text = document.to_pretty_json().unwrap_or_else(|error| {
        tracing::error!(%error, "the API description cannot be serialized");
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
pub fn misfits(resources: &[DescribedResource], served: &[ServedRoute]) -> Vec<String> {
    let described: Vec<&DescribedOperation> = resources.iter().flat_map(|resource| &resource.operations).collect();
    let is = |route: &ServedRoute, operation: &DescribedOperation| {
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
    ResourceRoutes::new(tags::SYSTEM, tags::SYSTEM_ABOUT, "actor")
        .get(open, "/api/openapi.json", show, |op| op.named("getDescription", "Retrieve this API description"))
        .get(open, "/api/openapi-3.0.json", show_downgraded, |op| {
            op.named("getDescription30", "Retrieve this API description as OpenAPI 3.0").about(
                "Version of this specification for code generators that do not support OpenAPI 3.1. Omits `webhooks`.",
            )
        })
}

/// Returns the route that serves the description of the billing API.
pub fn billing_routes() -> ResourceRoutes {
    ResourceRoutes::new("Meta", "Description of the API.", "document").get(
        RequiredAccess::Open,
        "/api/v1/openapi.json",
        show_billing,
        |op| op.named("getBillingDescription", "Retrieve this API description"),
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
        open_object().about("Document in the format defined by the OpenAPI specification.")
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

async fn show(State(descriptions): State<Arc<Descriptions>>) -> Result<DescriptionResponse, ApiError> {
    Ok(served_description(descriptions.generated(Half::Production)?.clone()))
}

async fn show_billing(State(descriptions): State<Arc<Descriptions>>) -> Result<DescriptionResponse, ApiError> {
    Ok(served_description(descriptions.generated(Half::Billing)?.clone()))
}

async fn show_downgraded(State(descriptions): State<Arc<Descriptions>>) -> Result<DescriptionResponse, ApiError> {
    Ok(served_description(descriptions.downgraded()?.clone()))
}

/// Descriptions of the served routes, as JSON. Each is generated on the first request for it, so that startup does not
/// wait for documents that are rarely requested.
#[derive(Default)]
pub struct Descriptions {
    generator: OnceLock<Generator>,
    production: OnceLock<Bytes>,
    billing: OnceLock<Bytes>,
    /// OpenAPI 3.0 version.
    downgraded: OnceLock<Bytes>,
}

/// Generator that returns the description of one half of the API as JSON.
pub type Generator = Box<dyn Fn(Half) -> String + Send + Sync>;

impl Descriptions {
    /// Sets the generator, unless one has already been set.
    pub(super) fn set_generator(&self, generator: Generator) {
        self.generator.get_or_init(|| generator);
    }

    fn generated(&self, half: Half) -> Result<&Bytes, ApiError> {
        let missing = || ApiError::internal("there is no API description");
        let generate = self.generator.get().ok_or_else(missing)?;
        let place = match half {
            Half::Production => &self.production,
            Half::Billing => &self.billing,
        };
        let text = place.get_or_init(|| generate(half).into());
        if text.is_empty() { Err(missing()) } else { Ok(text) }
    }

    fn downgraded(&self) -> Result<&Bytes, ApiError> {
        if let Some(cached) = self.downgraded.get() {
            return Ok(cached);
        }
        let json = std::str::from_utf8(self.generated(Half::Production)?).map_err(ApiError::internal)?;
        let document = downgraded(json)?;
        Ok(self.downgraded.get_or_init(|| document.into()))
    }
}

fn served_description(json: Bytes) -> DescriptionResponse {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "public, max-age=3600")];
    DescriptionResponse((headers, json).into_response())
}
