//! Downloads with support for range requests.

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;

/// Returns the bytes, or the part of them that a `Range` header with a single range requests.
pub fn ranged(headers: &HeaderMap, bytes: Bytes, kind: &'static str) -> Response {
    let total = bytes.len();
    let requested =
        headers.get(header::RANGE).and_then(|value| value.to_str().ok()).and_then(|text| range(text, total));
    match requested {
        None => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
        // As the web server of both programs has it: all of it is no part.
        Some((0, to)) if to == total => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
        Some((from, to)) if from < to => {
            let content_range = format!("bytes {from}-{}/{total}", to - 1);
            let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_RANGE, content_range)];
            (StatusCode::PARTIAL_CONTENT, headers, bytes.slice(from..to)).into_response()
        }
        Some(_) => {
            (StatusCode::RANGE_NOT_SATISFIABLE, [(header::CONTENT_RANGE, format!("bytes */{total}"))]).into_response()
        }
    }
}

/// Parses `bytes=FROM-TO`, `bytes=FROM-` or `bytes=-LAST` as a half-open range.
fn range(text: &str, total: usize) -> Option<(usize, usize)> {
    let (from, to) = text.strip_prefix("bytes=")?.split_once('-')?;
    match (from, to) {
        ("", last) => Some((total.saturating_sub(last.parse().ok()?), total)),
        (from, "") => Some((from.parse().ok()?, total)),
        (from, to) => Some((from.parse().ok()?, to.parse::<usize>().ok()?.saturating_add(1).min(total))),
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_read_as_http_writes_them() {
        assert_eq!(range("bytes=0-4095", 10_000), Some((0, 4096)));
        assert_eq!(range("bytes=0-4095", 10), Some((0, 10)));
        assert_eq!(range("bytes=-4", 10), Some((6, 10)));
        assert_eq!(range("bytes=4-", 10), Some((4, 10)));
        assert_eq!(range("lines=4-", 10), None);
    }
}
