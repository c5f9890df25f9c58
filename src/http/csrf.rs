//! Protection against cross-site request forgery: rejects requests from other sites that would use a browser's cookie.

use axum::http::{HeaderMap, Method, header};
use subtle::ConstantTimeEq as _;

use config::values::Secret;
use domain::id::Id;
use domain::signing::hmac_sha256;
use platform::secrets::random::secret_bytes;

/// Scheme prefix of a plain HTTP origin.
const PLAIN_SCHEME: &[u8] = b"http://";
/// Length of a CSRF token and its mask, in bytes.
const TOKEN_BYTES: usize = 32;

/// Returns whether an unsafe request that carries (or sets) a cookie comes from the server's own pages or from a client
/// other than a browser.
///
/// `Sec-Fetch-Site` is checked first, because pages cannot forge it. Older browsers, and all browsers over plain HTTP
/// to an address in the local network, send only `Origin`. It must then be the public origin or, over plain HTTP, the
/// origin to which the request was sent.
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

/// Returns whether the origin is a plain HTTP page on exactly the host and port to which the request was sent; inside
/// the shop's network, the server is reached at addresses other than its public one. A host that is public over HTTPS
/// is never accepted over plain HTTP, where an attacker on the network could impersonate it.
fn is_asked_over_plain_http(origin: &[u8], headers: &HeaderMap, public_url: &str) -> bool {
    let Some((scheme, page)) = origin.split_at_checked(PLAIN_SCHEME.len()) else { return false };
    let host_header = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let same = |host: &&str| scheme.eq_ignore_ascii_case(PLAIN_SCHEME) && page.eq_ignore_ascii_case(host.as_bytes());
    let Some(requested) = host_header.filter(same).and_then(|host| url::Url::parse(&format!("http://{host}")).ok())
    else {
        return false;
    };
    let public = url::Url::parse(public_url).ok().filter(|url| url.scheme() == "https");
    public.is_none_or(|public| public.host() != requested.host())
}

/// Does the same as [`allowed`] for the customer cookie; pages at the configured origins are also allowed.
pub fn allowed_for_customers(method: &Method, headers: &HeaderMap, public_url: &str, others: &[String]) -> bool {
    let origin = headers.get(header::ORIGIN).map(axum::http::HeaderValue::as_bytes);
    let listed = |origin: &[u8]| others.iter().any(|other| other.as_bytes() == origin);
    origin.is_some_and(listed) || allowed(method, headers, public_url)
}

/// CSRF token for the forms on this server's pages. It cannot be computed without the server's secret, nor for another
/// session, so a page from another origin cannot submit a form on behalf of a signed-in user.
///
/// Every page shows the token under a different mask. If the token were constant, an attacker who can place text on a
/// page could guess it byte by byte from the sizes of compressed responses.
#[derive(Clone)]
pub struct FormToken([u8; TOKEN_BYTES]);

impl FormToken {
    /// Derives the token for a session's forms.
    pub fn of(secret: &Secret, session: Id) -> Self {
        Self(hmac_sha256(secret.expose().as_bytes(), &[b"form\0", session.to_string().as_bytes()]))
    }

    /// Returns the token in hexadecimal for use in a page: a new random mask followed by the masked token.
    pub fn masked(&self) -> String {
        let mask = secret_bytes::<TOKEN_BYTES>();
        format!("{}{}", hex::encode(mask), hex::encode(xor(self.0, mask)))
    }

    /// Returns whether `presented` is this token under any mask.
    pub fn fits(&self, presented: &str) -> bool {
        let mut bytes = [0; 2 * TOKEN_BYTES];
        if hex::decode_to_slice(presented, &mut bytes).is_err() {
            return false;
        }
        let mut halves = [[0; TOKEN_BYTES]; 2];
        halves.as_flattened_mut().copy_from_slice(&bytes);
        let [mask, masked] = halves;
        xor(masked, mask).ct_eq(&self.0).into()
    }
}

fn xor(mut bytes: [u8; TOKEN_BYTES], mask: [u8; TOKEN_BYTES]) -> [u8; TOKEN_BYTES] {
    bytes.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    bytes
}

/// Returns the scheme, host and port of a URL.
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
        let is_allowed = |public: &str, origin: &str, host: &str| {
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
            assert!(is_allowed(public, origin, host), "{origin} asks {host}");
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
            assert!(!is_allowed(public, origin, host), "{origin} asks {host}");
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
        let token = FormToken::of(&secret, one);
        let masked_token = token.masked();
        assert!(token.fits(&masked_token));
        assert!(!FormToken::of(&secret, two).fits(&masked_token));
        assert!(!FormToken::of(&Secret::new("t".repeat(32)), one).fits(&masked_token));
        let (mask, masked) = masked_token.split_at(2 * TOKEN_BYTES);
        for wrong in
            ["", mask, masked, &masked_token[2..], &format!("{masked}{masked}"), &format!("ä{}", &masked_token[2..])]
        {
            assert!(!token.fits(wrong), "{wrong}");
        }
    }

    #[test]
    fn no_part_of_a_token_is_on_two_pages() {
        const PIECE: usize = 8;
        let token = FormToken::of(&Secret::new("s".repeat(32)), Id(uuid::Uuid::from_u128(1)));
        let (one, two) = (token.masked(), token.masked());
        assert!(token.fits(&one) && token.fits(&two));
        let pieces = |masked_token: &str| {
            (0..=masked_token.len() - PIECE).map(|at| masked_token[at..at + PIECE].to_owned()).collect::<Vec<_>>()
        };
        let other = pieces(&two);
        assert!(pieces(&one).iter().all(|piece| !other.contains(piece)), "{one} {two}");
    }

    #[test]
    fn reading_is_free() {
        let headers = [(header::ORIGIN, "https://evil.example".parse().unwrap())].into_iter().collect();
        assert!(allowed(&Method::GET, &headers, "https://shop.example"));
    }
}
