//! OPTIONS on every path: what a browser asks before a request of another origin. The headers of the answer are those
//! of [`crate::http::answer_headers`].

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::http::error::ApiError;
use crate::http::openapi::operation::{DescribedContent, DescribedOperation};
use crate::http::routes::ResourceRoutes;
use crate::http::wire::{Components, Reply};

/// The resource with OPTIONS on each of its paths.
pub(super) fn added(of: ResourceRoutes) -> ResourceRoutes {
    of.with_preflights(preflight, words)
}

/// 200 without a body.
struct Allowed;

impl IntoResponse for Allowed {
    fn into_response(self) -> Response {
        StatusCode::OK.into_response()
    }
}

impl Reply for Allowed {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.answer = (200, DescribedContent::Nothing);
    }
}

async fn preflight() -> Result<Allowed, ApiError> {
    Ok(Allowed)
}

fn words(operation: DescribedOperation) -> DescribedOperation {
    let mut operation = operation.named("", "Ask what pages of other origins may do").about(
        "Browsers ask this themselves. Listed origins are told by the headers of CORS; it does not count as a request.",
    );
    operation.id = id_of(operation.path).into();
    operation
}

/// `/api/v1/orders/{orderId}` is `preflightOrdersOrderId`.
fn id_of(path: &str) -> String {
    let parts = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.skip(2).fold("preflight".to_owned(), |mut id, part| {
        let (first, rest) = part.split_at(1);
        id += &first.to_uppercase();
        id += rest;
        id
    })
}

#[cfg(test)]
mod tests {
    use super::id_of;

    #[test]
    fn each_path_has_a_name() {
        assert_eq!(id_of("/api/v1/orders/{orderId}"), "preflightOrdersOrderId");
        assert_eq!(id_of("/api/v1/auth/magic-link"), "preflightAuthMagicLink");
        assert_eq!(id_of("/api/v1/openapi.json"), "preflightOpenapiJson");
    }
}
