//! What the protocols over HTTP share: the state behind their handlers, and how a printer is served with it.

use std::{io, sync::Arc};

use axum::{Router, http::StatusCode, response::Response};
use futures::future::BoxFuture;

use super::{Server, guard::guarded};
use crate::{ServeOptions, VirtualPrinter};

/// The state that all handlers of a protocol share. `S` is what the protocol keeps besides (sessions, an upload that is
/// under way); a host is cloned for each request, so its members are shared by all clones.
#[derive(Clone)]
pub(crate) struct Host<S> {
    pub printer: VirtualPrinter,
    /// The key that calls need; `None` trusts every caller.
    pub api_key: Option<Arc<str>>,
    /// The name that the printer reports.
    pub name: Arc<str>,
    pub state: S,
}

impl<S: Default> Host<S> {
    /// Serves a printer until the server is dropped. `router` has the routes of the protocol; `error` makes an error in
    /// its own shape, for the faults that affect every request.
    pub fn serve(
        printer: VirtualPrinter,
        options: ServeOptions,
        router: fn(Self) -> Router,
        error: fn(StatusCode, &str) -> Response,
    ) -> BoxFuture<'static, io::Result<Server>> {
        let host = Self {
            printer: printer.clone(),
            api_key: options.api_key.map(Arc::from),
            name: Arc::from(options.name),
            state: S::default(),
        };
        let protocol = guarded(router(host), printer.clone(), error);
        Box::pin(async move { Server::start_printer(options.addr, &printer, protocol).await })
    }
}

impl<S> Host<S> {
    /// Whether a caller gave the right key. A printer without one takes any, and none.
    pub fn is_key(&self, given: Option<&str>) -> bool {
        !self.printer.with(|machine| machine.faults().wrong_key)
            && self.api_key.as_deref().is_none_or(|key| given == Some(key))
    }
}
