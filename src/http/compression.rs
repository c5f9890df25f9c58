//! Compresses answers in JSON for clients that take gzip. Streams, downloads and small answers stay as they are.

use std::io::Write as _;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{self, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::http::error::ApiError;

/// Smaller answers gain nothing, in bytes.
const MIN_COMPRESSED_BYTES: u64 = 1024;

/// Compresses the answer, if that is worth it and wanted.
pub async fn gzip(request: Request, next: Next) -> Response {
    let wanted = takes_gzip(request.headers());
    let mut response = next.run(request).await;
    if !is_large_json(&response) {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if !wanted {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let compressed = match axum::body::to_bytes(body, usize::MAX).await {
        Ok(bytes) => compressed(&bytes),
        Err(error) => return ApiError::internal(error).into_response(),
    };
    match compressed {
        Ok(bytes) => {
            parts.headers.remove(header::CONTENT_LENGTH);
            parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Response::from_parts(parts, Body::from(bytes))
        }
        Err(error) => ApiError::internal(error).into_response(),
    }
}

fn compressed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Whether the answer is JSON that is in memory as a whole, and not small.
fn is_large_json(response: &Response) -> bool {
    let headers = response.headers();
    let json = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let size = response.body().size_hint().exact().unwrap_or(0);
    json && size > MIN_COMPRESSED_BYTES && !headers.contains_key(header::CONTENT_ENCODING)
}

/// Whether `Accept-Encoding` names gzip, and not to refuse it.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let quality = quality.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        ["gzip", "x-gzip"].iter().any(|gzip| name.trim().eq_ignore_ascii_case(gzip)) && quality.is_ok_and(|q| q > 0.0)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn gzip_is_taken_when_it_is_named_and_not_refused() {
        let takes = |text: &str| takes_gzip(&[(header::ACCEPT_ENCODING, text.parse().unwrap())].into_iter().collect());
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("deflate , gzip"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("gzipped") && !takes(""));
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
