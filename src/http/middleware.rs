//! Middleware around a route as one service. The framework's own (`from_fn`) boxes the rest of the stack for every
//! layer and copies it twice, with everything below it: for nine layers, these copies cost more than most handlers.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use axum::routing::Route;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tower::{Layer, Service};

/// Code that runs around a route.
pub trait Middleware: Send + Sync + 'static {
    /// Responds to a request, usually by running `next` in between.
    fn respond(&self, request: Request, next: &InnerRoute) -> impl Future<Output = Response> + Send;
}

/// Route below a middleware, with its own layers.
pub struct InnerRoute(Route);

impl InnerRoute {
    /// Runs the route.
    pub async fn run(&self, request: Request) -> Response {
        let mut route = self.0.clone();
        route.call(request).await.unwrap_or_else(|never| match never {})
    }
}

/// Layer that puts a middleware around routes.
pub struct MiddlewareLayer<M>(Arc<M>);

impl<M> MiddlewareLayer<M> {
    /// Creates the layer; all routes share the middleware.
    pub fn new(middleware: M) -> Self {
        Self(Arc::new(middleware))
    }
}

impl<M> Clone for MiddlewareLayer<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> Layer<Route> for MiddlewareLayer<M> {
    type Service = MiddlewareService<M>;

    fn layer(&self, inner: Route) -> Self::Service {
        MiddlewareService { middleware: self.0.clone(), next: Arc::new(InnerRoute(inner)) }
    }
}

/// Route with a middleware around it. The framework copies it for each request, which copies no layer below it.
pub struct MiddlewareService<M> {
    middleware: Arc<M>,
    next: Arc<InnerRoute>,
}

impl<M> Clone for MiddlewareService<M> {
    fn clone(&self) -> Self {
        Self { middleware: self.middleware.clone(), next: self.next.clone() }
    }
}

impl<M: Middleware> Service<Request> for MiddlewareService<M> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { middleware, next } = self.clone();
        async move { Ok(middleware.respond(request, &next).await) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::extract::MatchedPath;
    use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
    use axum::routing::get;

    use super::*;

    const SEEN: HeaderName = HeaderName::from_static("x-notes");

    /// Middleware that notes itself and the path of the route in the response.
    struct Note(&'static str);

    impl Middleware for Note {
        async fn respond(&self, request: Request, next: &InnerRoute) -> Response {
            let path = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
            let mut response = next.run(request).await;
            if let Ok(value) = HeaderValue::from_str(&format!("{} of {path}", self.0)) {
                response.headers_mut().append(SEEN, value);
            }
            response
        }
    }

    fn routes() -> Router {
        Router::new()
            .route("/orders/{id}", get(|| async { "one" }).layer(MiddlewareLayer::new(Note("route"))))
            .fallback(|| async { StatusCode::NOT_FOUND })
            .layer(MiddlewareLayer::new(Note("inner")))
            .layer(MiddlewareLayer::new(Note("outer")))
    }

    async fn ask(method: Method, path: &'static str) -> (StatusCode, Vec<String>, usize, Option<String>) {
        let mut request = Request::new(Body::empty());
        (*request.method_mut(), *request.uri_mut()) = (method, Uri::from_static(path));
        let response = routes().call(request).await.unwrap_or_else(|never| match never {});
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let notes = response.headers().get_all(SEEN).iter().map(text).collect();
        let length = response.headers().get(header::CONTENT_LENGTH).map(text);
        let status = response.status();
        let body = to_bytes(response.into_body(), 100).await.unwrap_or_default();
        (status, notes, body.len(), length)
    }

    #[tokio::test]
    async fn layers_run_from_the_outside_to_the_inside_and_know_the_route() {
        let (status, notes, bytes, _) = ask(Method::GET, "/orders/7").await;
        assert_eq!((status, bytes), (StatusCode::OK, 3));
        assert_eq!(notes, ["route of /orders/{id}", "inner of /orders/{id}", "outer of /orders/{id}"]);
        let (status, notes, ..) = ask(Method::GET, "/nothing").await;
        assert_eq!(
            (status, notes),
            (StatusCode::NOT_FOUND, vec!["inner of none".to_owned(), "outer of none".to_owned()])
        );
    }

    #[tokio::test]
    async fn the_framework_still_answers_head_and_refuses_other_methods() {
        let (status, _, bytes, length) = ask(Method::HEAD, "/orders/7").await;
        assert_eq!((status, bytes, length.as_deref()), (StatusCode::OK, 0, Some("3")));
        let (status, notes, ..) = ask(Method::POST, "/orders/7").await;
        assert_eq!((status, notes.len()), (StatusCode::METHOD_NOT_ALLOWED, 3));
    }
}
