//! Middleware that runs before all routes: admission control, credentials, rate limits, and a timeout for stalled
//! bodies.

use std::net::{IpAddr, Ipv4Addr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{DefaultBodyLimit, FromRequestParts, MatchedPath, Request};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use tower_http::timeout::TimeoutBody;

use super::{WindowKey, refusal, tell};
use crate::access::{AccessHandles, Credentials, CustomerToken, LocalOwner};
use crate::admission::{Admission, RefusedForLoad, RemoteAddress};
use crate::agent_token;
use crate::error::{self, ApiError};
use crate::handles::handles;
use crate::limits::RateLimiter;
use crate::middleware::InnerRoute;
use crate::paths::{is_billing, is_customer_page};
use config::Config;
use domain::limits::{LimitKind, RateLimitStatus};
use domain::time::Timestamp;
use kernel::environment::Environment;

/// `Retry-After` value, in seconds, for requests rejected because of load.
const OVERLOAD_RETRY_SECONDS: u32 = 1;

/// Limits that apply to requests to a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateLimitClass {
    /// Admission control and rate limits.
    Counted,
    /// Admission control only: signed messages from other programs, signed URLs that they fetch, and resources that
    /// browsers load with a page.
    Uncounted,
    /// No limits: health checks and emergency stop.
    Always,
}

/// Returns the limits that apply to a route.
pub fn treatment(path: &str) -> RateLimitClass {
    match path {
        "/healthz" | "/readyz" | "/api/printers/{id}/emergency-stop" | "/floor/printers/{id}/emergency-stop" => {
            RateLimitClass::Always
        }
        "/webhooks/payments"
        | "/api/v1/webhooks/payments"
        | "/webhooks/sales-channels/{id}"
        | "/api/printers/{id}/camera/signed" => RateLimitClass::Uncounted,
        path if path == "/" || path == "/docs" => RateLimitClass::Uncounted,
        path if path.starts_with("/docs/") || path.starts_with("/assets/") => RateLimitClass::Uncounted,
        _ => RateLimitClass::Counted,
    }
}

/// Returns whether requests to a path must always be served immediately, because it is a health check or an emergency
/// stop.
pub fn is_always_heard(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz") || path.ends_with("/emergency-stop")
}

/// Returns whether requests to a route are rate limited, so that they may receive a 429.
pub fn counts(path: &str) -> bool {
    treatment(path) == RateLimitClass::Counted
}

/// Client address whose limit applies to a request without credentials.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub IpAddr);

impl<S: Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // The control socket has no address; its caller is the owner of the machine.
        Ok(parts.extensions.get::<Self>().copied().unwrap_or(Self(Ipv4Addr::LOCALHOST.into())))
    }
}

handles! {
    /// Dependencies of the limiting middleware.
    pub struct LimitHandles {
        access: AccessHandles,
        admission: Arc<Admission>,
        limits: Arc<RateLimiter>,
        environment: Arc<Environment>,
        config: Arc<Config>,
    }
}

/// Applies the route's limits to a request, and runs the route.
pub async fn bound(app: &LimitHandles, request: Request, next: &InnerRoute) -> Response {
    let silence = app.config.server.body_idle_timeout_seconds.duration();
    let mut request = watched(request, silence);
    if request.extensions().get::<LocalOwner>().is_some() {
        return run(request, next).await;
    }
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let (treatment, gateways) = (treatment(path), path == agent_token::PATH);
    let peer = request.extensions().get::<RemoteAddress>().map_or(Ipv4Addr::LOCALHOST.into(), |peer| peer.0);
    let client = app.limits.client(peer, request.headers());
    request.extensions_mut().insert(ClientAddress(client));
    if treatment == RateLimitClass::Always {
        return run(request, next).await;
    }
    // A place among the requests under way is taken behind this, when the body is there; where none is left nothing
    // more is done for the request.
    let refuses = app.admission.refuses();
    if treatment == RateLimitClass::Uncounted {
        return if refuses { overloaded() } else { run(request, next).await };
    }
    let of_api = is_billing(request.uri().path());
    let of_customers = of_api || is_customer_page(request.uri().path());
    // A browser asks this before each request of another origin, without credentials; it costs nothing and counts not.
    if of_api && request.method() == Method::OPTIONS {
        let mut response = if refuses { overloaded() } else { run(request, next).await };
        tell(&mut response, app.limits.untouched(LimitKind::Anonymous));
        return response;
    }
    let now = app.environment.now();
    let credentials = if of_customers {
        // Where nothing more is done for the request nobody is looked up either.
        let token = CustomerToken::from_headers(request.headers()).filter(|_| !refuses);
        if let Some(refused) = token.as_ref().and_then(|token| refused_unseen(&app.limits, token, client, now)) {
            return refused;
        }
        let hash = token.as_ref().map(CustomerToken::hash);
        // Boxed, because the futures of all other requests would have its size.
        let credentials = Box::pin(Credentials::of_customer(&app.access, token)).await;
        if let Some(hash) = hash {
            app.limits.session_customers.note(hash, credentials.id());
        }
        credentials
    } else {
        Credentials::by(&app.access, request.headers())
    };
    // Commands of the gateway count for whoever asks it, in the handler.
    let gateway = gateways && agent_token::is_shown(&app.config, request.headers());
    let charge = [charge(&credentials, client)];
    request.extensions_mut().insert(credentials);
    if refuses {
        let standing =
            if gateway { app.limits.untouched(LimitKind::Agent) } else { app.limits.charge_here(&charge, now) };
        let mut response = overloaded();
        tell(&mut response, standing);
        return response;
    }
    let standing = if gateway { app.limits.untouched(LimitKind::Agent) } else { app.limits.charge(&charge, now).await };
    if standing.refused {
        return rate_limited(standing, &charge);
    }
    let mut response = run(request, next).await;
    tell(&mut response, standing);
    response
}

