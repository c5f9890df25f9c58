//! Layers around all routes, as one middleware: request ID, response headers, compression, the responses that other
//! crates rewrite, and the limits.

use std::sync::Arc;

use axum::extract::{FromRef as _, Request};
use axum::response::Response;

use crate::AppState;
use crate::answer_headers::AllowedOrigins;
use crate::compression::CompressionRequest;
use crate::error::Notice;
use crate::language::accepted_language;
use crate::limits::layer::{LimitHandles, bound};
use crate::middleware::{InnerRoute, Middleware};
use crate::request_id::NamedRequest;
use kernel::environment::Environment;
use words::Language;

/// Function that rewrites the response to one request.
pub type ResponseRewrite = Box<dyn FnOnce(Response) -> Response + Send>;

/// Rewriter of responses for readers other than the clients of the API: errors become pages, and the billing API has
/// its own contract. It also sees the responses of the limits.
pub trait ResponseRewriter: Send + Sync + 'static {
    /// Returns the rewrite of the response to a request; `None` if the response is sent as it is, unless it carries a
    /// [`Notice`].
    fn rewrite_for(&self, request: &Request) -> Option<ResponseRewrite>;
    /// Renders a response that carries a [`Notice`] as a page, in the language that the browser prefers.
    fn render_notice(&self, language: Language, response: Response) -> Response;
}

/// Middleware around all routes of the server, and around the responses for unknown paths.
pub struct Edge {
    environment: Arc<Environment>,
    origins: AllowedOrigins,
    rewriter: Box<dyn ResponseRewriter>,
    limits: LimitHandles,
}

impl Edge {
    /// Creates the middleware of a server.
    pub fn new(state: &AppState, rewriter: Box<dyn ResponseRewriter>) -> Self {
        Self {
            environment: state.environment.clone(),
            origins: AllowedOrigins::new(&state.config.server.cors_origins),
            rewriter,
            limits: LimitHandles::from_ref(state),
        }
    }

    /// Responds to a request that has an ID.
    async fn respond_to_named(&self, request: Request, next: &InnerRoute) -> Response {
        let Some(headers) = self.origins.headers_for(&request) else {
            return self.respond_compressed(request, next).await;
        };
        let mut response = match headers.preflight(request.uri().path()) {
            Some(response) => response,
            None => self.respond_compressed(request, next).await,
        };
        headers.add_to(&mut response);
        response
    }

    async fn respond_compressed(&self, request: Request, next: &InnerRoute) -> Response {
        let compression = CompressionRequest::of(&request);
        let rewrite = self.rewriter.rewrite_for(&request);
        let language = accepted_language(request.headers());
        let response = bound(&self.limits, request, next).await;
        let response = match rewrite {
            Some(rewrite) => rewrite(response),
            None if response.extensions().get::<Notice>().is_some() => self.rewriter.render_notice(language, response),
            None => response,
        };
        compression.compress(response).await
    }
}

impl Middleware for Edge {
    async fn respond(&self, mut request: Request, next: &InnerRoute) -> Response {
        let named = NamedRequest::of(&self.environment, &mut request);
        named.respond(self.respond_to_named(request, next)).await
    }
}
