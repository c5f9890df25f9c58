//! Refuses requests of other sites that would ride on a browser's cookie.

use axum::http::{HeaderMap, Method, header};
use subtle::ConstantTimeEq as _;

use crate::config::values::Secret;
use crate::domain::id::Id;
use crate::domain::signing::hmac_sha256;

/// How an origin of plain HTTP begins.
const PLAIN_SCHEME: &[u8] = b"http://";

/// Whether an unsafe request that carries (or sets) a cookie comes from our own pages or from no browser at all.
///
/// The browser's own word (`Sec-Fetch-Site`) is believed first: pages cannot forge it. Older browsers, and all of them
/// over plain HTTP to an address of the local network, send `Origin` only. It must then be that of the public address,
/// or, over plain HTTP, that of the address that is asked.
pub fn allowed(method: &Method, headers: &HeaderMap, public_url: &str) -> bool {
    if method.is_safe() {
        return true;
    }
    let site = headers.get("sec-fetch-site").map(axum::http::HeaderValue::as_bytes);
    match (site, headers.get(header::ORIGIN)) {
        (Some(site), _) => site == b"same-origin" || site == b"none",
        (None, None) => true,
        (None, Some(origin)) => {
            origin.as_bytes().eq_ignore_ascii_case(origin_of(public_url).as_bytes())
                || is_asked_over_plain_http(origin.as_bytes(), headers, public_url)
        }
    }
}

/// Whether the page of this origin came over plain HTTP from the very name and port that are asked now: in a shop's own
/// network the server is reached at other addresses than its public one. A name that is public over HTTPS is never
/// taken over plain HTTP, where anybody on the way may pass for it.
fn is_asked_over_plain_http(origin: &[u8], headers: &HeaderMap, public_url: &str) -> bool {
    let Some((scheme, page)) = origin.split_at_checked(PLAIN_SCHEME.len()) else { return false };
    let asked = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let same = |host: &&str| scheme.eq_ignore_ascii_case(PLAIN_SCHEME) && page.eq_ignore_ascii_case(host.as_bytes());
    let Some(asked) = asked.filter(same).and_then(|host| url::Url::parse(&format!("http://{host}")).ok()) else {
        return false;
    };
    let public = url::Url::parse(public_url).ok().filter(|url| url.scheme() == "https");
    public.is_none_or(|public| public.host() != asked.host())
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
    fn over_plain_http_the_address_that_is_asked_is_our_own() {
        let asked = |public: &str, origin: &str, host: &str| {
            let headers = [(header::ORIGIN, origin), (header::HOST, host)];
            let headers = headers.into_iter().map(|(name, value)| (name, value.parse().unwrap())).collect();
            allowed(&Method::POST, &headers, public)
        };
        let public = "https://shop.example/";
        for (public, origin, host) in [
            (public, "http://192.168.1.5:8787", "192.168.1.5:8787"),
            (public, "http://[fd00::7]:8787", "[fd00::7]:8787"),
            (public, "http://printfloor.lan", "Printfloor.lan"),
            ("http://shop.lan/", "http://shop.lan:8787", "shop.lan:8787"),
        ] {
            assert!(asked(public, origin, host), "{origin} asks {host}");
        }
        for (origin, host) in [
            // Another program of the same machine.
            ("http://192.168.1.5:3000", "192.168.1.5:8787"),
            ("http://192.168.1.5", "192.168.1.5:8787"),
            ("http://evil.example", "192.168.1.5:8787"),
            ("https://192.168.1.5:8787", "192.168.1.5:8787"),
            // Somebody on the way passes for the public address.
            ("http://shop.example", "shop.example"),
            ("http://shop.example:8787", "SHOP.example:8787"),
            ("http://", ""),
            ("null", "null"),
        ] {
            assert!(!asked(public, origin, host), "{origin} asks {host}");
        }
        let word = [("sec-fetch-site", "cross-site"), ("origin", "http://10.0.0.5"), ("host", "10.0.0.5")];
        assert!(!post(&word), "the browser's own word counts more");
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
