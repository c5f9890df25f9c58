//! `/docs`: pages that show the API and let people try it out with Swagger UI, which is embedded in the binary; nothing
//! is loaded from other servers.

mod events;
mod front_page;

use std::io::Read as _;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use flate2::read::GzDecoder;
use utoipa_swagger_ui::{Config, serve};

use crate::AppState;
use crate::access::{COOKIE, CUSTOMER_COOKIE, cookie};
use crate::compression::takes_gzip;
use crate::error::{ApiError, ApiResult, no_such_path};

/// Content Security Policy of the pages: resources from this server, plus the inline styles and `data:` images that
/// Swagger UI needs.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Name of the index page, whose title is replaced.
const INDEX: &str = "index.html";
const THEIR_TITLE: &str = "<title>Swagger UI</title>";
const OUR_TITLE: &str = "<title>Printfloor API</title>";

/// Returns the routes of the documentation pages. They are not part of the API that the pages describe.
pub fn routes() -> Router<AppState> {
    let entry = || async { Redirect::permanent("/docs/") };
    Router::new()
        .route("/", get(front_page))
        .route("/docs", get(entry))
        .route("/docs/", get(index))
        .route("/docs/events", get(events))
        .route("/docs/{*file}", get(file))
}

/// Serves `/` for browsers; signed-in users are redirected to their own pages.
async fn front_page(headers: HeaderMap) -> Response {
    if cookie(&headers, COOKIE).is_some() {
        return Redirect::to("/floor").into_response();
    }
    if cookie(&headers, CUSTOMER_COOKIE).is_some() {
        return Redirect::to("/orders").into_response();
    }
    html(front_page::PAGE)
}

/// Serves the event catalogue as an HTML page.
async fn events() -> Response {
    html(events::page())
}

fn html(page: impl Into<Body>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, page.into()).into_response()
}

async fn index(headers: HeaderMap) -> ApiResult {
    page(INDEX, &headers).await
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> ApiResult {
    page(&name, &headers).await
}

/// Serves an embedded file. Most files are stored compressed and are sent as they are to clients that accept
/// compression.
async fn page(name: &str, request_headers: &HeaderMap) -> ApiResult {
    let config = Config::new(["/api/openapi.json", "/api/v1/openapi.json"])
        .display_operation_id(true)
        .show_extensions(true)
        .default_models_expand_depth(0)
        .doc_expansion("none")
        .validator_url("none");
    let file = serve(name, Arc::new(config)).map_err(|error| ApiError::internal(error.to_string()))?;
    let Some(file) = file else { return Err(no_such_path().await) };
    let kind = HeaderValue::from_str(&file.content_type).map_err(ApiError::internal)?;
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    let as_it_is = file.gzpipped && name != INDEX && takes_gzip(request_headers);
    let bytes = if file.gzpipped && !as_it_is { inflated(&file.bytes)? } else { file.bytes.into_owned() };
    let bytes = match name {
        INDEX => String::from_utf8_lossy(&bytes).replace(THEIR_TITLE, OUR_TITLE).into_bytes(),
        _ => bytes,
    };
    let mut response: Response = (headers, bytes).into_response();
    if file.gzpipped && name != INDEX {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    if as_it_is {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}

/// Decompresses an embedded file.
fn inflated(bytes: &[u8]) -> Result<Vec<u8>, ApiError> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain)?;
    Ok(plain)
}
