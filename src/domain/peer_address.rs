//! Validation and display of the addresses of outside systems in the settings.
//!
//! These systems run in the shop's own network, like printers, so the same hosts are denied. An address with a user
//! name or password is also rejected, because addresses are displayed and logged. The rules do not apply to addresses
//! that users choose ([`super::target`]) or to those of printers ([`super::printer::check_base_url`]).

use std::borrow::Cow;

use url::Url;

use crate::printer::{as_web_address, denied_host};

/// Maximum length of an address, in bytes.
const MAX_ADDRESS_BYTES: usize = 2048;
/// Placeholder for a user name and password in displayed addresses.
const HIDDEN_LOGIN: &str = "***";

/// Reason why the address of an outside system is rejected. The message continues a sentence that begins with the
/// setting's name, and never contains the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PeerAddressError {
    /// The address is longer than `MAX_ADDRESS_BYTES`.
    #[error("must be at most {MAX_ADDRESS_BYTES} bytes")]
    TooLong,
    /// The address is not a URL with a host, or does not have the given scheme.
    #[error("must be an {0} address")]
    NotAUrl(&'static str),
    /// The address contains a user name or a password.
    #[error(
        "must not contain a user name or password, because it is displayed and logged; use the setting for credentials"
    )]
    Credentials,
    /// The host belongs to the given denied range.
    #[error("must be the address of one of the shop's own systems, not {0}")]
    Denied(&'static str),
}

/// Validated address of an outside system. A host name is checked again when it is resolved before connecting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerAddress(Url);

impl PeerAddress {
    /// Parses the address of an HTTP service.
    pub fn web(text: &str) -> Result<Self, PeerAddressError> {
        Self::read(text, &["http", "https"], "http:// or https://")
    }

    /// Parses the address of an MQTT broker.
    pub fn broker(text: &str) -> Result<Self, PeerAddressError> {
        Self::read(text, &["mqtt"], "mqtt://")
    }

    fn read(text: &str, schemes: &[&str], expected: &'static str) -> Result<Self, PeerAddressError> {
        if text.len() > MAX_ADDRESS_BYTES {
            return Err(PeerAddressError::TooLong);
        }
        let no_url = PeerAddressError::NotAUrl(expected);
        let url = Url::parse(text.trim()).map_err(|_| no_url)?;
        if !schemes.contains(&url.scheme()) || url.host_str().is_none_or(str::is_empty) {
            return Err(no_url);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PeerAddressError::Credentials);
        }
        let url = as_web_address(&url).ok_or(no_url)?;
        match denied_host(&url) {
            Some(range) => Err(PeerAddressError::Denied(range)),
            None => Ok(Self(url)),
        }
    }

    /// Returns the URL; for a broker, returns a web address with the broker's port.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the URL with the given path appended to its own path, excluding the query.
    pub fn below(&self, path: &str) -> Url {
        let base = self.0.path().trim_end_matches('/').to_owned();
        self.with_path(&format!("{base}/{path}"))
    }

    /// Returns the URL of the given path on the same server, excluding the query.
    pub fn at_root(&self, path: &str) -> Url {
        self.with_path(path)
    }

    fn with_path(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(path);
        url
    }
}

/// Replaces the user name and password that an address appears to contain with a placeholder; returns any other text
/// unchanged.
pub fn without_login(text: &str) -> Cow<'_, str> {
    match Url::parse(text.trim()) {
        Ok(url) if url.username().is_empty() && url.password().is_none() => Cow::Borrowed(text),
        Ok(mut url) => {
            let hidden = url.set_username(HIDDEN_LOGIN).and_then(|()| url.set_password(None));
            Cow::Owned(hidden.map_or_else(|()| HIDDEN_LOGIN.to_owned(), |()| url.to_string()))
        }
        // No address, but perhaps one with a slip of the pen behind its password.
        Err(_) => match text.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1))) {
            Some((scheme, rest)) => Cow::Owned(format!("{scheme}://{HIDDEN_LOGIN}@{rest}")),
            None => Cow::Borrowed(text),
        },
    }
}

/// Forms of the question mark before a query: as it is, and as it stands in a URL that is a parameter of another one.
const QUERY_MARKS: [&str; 3] = ["?", "%3F", "%3f"];

