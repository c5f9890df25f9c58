//! Event stream for an order page: sends the live part of the page whenever it changes.

use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::OrderPageHandles;
use super::progress::LivePart;
use crate::frame::{PageLanguage, Viewer};
use crate::times::fill;
use http::access::Caller;
use http::error::ApiError;
use http::path_id::PathId;
use http_api::billing::orders::follow;

/// Serves the event stream for one of the customer's own orders.
pub(crate) async fn live(
    State(app): State<OrderPageHandles>,
    PathId(id): PathId,
    who: Caller,
    language: PageLanguage,
) -> Result<Response, ApiError> {
    let (viewer, tracking) = (Viewer::new(&who, &app.config, language)?, app.config.shipping.tracking_pages());
    let environment = app.environment.clone();
    follow(app.follow, &who, id, "part", move |now| {
        let order = now.state.state.as_ref()?;
        let (tracking, viewer) = (&tracking, &viewer);
        let part = LivePart { order, expected: now.expected, steps: now.steps, tracking, viewer };
        let html = fill(&part.html().0, &environment.rules.clock, environment.now());
        Some(json!({"html": html, "said": part.status_text()}))
    })
    .await
}
