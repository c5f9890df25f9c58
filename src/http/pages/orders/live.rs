//! Event stream for an order page: sends the live part of the page whenever it changes.

use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::OrderPageHandles;
use super::progress::LivePart;
use crate::frame::Viewer;
use http::access::Caller;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::billing::orders::follow;

/// Serves the event stream for one of the customer's own orders.
pub(crate) async fn live(
    State(app): State<OrderPageHandles>,
    PathId(id): PathId,
    who: Caller,
) -> Result<Response, ApiError> {
    let (viewer, tracking) = (Viewer::new(&who, &app.config)?, app.config.shipping.tracking_pages());
    follow(app.follow, &who, id, "part", move |now| {
        let order = now.state.state.as_ref()?;
        let (tracking, viewer) = (&tracking, &viewer);
        let part = LivePart { order, expected: now.expected, steps: now.steps, tracking, viewer };
        Some(json!({"html": part.html().into_string(), "said": part.status_text()}))
    })
    .await
}
