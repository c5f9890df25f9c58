//! Refuses requests of other sites that would ride on a browser's cookie.

use axum::http::{HeaderMap, Method, header};

/// Whether an unsafe request that carries (or sets) a cookie comes from our own pages or from no browser at all.
///
/// The browser's own word (`Sec-Fetch-Site`) is believed first: pages cannot forge it. Older browsers send `Origin`
/// only, which must then be that of the public address.
pub fn allowed(method: &Method, headers: &HeaderMap, public_url: &str) -> bool {
    if method.is_safe() {
        return true;
    }
    let site = headers.get("sec-fetch-site").map(axum::http::HeaderValue::as_bytes);
    match (site, headers.get(header::ORIGIN)) {
        (Some(site), _) => site == b"same-origin" || site == b"none",
        (None, None) => true,
        (None, Some(origin)) => origin.as_bytes().eq_ignore_ascii_case(origin_of(public_url).as_bytes()),
    }
}

/// Scheme, host and port of an address.
fn origin_of(url: &str) -> String {
    url::Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn post(headers: &[(&'static str, &str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        allowed(&Method::POST, &headers, "https://shop.example/")
    }

    #[test]
    fn only_our_own_pages_and_programs_without_a_browser_may_change_things() {
        assert!(post(&[]));
        assert!(post(&[("origin", "https://shop.example")]));
        assert!(post(&[("sec-fetch-site", "same-origin")]));
        assert!(post(&[("sec-fetch-site", "none")]));
        assert!(post(&[("sec-fetch-site", "same-origin"), ("origin", "http://localhost:8787")]));
        assert!(!post(&[("origin", "https://evil.example")]));
        assert!(!post(&[("origin", "null")]));
        assert!(!post(&[("origin", "https://shop.example.evil.example")]));
        assert!(!post(&[("origin", "http://shop.example")]));
        assert!(!post(&[("sec-fetch-site", "cross-site"), ("origin", "https://shop.example")]));
        assert!(!post(&[("sec-fetch-site", "same-site")]));
    }

    #[test]
    fn reading_is_free() {
        let headers = [(header::ORIGIN, "https://evil.example".parse().unwrap())].into_iter().collect();
        assert!(allowed(&Method::GET, &headers, "https://shop.example"));
    }
}
