//! Site that a billing API request applies to, taken from the `site` query parameter or, failing that, the header.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::production::orders::site::{Site, SiteHeader};
use http::error::ApiError;
use http::handler::Argument;
use http::operation::DescribedOperation;
use http::page::OpenQuery;
use http::wire::Components;

pub use crate::production::orders::site::HEADER;

/// Site named in the request, if any; an unknown site results in a 400 error.
pub struct RequestSite(pub Option<Site>);

#[derive(api_derive::Request, Debug)]
struct SiteQuery {
    /// Site that the request applies to; takes precedence over the header.
    site: Option<Site>,
}

impl<S: Send + Sync> FromRequestParts<S> for RequestSite {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let OpenQuery(SiteQuery { site }) = OpenQuery::from_request_parts(parts, state).await?;
        // The header is judged also where the query wins: a word that is no site is a fault wherever it stands.
        let SiteHeader(header) = SiteHeader::from_request_parts(parts, state).await?;
        Ok(Self(site.or(header)))
    }
}

impl Argument for RequestSite {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        OpenQuery::<SiteQuery>::describe(operation, components);
        SiteHeader::describe(operation, components);
    }
}
