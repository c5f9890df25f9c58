//! Explains to staff why they are not kept signed in: if cookies are restricted to HTTPS, a browser that sends a
//! request over plain HTTP silently drops the session cookie. Does not apply to customers, whose cookie is always
//! restricted to HTTPS.

use axum::http::HeaderMap;
use url::Url;

use config::Config;

/// Prefix of a public URL that uses HTTPS.
const SECURE_SCHEME: &str = "https://";
/// Path of the staff sign-in page.
const SIGN_IN_PATH: &str = "/login";

/// Reason a browser drops the staff session cookie.
#[derive(Debug)]
pub struct DroppedCookie {
    /// Reason and remedy, without an initial capital or a full stop.
    pub message: String,
    /// URL at which sign-in works; `None` if the public URL is plain HTTP as well.
    pub sign_in_url: Option<String>,
}

impl DroppedCookie {
    /// Examines the request headers; returns `None` if the browser keeps the cookie, as far as the server can tell.
    pub fn of(config: &Config, headers: &HeaderMap) -> Option<Self> {
        let public_url = config.public_url();
        if !config.has_secure_cookies() || !is_plain_http(headers, &public_url) {
            return None;
        }
        let is_secure =
            public_url.get(..SECURE_SCHEME.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(SECURE_SCHEME));
        let sign_in_url = is_secure.then(|| format!("{}{SIGN_IN_PATH}", public_url.trim_end_matches('/')));
        let message = match &sign_in_url {
            Some(url) => {
                format!(
                    "sign in at {url}: browsers discard the cookie that keeps you signed in over plain HTTP, which \
                     this page uses"
                )
            }
            None => {
                "browsers discard the cookie that keeps you signed in over plain HTTP, which this page uses: open this \
                 server over HTTPS, and set server.public_url to that address"
                    .to_owned()
            }
        };
        Some(Self { message, sign_in_url })
    }
}

/// Returns whether a browser most likely sent the request over plain HTTP to an address other than that of its own
/// machine. Proxy headers from any client are trusted, because they affect only a hint.
fn is_plain_http(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_plain = |scheme: &str| scheme.trim().eq_ignore_ascii_case("http");
    // Browsers send it only to addresses from which they also keep such cookies: over HTTPS, and on their own machine.
    if text("sec-fetch-site").is_some() {
        return false;
    }
    if let Some(schemes) = text("x-forwarded-proto") {
        return schemes.split(',').next().is_some_and(is_plain);
    }
    if let Some((scheme, _)) = text("origin").and_then(|origin| origin.split_once("://")) {
        return is_plain(scheme);
    }
    let Ok(public) = Url::parse(public_url) else { return false };
    let Some(requested) = text("host").and_then(|host| Url::parse(&format!("{SECURE_SCHEME}{host}")).ok()) else {
        return false;
    };
    let place = |url: &Url| (url.host_str().map(str::to_owned), url.port_or_known_default());
    public.scheme() != "https" || place(&public) != place(&requested)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const PUBLIC_URL: &str = "https://shop.example";

    fn is_plain(public_url: &str, headers: &[(&'static str, &str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        is_plain_http(&headers, public_url)
    }

    #[test]
    fn an_address_other_than_the_public_one_is_plain_http() {
        assert!(is_plain(PUBLIC_URL, &[("host", "192.168.1.5:8787")]));
        assert!(is_plain(PUBLIC_URL, &[("host", "shop.example:8787")]));
        assert!(is_plain(PUBLIC_URL, &[("host", "shop.example"), ("origin", "http://shop.example")]));
        assert!(is_plain(PUBLIC_URL, &[("host", "shop.example"), ("x-forwarded-proto", "http")]));
        assert!(is_plain("http://shop.lan:8787", &[("host", "shop.lan:8787")]));
    }

    #[test]
    fn a_browser_that_keeps_the_cookie_is_told_nothing() {
        let cases: [&[(&'static str, &str)]; 6] = [
            &[],
            &[("host", "Shop.example")],
            &[("host", "shop.example:443")],
            // A proxy that speaks HTTPS with the browser, and names its own address here.
            &[("host", "127.0.0.1:8787"), ("x-forwarded-proto", "https, http")],
            &[("host", "127.0.0.1:8787"), ("sec-fetch-site", "none")],
            &[("host", "127.0.0.1:8787"), ("origin", "https://shop.example")],
        ];
        for headers in cases {
            assert!(!is_plain(PUBLIC_URL, headers), "{headers:?}");
        }
        assert!(
            is_plain(PUBLIC_URL, &[("host", "10.0.0.5"), ("origin", "null")]),
            "an origin that is kept back says nothing"
        );
    }

    #[test]
    fn only_where_cookies_are_for_https_alone_something_is_said() {
        let headers = [(axum::http::header::HOST, "10.0.0.5:8787".parse().unwrap())].into_iter().collect();
        let mut config = Config::default();
        assert!(DroppedCookie::of(&config, &headers).is_none());
        config.server.public_url = PUBLIC_URL.to_owned();
        let dropped = DroppedCookie::of(&config, &headers).unwrap();
        assert_eq!(dropped.sign_in_url.as_deref(), Some("https://shop.example/login"));
        assert!(dropped.message.starts_with("sign in at https://shop.example/login: "), "{}", dropped.message);
    }
}