/// Replaces the query of each URL and path in a text with an ellipsis, because it may contain a signature or a token:
/// `/camera?until=7` becomes `/camera?…`. A question mark that ends a question stays.
pub fn without_queries(text: &str) -> String {
    let ends_url = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '<' | '>' | '`');
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((at, mark)) = QUERY_MARKS.into_iter().filter_map(|mark| Some((rest.find(mark)?, mark))).min() {
        let (before, after) = rest.split_at(at + mark.len());
        let (query, next) = after.split_at(after.find(ends_url).unwrap_or(after.len()));
        let word = before.rsplit(ends_url).next().unwrap_or_default();
        let is_query = !query.is_empty() && (word.contains('/') || query.contains(['=', '%']));
        out.push_str(before);
        out.push_str(if is_query { "…" } else { query });
        rest = next;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_query_of_each_url_in_a_text_is_cut_off() {
        for (text, expected) in [
            (
                "Failed to get image http://shop.lan/api/printers/1/camera/signed?until=17&signature=0a1b",
                "Failed to get image http://shop.lan/api/printers/1/camera/signed?…",
            ),
            ("no http://a/b?c=d&e=f, but \"/x?y=z\" (g?h=i)", "no http://a/b?… but \"/x?…\" (g?…"),
            ("url: /p/?img=http%3A%2F%2Fa%2Fb%3Funtil%3D1", "url: /p/?…"),
            ("img http%3A%2F%2Fa%2Fb%3Funtil%3D17%26signature%3D0a is gone", "img http%3A%2F%2Fa%2Fb%3F… is gone"),
            ("<a href=\"/a?b\">c</a>", "<a href=\"/a?…\">c</a>"),
            ("404 /a?b\nTraceback: why?because", "404 /a?…\nTraceback: why?because"),
            ("is anything at http://a/b? No", "is anything at http://a/b? No"),
            ("is it running, and can this server reach it?", "is it running, and can this server reach it?"),
            ("Is it on? It is.", "Is it on? It is."),
            ("", ""),
        ] {
            assert_eq!(without_queries(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_signature_never_stays(before in "[ -~]{0,20}", after in "[ -~]{0,20}") {
            let text = format!("{before}/camera/signed?until=1&signature=0a1b2c3d {after}");
            prop_assert!(!without_queries(&text).contains("0a1b2c3d"), "{text}");
        }
    }

    #[test]
    fn addresses_of_the_shop_are_taken_and_others_refused() {
        for text in
            ["http://192.168.1.5:8123", "https://flow.lan/hook/1?x=1", " http://localhost ", "http://[fd00::7]/"]
        {
            assert!(PeerAddress::web(text).is_ok(), "{text}");
        }
        for (text, words) in [
            ("nowhere", "must be an http"),
            ("ftp://10.0.0.1/", "must be an http"),
            ("mqtt://10.0.0.1", "must be an http"),
            ("http://", "must be an http"),
            ("http://me:hunter2@10.0.0.1/", "user name or password"),
            ("http:me@10.0.0.1", "user name or password"),
            ("http://169.254.1.1/", "link-local"),
            ("http://[fe80::1]/", "link-local"),
            ("http://2852039166/", "link-local"),
            ("http://metadata.google.internal/", "metadata"),
        ] {
            let error = PeerAddress::web(text).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains("hunter2"), "{text}: {error}");
        }
        assert_eq!(PeerAddress::web(&format!("http://a/{}", "x".repeat(2048))), Err(PeerAddressError::TooLong));
    }

    #[test]
    fn a_broker_has_its_own_port_and_no_other_writing_of_a_denied_host() {
        let port = |text: &str| PeerAddress::broker(text).unwrap().url().port_or_known_default();
        assert_eq!(["mqtt://10.0.0.1", "mqtt://10.0.0.1:80", "mqtt://b.lan:9/"].map(port), [1883, 80, 9].map(Some));
        for text in ["mqtt://169.254.1.1", "mqtt://0xa9fe0101", "mqtt://[::ffff:169.254.1.1]", "mqtt://u:p@10.0.0.1"] {
            assert!(PeerAddress::broker(text).is_err(), "{text}");
        }
    }

    #[test]
    fn paths_are_put_behind_that_of_the_address() {
        let address = PeerAddress::web("http://10.0.0.1/base/?x=1#y").unwrap();
        assert_eq!(address.below("api/").as_str(), "http://10.0.0.1/base/api/");
        assert_eq!(address.at_root("/healthz").as_str(), "http://10.0.0.1/healthz");
        assert_eq!(PeerAddress::web("http://10.0.0.1").unwrap().below("p/").as_str(), "http://10.0.0.1/p/");
    }

    proptest! {
        #[test]
        fn no_password_in_an_address_is_shown(
            scheme in "(http|https|mqtt|redis|x)", slashes in "(://|:\\\\\\\\|:)", user in "[a-z]{0,4}", tail in "[a-z0-9/@:?#]{0,12}",
        ) {
            let text = format!("{scheme}{slashes}{user}:hunter2@{tail}");
            // Only what is an address, or looks like one, can hold a password of one.
            if Url::parse(&text).is_ok_and(|url| url.password() == Some("hunter2")) || slashes == "://" {
                prop_assert!(!without_login(&text).contains("hunter2"), "{}", without_login(&text));
            }
        }

        #[test]
        fn what_has_no_login_is_shown_as_it_is(text in "[ -~]{0,40}") {
            if !text.contains('@') {
                prop_assert_eq!(without_login(&text), text.as_str());
            }
        }
    }

    #[test]
    fn a_login_is_hidden_and_the_rest_of_an_address_is_shown() {
        for (text, public) in [
            ("http://me:hunter2@10.0.0.1/a?b=c", "http://***@10.0.0.1/a?b=c"),
            ("http://:hunter2@10.0.0.1/", "http://***@10.0.0.1/"),
            ("http://me@10.0.0.1/", "http://***@10.0.0.1/"),
            ("http://me:hunter2@10.0.0.1:port/", "http://***@10.0.0.1:port/"),
            ("http://10.0.0.1/me@home", "http://10.0.0.1/me@home"),
            ("HTTP://10.0.0.1", "HTTP://10.0.0.1"),
            ("me@home", "me@home"),
        ] {
            assert_eq!(without_login(text), public, "{text}");
        }
    }

    #[test]
    fn an_address_of_the_longest_length_is_taken() {
        let address = |bytes: usize| format!("http://a/{}", "x".repeat(bytes - 9));
        assert!(PeerAddress::web(&address(MAX_ADDRESS_BYTES)).is_ok());
        assert_eq!(PeerAddress::web(&address(MAX_ADDRESS_BYTES + 1)), Err(PeerAddressError::TooLong));
    }
}
