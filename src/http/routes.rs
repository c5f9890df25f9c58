//! The one way to add a route: each states who may use it, so that none is open by oversight.

use crate::http::AppState;
use crate::http::access::{Gate, Need, guard};
use crate::http::error::ApiError;
use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use std::sync::Arc;
use std::time::Duration;

/// Routes and who may use them.
pub struct Routes {
    app: AppState,
    router: Router<AppState>,
}

impl Routes {
    /// None yet.
    pub fn new(app: AppState) -> Self {
        Self { app, router: Router::new() }
    }

    fn add<H, T>(self, method: &'static str, need: Need, path: &str, handler: H, timed: bool) -> Self
    where
        H: Handler<T, AppState>,
        T: 'static,
    {
        let filter = match method {
            "POST" => MethodFilter::POST,
            "PATCH" => MethodFilter::PATCH,
            "DELETE" => MethodFilter::DELETE,
            _ => MethodFilter::GET,
        };
        let mut route = on(filter, handler);
        if timed {
            let within = self.app.config.server.request_timeout_seconds.duration();
            route = route.layer(from_fn_with_state(within, in_time));
        }
        let gate = Gate { app: self.app.clone(), need, meter: self.app.meters.of(method, path) };
        let route = route.layer(from_fn_with_state(Arc::new(gate), guard));
        Self { router: self.router.route(path, route), app: self.app }
    }

    /// GET.
    pub fn get<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add("GET", need, path, handler, true)
    }
    /// POST.
    pub fn post<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add("POST", need, path, handler, true)
    }
    /// PATCH.
    pub fn patch<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add("PATCH", need, path, handler, true)
    }
    /// DELETE.
    pub fn delete<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add("DELETE", need, path, handler, true)
    }
    /// GET without a time limit: streams and downloads.
    pub fn get_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add("GET", need, path, handler, false)
    }
    /// DELETE without a time limit: what waits for a printer has the printer's.
    pub fn delete_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add("DELETE", need, path, handler, false)
    }
    /// POST without a time limit: uploads.
    pub fn post_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add("POST", need, path, handler, false)
    }

    /// As axum's router.
    pub fn into_router(self) -> Router<AppState> {
        self.router
    }
}

/// Ends a request that takes too long, reading of its body included. What it asked for may still happen.
async fn in_time(State(within): State<Duration>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(within, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::unavailable("timeout", "the request took too long", 2).into_response(),
    }
}
