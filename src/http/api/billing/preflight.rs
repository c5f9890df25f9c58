//! OPTIONS on every path, for CORS preflight requests. [`http::answer_headers`] adds the headers of the
//! response.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use http::error::ApiError;
use http::handler::Reply;
use http::operation::{DescribedContent, DescribedOperation};
use http::routes::ResourceRoutes;
use http::wire::Components;

/// Adds OPTIONS to each path of a resource.
pub(super) fn added(of: ResourceRoutes) -> ResourceRoutes {
    of.with_preflights(preflight)
}

/// Response to a preflight request: status 200 without a body.
pub(super) struct PreflightReply;

impl IntoResponse for PreflightReply {
    fn into_response(self) -> Response {
        StatusCode::OK.into_response()
    }
}

impl Reply for PreflightReply {
    fn describe(operation: &mut DescribedOperation, _: &mut Components) {
        operation.answer = (200, DescribedContent::Nothing);
    }
}

/// Responds to a preflight request; only the response's CORS headers matter.
pub(super) async fn preflight() -> Result<PreflightReply, ApiError> {
    Ok(PreflightReply)
}