/// Runs the route. If anything panics that no guard surrounds, such as a fallback, the response is a 500.
async fn run(mut request: Request, next: &InnerRoute) -> Response {
    if !request.body().is_end_stream() {
        // The framework's own limit of 2 MB would cut uploads; every reader of a body here has a limit of its own.
        DefaultBodyLimit::disable().apply(&mut request);
    }
    AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(error::panicked)
}

/// Returns the 429 for a caller that exceeds its rate limit.
fn rate_limited(standing: RateLimitStatus, charges: &[WindowKey]) -> Response {
    let mut response = refusal(standing, charges).into_response();
    response.extensions_mut().insert(RefusedForLoad::Client);
    tell(&mut response, standing);
    response
}

/// Returns a 429, before the session is looked up, if the session's customer or, for an unknown session, the address
/// has already exceeded the limit. This way, made-up session tokens do not cause database queries.
fn refused_unseen(limits: &RateLimiter, token: &CustomerToken, client: IpAddr, now: Timestamp) -> Option<Response> {
    let charge = [limits.session_customers.charge(&token.hash(), client)];
    if !limits.is_full(&charge[0], now) {
        return None;
    }
    let standing = limits.charge_here(&charge, now);
    // The window may have turned in between.
    standing.refused.then(|| rate_limited(standing, &charge))
}

fn charge(credentials: &Credentials, client: IpAddr) -> WindowKey {
    match credentials.id() {
        Some(id) if matches!(credentials, Credentials::Customer(_)) => {
            WindowKey { named: LimitKind::Customer, scope: id.0.as_u128() }
        }
        Some(id) => WindowKey { named: LimitKind::Staff, scope: id.0.as_u128() },
        None => WindowKey::of_address(LimitKind::Anonymous, client),
    }
}

/// Returns the 503 for a request that exceeds the limit on in-flight requests.
pub fn overloaded() -> Response {
    let mut response = overload_error().into_response();
    response.extensions_mut().insert(RefusedForLoad::Server);
    response
}

/// Returns the 503 for a connection that exceeds the limit and whose client has not been identified.
pub fn too_many_connections(limits: &RateLimiter) -> Response {
    let mut response = overloaded();
    tell(&mut response, limits.untouched(LimitKind::Anonymous));
    response
}

/// Returns the error for a request or connection beyond the limits.
pub fn overload_error() -> ApiError {
    let words = "the server is handling too many requests";
    ApiError::unavailable("overloaded", words, OVERLOAD_RETRY_SECONDS)
}

/// Makes the body fail if no data arrives within the given duration; the handler that reads it then returns 408.
fn watched(request: Request, silence: Duration) -> Request {
    if request.body().is_end_stream() {
        return request;
    }
    request.map(|body| Body::new(TimeoutBody::new(silence, body)))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::Router;
    use axum::body::{Bytes, to_bytes};
    use axum::http::{StatusCode, Uri};
    use axum::routing::post;
    use tower::Service as _;

    use super::*;
    use crate::middleware::{Middleware, MiddlewareLayer};

    /// Middleware that only runs the route.
    struct Runs;

    impl Middleware for Runs {
        async fn respond(&self, request: Request, next: &InnerRoute) -> Response {
            run(request, next).await
        }
    }

    async fn broken() -> StatusCode {
        panic!("the handler is broken")
    }

    async fn length(body: Bytes) -> String {
        body.len().to_string()
    }

    async fn ask(routes: &Router, path: &'static str, body: Body) -> Response {
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, Uri::from_static(path));
        let response: Result<Response, Infallible> = routes.clone().call(request).await;
        response.unwrap_or_else(|never| match never {})
    }

    #[tokio::test]
    async fn a_panic_of_a_handler_is_answered_and_large_bodies_are_left_to_their_readers() {
        let routes = Router::new().route("/broken", post(broken)).route("/length", post(length));
        let routes = routes.layer(MiddlewareLayer::new(Runs));
        let response = ask(&routes, "/broken", Body::empty()).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let response = ask(&routes, "/length", Body::from(vec![b'x'; 3 << 20])).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(to_bytes(response.into_body(), 100).await.ok(), Some(Bytes::from((3 << 20).to_string())));
    }

    #[test]
    fn health_and_emergency_stop_are_always_heard() {
        let stops = ["/api/printers/{id}/emergency-stop", "/floor/printers/{id}/emergency-stop"];
        for path in ["/healthz", "/readyz"].into_iter().chain(stops) {
            assert_eq!(treatment(path), RateLimitClass::Always, "{path}");
            assert!(is_always_heard(path), "{path}");
        }
        for path in ["/webhooks/payments", "/", "/docs", "/docs/swagger-ui.css", "/assets/{name}"] {
            assert_eq!(treatment(path), RateLimitClass::Uncounted, "{path}");
        }
        for path in ["", "/api/orders", "/docsx", "/api/printers/{id}/pause", "/floor/printers/{id}/{act}"] {
            assert_eq!(treatment(path), RateLimitClass::Counted, "{path}");
            assert!(!is_always_heard(path), "{path}");
        }
    }
}
