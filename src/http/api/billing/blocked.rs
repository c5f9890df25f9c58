//! Block list: rejects requests from addresses that the shop has blocked and from pages of unlisted origins, even on
//! public routes such as the catalogue.

use std::sync::Arc;

use axum::extract::{FromRef as _, FromRequestParts};
use axum::http::header;
use axum::http::request::Parts;

use config::Config;
use domain::limits::address::Network;
use http::AppState;
use http::csrf::origin_of;
use http::error::ApiError;
use http::handler::Argument;
use http::handles::handles;
use http::limits::layer::ClientAddress;
use http::operation::DescribedOperation;
use http::wire::Components;

handles! {
    /// Dependencies of the block list.
    pub struct BlockHandles {
        config: Arc<Config>,
    }
}

/// Extractor that rejects blocked callers with a 403, for routes that require no session.
pub struct UnblockedCaller;

impl FromRequestParts<AppState> for UnblockedCaller {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, ApiError> {
        let config = BlockHandles::from_ref(app).config;
        let ClientAddress(client) = ClientAddress::from_request_parts(parts, app).await?;
        // Networks that cannot be parsed were refused when the configuration was checked.
        let mut networks = config.server.blocked_addresses.iter().filter_map(|text| text.parse::<Network>().ok());
        if networks.any(|network| network.contains(client)) {
            return Err(ApiError::forbidden("blocked", "requests from this address are blocked"));
        }
        let Some(origin) = parts.headers.get(header::ORIGIN).map(|origin| origin.as_bytes().to_vec()) else {
            return Ok(Self);
        };
        let own = origin_of(&config.public_url());
        let mut listed = config.server.cors_origins.iter().chain([&own]);
        if listed.any(|allowed| allowed.as_bytes() == origin) {
            return Ok(Self);
        }
        Err(ApiError::forbidden("blocked", "this origin is not allowed to use the API"))
    }
}

impl Argument for UnblockedCaller {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.errors.push((
            403,
            "blocked",
            "The caller's address, or the origin of the page, is not allowed to use the API.",
        ));
    }
}
