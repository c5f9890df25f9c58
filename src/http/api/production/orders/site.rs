//! Sites of the shop. Each order belongs to one site, and requests may specify a site in the query, a header or the
//! body.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;
use serde_json::Value;

use config::checks::SITES;
use domain::refusal::Faults;
use http::error::ApiError;
use http::handler::Argument;
use http::openapi::shape::{Shape, word};
use http::operation::{DescribedOperation, Parameter};
use http::wire::{Components, FromJson, ToSchema, ValuePath, schema_of};

/// Header that specifies the site.
pub const HEADER: &str = "x-service-site";

/// Site of the shop: one of [`SITES`]; borrowed (`Site<&str>`) in responses.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Site<S = String>(pub S);

impl<S> ToSchema for Site<S> {
    const NAME: Option<&'static str> = Some("Site");
    fn schema() -> Shape {
        word(SITES).about("Site of the shop that an order belongs to.")
    }
    fn example() -> Value {
        SITES[0].into()
    }
}

impl FromJson for Site {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::String(site) if SITES.contains(&site.as_str()) => Some(Self(site)),
            _ => place.fault(faults, format!("must be one of {}", SITES.join(", "))),
        }
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

/// Site from the `x-service-site` header, if present. A site in the query takes precedence.
pub struct SiteHeader(pub Option<Site>);

impl<S: Sync> FromRequestParts<S> for SiteHeader {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(header) = parts.headers.get(HEADER) else { return Ok(Self(None)) };
        let mut faults = Faults::default();
        let text = String::from_utf8_lossy(header.as_bytes()).into_owned();
        let site = Site::from_json(text.into(), &ValuePath { path: "site", in_query: false }, &mut faults);
        faults.refuse()?;
        Ok(Self(site))
    }
}

impl Argument for SiteHeader {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<Site>();
        operation.parameters.push(Parameter {
            name: HEADER.to_owned(),
            in_query: false,
            shape: schema_of::<Site>(),
            about: "Same as `site`; the query parameter takes precedence.",
        });
    }
}
