//! Response headers for browsers and caches: responses are neither cached nor content-sniffed, and only allowed origins
//! may read them (CORS).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::paths::is_billing;

/// Request headers that pages from other origins may send.
const REQUEST_HEADERS: &str = "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-API-Key, X-Request-Id, \
                    X-Service-Site";
/// Response headers that pages from other origins may read.
const EXPOSED_HEADERS: &str = "ETag, Idempotency-Replayed, Location, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, \
                    X-Request-Id";
const ALLOWED_METHODS: &str = "GET, POST, PATCH, DELETE";
/// Time, in seconds, for which a browser may cache a preflight response.
const PREFLIGHT_MAX_AGE_SECONDS: &str = "600";

/// Origins whose pages may use the API.
pub struct AllowedOrigins(Vec<HeaderValue>);

impl AllowedOrigins {
    /// Creates the list from the configuration. Unparsable origins were already rejected when the configuration was
    /// checked.
    pub fn new(origins: &[String]) -> Self {
        Self(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect())
    }

    fn of(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        self.0.iter().find(|allowed| *allowed == origin).cloned()
    }
}

/// Returns whether the path leads to an HTML page, which sets its browser headers itself.
fn is_page(path: &str) -> bool {
    path == "/" || path == "/docs" || path.starts_with("/docs/") || path.starts_with("/sign-in/")
}

/// Adds the headers to every response, and responds to CORS preflight requests.
pub async fn tell(State(allowed): State<Arc<AllowedOrigins>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if is_page(path) {
        return next.run(request).await;
    }
    let shared = !allowed.0.is_empty() && path.starts_with("/api/");
    let origin = if shared { allowed.of(request.headers()) } else { None };
    let asks_first =
        request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    // The paths of the billing API answer it themselves.
    let answered_here = asks_first && origin.is_some() && !is_billing(path);
    let mut response = if answered_here { StatusCode::OK.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if shared {
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
    if let Some(origin) = origin {
        let mut say = |name: HeaderName, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
        say(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
        say(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        if asks_first {
            say(header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
            say(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
            say(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE_SECONDS);
        }
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}
