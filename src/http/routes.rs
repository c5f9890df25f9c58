//! The one way to add a route: each states who may use it, so that none is open by oversight.
//!
//! What is added is also recorded, so that the API's description is made from the very routes that are served
//! ([`crate::http::openapi`]).

use crate::http::AppState;
use crate::http::access::{Gate, Need, guard};
use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, on};
use std::sync::Arc;

/// A route as it is served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Served {
    /// GET, POST, PATCH or DELETE.
    pub method: Method,
    /// As the router knows it: `/api/orders/{id}`, `/api/printers/{id}/files/{*name}`.
    pub path: &'static str,
    /// Who may use it.
    pub need: Need,
}

type Make = Box<dyn FnOnce(&AppState) -> MethodRouter<AppState>>;

/// Routes and who may use them.
#[derive(Default)]
pub struct Routes(Vec<(Served, Make)>);

impl Routes {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn add<H, T>(mut self, method: Method, need: Need, path: &'static str, handler: H, timed: bool) -> Self
    where
        H: Handler<T, AppState>,
        T: 'static,
    {
        let (word, filter) = match method {
            Method::POST => ("POST", MethodFilter::POST),
            Method::PATCH => ("PATCH", MethodFilter::PATCH),
            Method::DELETE => ("DELETE", MethodFilter::DELETE),
            _ => ("GET", MethodFilter::GET),
        };
        let make = move |app: &AppState| {
            let within = timed.then(|| app.config.server.request_timeout_seconds.duration());
            let gate = Gate { app: app.clone(), need, within, meter: app.meters.of(word, path) };
            on(filter, handler).layer(from_fn_with_state(Arc::new(gate), guard))
        };
        self.0.push((Served { method, path, need }, Box::new(make)));
        self
    }

    /// GET.
    pub fn get<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &'static str, handler: H) -> Self {
        self.add(Method::GET, need, path, handler, true)
    }
    /// POST.
    pub fn post<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &'static str, handler: H) -> Self {
        self.add(Method::POST, need, path, handler, true)
    }
    /// PATCH.
    pub fn patch<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &'static str, handler: H) -> Self {
        self.add(Method::PATCH, need, path, handler, true)
    }
    /// DELETE.
    pub fn delete<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &'static str, handler: H) -> Self {
        self.add(Method::DELETE, need, path, handler, true)
    }
    /// GET without a time limit: streams and downloads.
    pub fn get_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &'static str, handler: H) -> Self {
        self.add(Method::GET, need, path, handler, false)
    }
    /// DELETE without a time limit: what waits for a printer has the printer's.
    pub fn delete_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &'static str, handler: H) -> Self {
        self.add(Method::DELETE, need, path, handler, false)
    }
    /// POST without a time limit: uploads.
    pub fn post_long<H: Handler<T, AppState>, T: 'static>(self, need: Need, path: &'static str, handler: H) -> Self {
        self.add(Method::POST, need, path, handler, false)
    }

    /// What was added, in that order.
    pub fn served(&self) -> Vec<Served> {
        self.0.iter().map(|(served, _)| served.clone()).collect()
    }

    /// As axum's router.
    pub fn into_router(self, app: &AppState) -> Router<AppState> {
        self.0.into_iter().fold(Router::new(), |router, (served, make)| router.route(served.path, make(app)))
    }
}
