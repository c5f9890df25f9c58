//! Response headers for browsers and caches: responses are neither cached nor content-sniffed, data load and run
//! nothing, and only allowed origins may read them (CORS).

use axum::extract::Request;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
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
/// Content security policy of data, such as JSON and tables: a browser that opens them loads and runs nothing, and
/// shows them in no frame.
const DATA_POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Beginnings of the content types that do not get [`DATA_POLICY`]: pages, which have a policy of their own, what they
/// load, and PDFs, which browsers show with code of their own.
const TYPES_WITHOUT_DATA_POLICY: [&str; 6] =
    ["text/html", "text/css", "text/javascript", "font/", "image/", "application/pdf"];

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

/// Returns whether the response with these headers has content that gets [`DATA_POLICY`], or none.
fn is_data(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    !TYPES_WITHOUT_DATA_POLICY.iter().any(|beginning| content_type.starts_with(beginning.as_bytes()))
}

/// Headers to add to the response to a request.
pub struct AddedHeaders {
    /// `true` if pages of allowed origins may read the response, so that it depends on the origin.
    shared: bool,
    /// Origin of the page that sent the request, if it is allowed.
    origin: Option<HeaderValue>,
    /// `true` if a browser asks before it sends the request itself.
    asks_first: bool,
}

impl AllowedOrigins {
    /// Returns the headers to add to the response to a request; `None` for pages.
    pub fn headers_for(&self, request: &Request) -> Option<AddedHeaders> {
        let path = request.uri().path();
        if is_page(path) {
            return None;
        }
        let shared = !self.0.is_empty() && path.starts_with("/api/");
        let origin = if shared { self.of(request.headers()) } else { None };
        let asks_first = request.method() == Method::OPTIONS
            && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        Some(AddedHeaders { shared, origin, asks_first })
    }
}

impl AddedHeaders {
    /// Returns the response to a CORS preflight request; `None` for other requests, and for paths of the billing API,
    /// which answer it themselves.
    pub fn preflight(&self, path: &str) -> Option<Response> {
        let answered_here = self.asks_first && self.origin.is_some() && !is_billing(path);
        answered_here.then(|| StatusCode::OK.into_response())
    }

    /// Adds the headers to a response.
    pub fn add_to(self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        if is_data(headers) {
            headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(DATA_POLICY));
        }
        if self.shared {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        if let Some(origin) = self.origin {
            let mut say = |name: HeaderName, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
            say(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
            say(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
            if self.asks_first {
                say(header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
                say(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
                say(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE_SECONDS);
            }
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
    }
}
