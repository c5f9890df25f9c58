//! The one way to add a route: each states who may use it, so that none is open by oversight.

use crate::http::AppState;
use crate::http::access::{Gate, Need, guard};
use axum::Router;
use axum::handler::Handler;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, on};
use std::sync::Arc;

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
        let within = timed.then(|| self.app.config.server.request_timeout_seconds.duration());
        let gate = Gate { app: self.app.clone(), need, within, meter: self.app.meters.of(method, path) };
        let route = on(filter, handler).layer(from_fn_with_state(Arc::new(gate), guard));
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
