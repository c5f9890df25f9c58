//! The one way to add a route: each states who may use it, so that none is open by oversight.

use crate::http::AppState;
use crate::http::access::{Need, guard};
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

    fn add<H, T>(self, method: MethodFilter, need: Need, path: &str, handler: H, timed: bool) -> Self
    where
        H: Handler<T, AppState>,
        T: 'static,
    {
        let within = timed.then(|| self.app.config.server.request_timeout_seconds.duration());
        let route = on(method, handler).layer(from_fn_with_state(Arc::new((self.app.clone(), need, within)), admit));
        Self { router: self.router.route(path, route), app: self.app }
    }

    /// GET.
    pub fn get<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add(MethodFilter::GET, need, path, handler, true)
    }
    /// POST.
    pub fn post<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add(MethodFilter::POST, need, path, handler, true)
    }
    /// PATCH.
    pub fn patch<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add(MethodFilter::PATCH, need, path, handler, true)
    }
    /// DELETE.
    pub fn delete<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add(MethodFilter::DELETE, need, path, handler, true)
    }
    /// GET without a time limit: streams and downloads.
    pub fn get_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add(MethodFilter::GET, need, path, handler, false)
    }
    /// DELETE without a time limit: what waits for a printer has the printer's.
    pub fn delete_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add(MethodFilter::DELETE, need, path, handler, false)
    }
    /// POST without a time limit: uploads.
    pub fn post_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &str, handler: H) -> Self {
        self.add(MethodFilter::POST, need, path, handler, false)
    }

    /// As axum's router.
    pub fn into_router(self) -> Router<AppState> {
        self.router
    }
}

/// Lets in whoever may use the route, and ends a request that takes too long, reading of its body included. What it
/// asked for may still happen.
async fn admit(State(route): State<Arc<(AppState, Need, Option<Duration>)>>, request: Request, next: Next) -> Response {
    let (app, need, within) = &*route;
    let request = match guard(app, *need, request) {
        Ok(request) => request,
        Err(error) => return error.into_response(),
    };
    let Some(within) = within else { return next.run(request).await };
    match tokio::time::timeout(*within, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::unavailable("timeout", "the request took too long", 2).into_response(),
    }
}
