//! Parts shared by all HTTP-based protocols: the state of their handlers, and the server for a printer.

use std::{io, sync::Arc};

use axum::{Router, http::StatusCode, response::Response};
use futures::future::BoxFuture;

use super::{SimServer, guard::guarded};
use crate::{ServeOptions, VirtualPrinter};

/// State shared by all handlers of a protocol. `S` is the protocol's additional state, such as sessions or an upload in
/// progress. A host is cloned for each request, so its fields are shared by all clones.
#[derive(Clone)]
pub(crate) struct Host<S> {
    pub printer: VirtualPrinter,
    /// API key that calls require; with `None`, every caller is trusted.
    pub api_key: Option<Arc<str>>,
    /// Name that the printer reports.
    pub name: Arc<str>,
    pub state: S,
}

impl<S: Default> Host<S> {
    /// Serves a printer until the server is dropped. `router` contains the protocol's routes; `error` builds an error
    /// in the protocol's own format, for the faults that affect every request.
    pub fn serve(
        printer: VirtualPrinter,
        options: ServeOptions,
        router: fn(Self) -> Router,
        error: fn(StatusCode, &str) -> Response,
    ) -> BoxFuture<'static, io::Result<SimServer>> {
        let host = Self {
            printer: printer.clone(),
            api_key: options.api_key.map(Arc::from),
            name: Arc::from(options.name),
            state: S::default(),
        };
        let protocol = guarded(router(host), printer.clone(), error);
        Box::pin(async move { SimServer::start_printer(options.addr, &printer, protocol).await })
    }
}

impl<S> Host<S> {
    /// Returns whether a caller presented the correct key. A printer without a key accepts any key and requests without
    /// a key.
    pub fn is_key(&self, presented: Option<&str>) -> bool {
        !self.printer.with(|machine| machine.faults().wrong_key)
            && self.api_key.as_deref().is_none_or(|key| presented == Some(key))
    }
}
