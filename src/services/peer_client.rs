//! HTTP client for the external systems that the shop uses. Only this module builds their URLs and authentication
//! headers.
//!
//! The underlying HTTP client checks resolved addresses when it connects, but not literal IP addresses, which this
//! module checks for all systems.

mod transport;

use std::error::Error;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url};

pub use transport::{NoPeerResponse, PeerHttp, PeerTransport};

use super::peer_fault::PeerFault;
use domain::peer_address::{PeerAddress, PeerAddressError};
use platform::http::read_beginning;
use platform::network_fault::{NetworkFault, chain};

/// Header in which a token is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenForm<'a> {
    /// `Authorization: Bearer` header.
    Bearer,
    /// `Authorization: Token` header.
    Token,
    /// Header with the given name. In an `Authorization` header, the token is sent after `Bearer`; in any other, alone.
    Header(&'a str),
}

/// Reason why the settings for a system are invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PeerSettingError {
    /// The address is invalid or not allowed.
    #[error("the address {0}")]
    Address(#[from] PeerAddressError),
    /// The header name is invalid.
    #[error("{0:?} is not a valid header name")]
    Header(String),
    /// The token contains characters that cannot be sent.
    #[error("the token contains a line break or another control character")]
    Token,
}

impl From<PeerSettingError> for PeerFault {
    fn from(error: PeerSettingError) -> Self {
        Self::new(error.to_string())
    }
}

/// Client for one external system.
#[derive(Clone)]
pub struct PeerClient {
    http: PeerHttp,
    address: PeerAddress,
    token: Option<(HeaderName, HeaderValue)>,
}

impl PeerClient {
    /// Creates a client for the system at the given address; an empty token is not sent. `http` is the HTTP client for
    /// configured services.
    pub fn new(
        http: impl Into<PeerHttp>,
        url: &str,
        form: TokenForm<'_>,
        token: &str,
    ) -> Result<Self, PeerSettingError> {
        let address = PeerAddress::web(url)?;
        let credentials = match form {
            TokenForm::Bearer => (AUTHORIZATION, format!("Bearer {token}")),
            TokenForm::Token => (AUTHORIZATION, format!("Token {token}")),
            TokenForm::Header(name) => {
                let header = HeaderName::from_bytes(name.as_bytes());
                let header = header.map_err(|_| PeerSettingError::Header(name.to_owned()))?;
                let text = if header == AUTHORIZATION { format!("Bearer {token}") } else { token.to_owned() };
                (header, text)
            }
        };
        let token = match credentials {
            _ if token.is_empty() => None,
            (header, text) => {
                let mut value = HeaderValue::try_from(text).map_err(|_| PeerSettingError::Token)?;
                value.set_sensitive(true);
                Some((header, value))
            }
        };
        Ok(Self { http: http.into(), address, token })
    }

    /// Returns the address of the system.
    pub fn address(&self) -> &PeerAddress {
        &self.address
    }

    /// Builds a request to the system's address itself.
    pub fn call(&self, method: Method) -> RequestBuilder {
        self.request(method, self.address.url().clone())
    }

    /// Builds a request to a path below the system's address.
    pub fn below(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, self.address.below(path))
    }

    /// Builds a request to a path relative to the server's root.
    pub fn at_root(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, self.address.at_root(path))
    }

    fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.http.request(method, url);
        match &self.token {
            Some((header, value)) => request.header(header, value.clone()),
            None => request,
        }
    }

    /// Sends a request that this client has built; fails if no response arrives. The system is called `who` in error
    /// messages.
    pub async fn send(&self, call: RequestBuilder, who: &str) -> Result<Response, PeerFault> {
        self.exchange(call).await.map_err(|error| error.fault(who))
    }

    /// Sends a request that this client has built.
    pub async fn exchange(&self, call: RequestBuilder) -> Result<Response, NoPeerResponse> {
        self.http.send(call).await
    }
}

/// Reads at most `most` bytes from the beginning of a response; fails if the response is cut off before that. The
/// system is called `who` in error messages.
pub async fn beginning(answer: &mut Response, most: usize, who: &str) -> Result<Vec<u8>, PeerFault> {
    match read_beginning(answer, most, most).await {
        (body, None) => Ok(body),
        (_, Some(error)) => Err(PeerFault::new(format!("{who} did not finish its response")).saying(reason(error))),
    }
}

