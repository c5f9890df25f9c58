//! Refuses requests of other sites that would ride on a browser's cookie.

use axum::http::{HeaderMap, Method, header};
use subtle::ConstantTimeEq as _;

use crate::config::values::Secret;
use crate::domain::id::Id;
use crate::domain::signing::hmac_sha256;

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

/// As [`allowed`] for the cookie of customers, whose pages may also stand at the origins of the settings.
pub fn allowed_for_customers(method: &Method, headers: &HeaderMap, public_url: &str, others: &[String]) -> bool {
    let origin = headers.get(header::ORIGIN).map(axum::http::HeaderValue::as_bytes);
    let listed = |origin: &[u8]| others.iter().any(|other| other.as_bytes() == origin);
    origin.is_some_and(listed) || allowed(method, headers, public_url)
}

/// What a form on a page of this server carries, so that no page of another origin can send it for the customer who is
/// signed in by this session: it can be computed neither without the server's secret nor for another session.
pub fn form_token(secret: &Secret, session: Id) -> String {
    hex::encode(hmac_sha256(secret.expose().as_bytes(), &[b"form\0", session.to_string().as_bytes()]))
}

/// Whether this is the token of the session's forms.
pub fn is_form_token(secret: &Secret, session: Id, given: &str) -> bool {
    form_token(secret, session).as_bytes().ct_eq(given.as_bytes()).into()
}

/// Scheme, host and port of an address.
pub fn origin_of(url: &str) -> String {
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
    fn customers_may_come_from_listed_pages() {
        let others = ["https://blog.example".to_owned()];
        let post = |headers: &[(&'static str, &str)]| {
            let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            allowed_for_customers(&Method::POST, &headers, "https://shop.example/", &others)
        };
        assert!(post(&[("origin", "https://blog.example"), ("sec-fetch-site", "cross-site")]));
        assert!(post(&[("origin", "https://shop.example")]) && post(&[]));
        assert!(!post(&[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")]));
        assert!(!post(&[("origin", "https://blog.example.evil.example")]));
        assert!(!post(&[("sec-fetch-site", "cross-site")]));
    }

    #[test]
    fn a_form_is_good_for_its_session_alone() {
        let secret = Secret::new("s".repeat(32));
        let (one, two) = (Id(uuid::Uuid::from_u128(1)), Id(uuid::Uuid::from_u128(2)));
        let token = form_token(&secret, one);
        assert!(is_form_token(&secret, one, &token));
        assert!(!is_form_token(&secret, two, &token) && !is_form_token(&secret, one, ""));
        assert!(!is_form_token(&Secret::new("t".repeat(32)), one, &token));
    }

    #[test]
    fn reading_is_free() {
        let headers = [(header::ORIGIN, "https://evil.example".parse().unwrap())].into_iter().collect();
        assert!(allowed(&Method::GET, &headers, "https://shop.example"));
    }
}