/// Reads a whole response; fails if it is cut off or longer than `most` bytes. The system is called `who` in error
/// messages.
pub async fn whole(answer: &mut Response, most: usize, who: &str) -> Result<Vec<u8>, PeerFault> {
    let body = beginning(answer, most + 1, who).await?;
    if body.len() > most {
        return Err(PeerFault::new(format!("{who} sent more than {most} bytes")));
    }
    Ok(body)
}

/// Returns the reason why a request failed as a short sentence about the system.
pub fn reason(error: reqwest::Error) -> String {
    network_words(&error.without_url())
}

/// Returns the reason for a broken connection as a short sentence about the system, and logs the error with its causes.
/// An error unrelated to the network keeps its own wording.
pub fn network_words(error: &(dyn Error + 'static)) -> String {
    tracing::debug!(error = chain(error), "a connection to a system failed");
    let words = match NetworkFault::of(error) {
        NetworkFault::Refused => "it refused the connection",
        NetworkFault::Closed => "it closed the connection",
        NetworkFault::TimedOut => "it did not respond in time",
        NetworkFault::UnknownName => "its host name is unknown",
        NetworkFault::Tls => "the TLS connection failed; the certificate may be invalid",
        NetworkFault::NoRoute => "there is no route to it",
        NetworkFault::Request => "the request could not be built",
        NetworkFault::Denied(words) => return words,
        NetworkFault::Other => return chain(error),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use reqwest::Request;

    use super::*;
    use platform::http::{LanSettings, lan};

    fn client_with(url: &str, form: TokenForm<'_>, token: &str) -> Result<PeerClient, PeerSettingError> {
        platform::tls::install_provider();
        match lan(&LanSettings::default()) {
            Ok(client) => PeerClient::new(client, url, form, token),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_token_stands_in_its_header() {
        let header_of = |form: TokenForm<'_>, token: &str| {
            let token = client_with("http://127.0.0.1:1/x", form, token).ok().and_then(|client| client.token);
            token.map(|(header, value)| (header.to_string(), value.as_bytes().to_vec()))
        };
        let stands = |header: &str, value: &str| Some((header.to_owned(), value.as_bytes().to_vec()));
        assert_eq!(header_of(TokenForm::Bearer, "t"), stands("authorization", "Bearer t"));
        assert_eq!(header_of(TokenForm::Token, "t"), stands("authorization", "Token t"));
        assert_eq!(header_of(TokenForm::Header("Authorization"), "t"), stands("authorization", "Bearer t"));
        assert_eq!(header_of(TokenForm::Header("X-Token"), "t"), stands("x-token", "t"));
        assert_eq!(header_of(TokenForm::Header("X-Token"), ""), None);
    }

    #[test]
    fn what_cannot_be_called_is_refused_before_it_is_dialled() {
        for url in ["http://169.254.169.254/", "http://[fe80::1]:80/", "ftp://127.0.0.1/", "http://u:hunter2@h/", "x"] {
            let refused = client_with(url, TokenForm::Bearer, "").err().map(|error| error.to_string());
            assert!(refused.as_ref().is_some_and(|words| !words.contains("hunter2")), "{url}: {refused:?}");
        }
        assert_eq!(client_with("http://h/", TokenForm::Bearer, "a\nb").err(), Some(PeerSettingError::Token));
        assert!(client_with("http://h/", TokenForm::Header("a b"), "").is_err());
    }

    /// Transport through which nothing leaves.
    struct Closed;

    #[async_trait]
    impl PeerTransport for Closed {
        async fn exchange(&self, request: Request) -> Result<Response, NoPeerResponse> {
            Err(NoPeerResponse { words: format!("no way to {}", request.url()), is_unsent: true })
        }
    }

    #[tokio::test]
    async fn requests_leave_through_the_transport() {
        platform::tls::install_provider();
        let http = lan(&LanSettings::default()).map(|client| PeerHttp::through(client, Arc::new(Closed)));
        let peer = http.map(|http| PeerClient::new(http, "http://shop.lan/base", TokenForm::Bearer, "t"));
        let Ok(Ok(peer)) = peer else { panic!("no client") };
        let fault = peer.send(peer.below(Method::GET, "orders"), "the shop").await.err();
        let words = fault.map(|fault| fault.in_one_line());
        assert_eq!(words.as_deref(), Some("the shop does not respond: no way to http://shop.lan/base/orders"));
        assert!(peer.exchange(peer.call(Method::GET)).await.is_err_and(|error| error.is_unsent));
    }
}
