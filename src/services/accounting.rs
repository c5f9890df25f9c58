//! Client for the accounting system: consent and tokens (OAuth 2.0 with PKCE), and the organisation's books. Implements
//! Xero's API.
//!
//! Tokens are passed in and returned as plain text; the caller encrypts them for storage. The client never retries; the
//! caller decides when to retry. The accounting system recognises a retried request by its document number and
//! idempotency key.

mod books;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod read;
#[cfg(test)]
mod tests;

pub use books::OrganisationClient;
pub use read::PostedDocument;

use oauth2::basic::{BasicClient, BasicErrorResponseType, BasicTokenResponse};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, Scope,
    TokenResponse as _, TokenUrl,
};
use reqwest::Method;
use url::Url;

use super::peer_client::{PeerHttp, PeerSettingError, reason, whole};
use super::peer_fault::PeerFault;
use super::peers::ConnectionTestResult;
use config::sections::AccountingConfig;
use domain::peer_address::PeerAddress;

/// Maximum size of a response from the token endpoint, in bytes.
const MAX_TOKEN_ANSWER_BYTES: usize = 64 * 1024;
/// Lifetime in seconds assumed for a token if the provider does not state one.
const UNTOLD_LIFE_SECONDS: u64 = 300;
/// Name used for the system in error messages.
const WHO: &str = "the accounting system";
/// Token that no provider has ever issued. The response to this token shows whether the client credentials are valid.
const NO_TOKEN: &str = "printfloor-connection-test";

/// Token pair issued by the provider. Never logged.
pub struct Tokens {
    /// Access token, which is sent with API calls.
    pub access: String,
    /// Single-use refresh token, which is exchanged for the next pair.
    pub refresh: String,
    /// Access token lifetime in seconds.
    pub life_seconds: u64,
}

/// Organisation whose books are kept in the accounting system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Organisation {
    /// ID assigned by the provider.
    pub id: String,
    /// Display name.
    pub name: String,
}

/// Reason why a call to the accounting system failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AccountingError {
    /// The system did not respond, or reported a failure; the request may have been carried out.
    #[error("{}", .0.in_one_line())]
    Unavailable(PeerFault),
    /// The system asked the client to wait for the given number of seconds.
    #[error("the accounting system's rate limit was reached; next try in {0} s")]
    Busy(u64),
    /// The access token is no longer accepted.
    #[error("the accounting system rejects the token")]
    Token,
    /// The request was rejected, and a retry would be rejected as well.
    #[error("{0}")]
    Refused(String),
}

impl From<PeerFault> for AccountingError {
    fn from(fault: PeerFault) -> Self {
        Self::Unavailable(fault)
    }
}

type OAuth = BasicClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

/// Address of the accounting system, OAuth client credentials, and accounts to which documents are posted.
#[derive(Clone)]
#[expect(missing_docs, reason = "each is explained beside the setting of the same name")]
pub struct AccountingSettings {
    pub client_id: String,
    pub client_secret: String,
    pub authorize_url: String,
    pub token_url: String,
    pub revocation_url: String,
    pub url: String,
    pub scopes: Vec<String>,
    pub sales_account: String,
    pub payment_account: String,
    /// Tax rates in basis points, each with the accounting system's tax type for that rate.
    pub tax_words: Vec<(i64, String)>,
}

impl AccountingSettings {
    /// Converts a configuration section to client settings.
    pub fn of(section: &AccountingConfig) -> Self {
        Self {
            client_id: section.client_id.clone(),
            client_secret: section.client_secret.expose().to_owned(),
            authorize_url: section.authorize_url.clone(),
            token_url: section.token_url.clone(),
            revocation_url: section.revocation_url.clone(),
            url: section.url.clone(),
            scopes: section.scopes.clone(),
            sales_account: section.sales_account.clone(),
            payment_account: section.payment_account.clone(),
            tax_words: section.tax_words(),
        }
    }
}

/// Client for the accounting system.
#[derive(Clone)]
pub struct AccountingClient {
    http: PeerHttp,
    oauth: OAuth,
    scopes: Vec<Scope>,
    revocation: Option<PeerAddress>,
    api: PeerAddress,
    client_id: String,
    client_secret: String,
    sales_account: String,
    payment_account: String,
    tax_words: Vec<(i64, String)>,
}

impl AccountingClient {
    /// Creates a client with the given settings; `redirect` is the OAuth redirect URI. `http` is the HTTP client for
    /// configured services.
    pub fn new(
        http: impl Into<PeerHttp>,
        settings: AccountingSettings,
        redirect: &str,
    ) -> Result<Self, PeerSettingError> {
        // The addresses are judged here: the crate for OAuth knows nothing of that.
        let address = |text: &str| PeerAddress::web(text).map(|address| address.url().clone());
        let revocation = Some(settings.revocation_url.as_str()).filter(|url| !url.is_empty());
        let oauth = BasicClient::new(ClientId::new(settings.client_id.clone()))
            .set_client_secret(ClientSecret::new(settings.client_secret.clone()))
            .set_auth_uri(AuthUrl::from_url(address(&settings.authorize_url)?))
            .set_token_uri(TokenUrl::from_url(address(&settings.token_url)?))
            .set_redirect_uri(RedirectUrl::from_url(address(redirect)?));
        Ok(Self {
            http: http.into(),
            oauth,
            scopes: settings.scopes.into_iter().map(Scope::new).collect(),
            revocation: revocation.map(PeerAddress::web).transpose()?,
            api: PeerAddress::web(&settings.url)?,
            client_id: settings.client_id,
            client_secret: settings.client_secret,
            sales_account: settings.sales_account,
            payment_account: settings.payment_account,
            tax_words: settings.tax_words,
        })
    }

    /// Returns the URL of the page on which an admin gives consent. `verifier` is the PKCE code verifier for this
    /// consent: 43 to 128 letters and digits.
    pub fn consent_page(&self, state: &str, verifier: &str) -> Url {
        let verifier = PkceCodeVerifier::new(verifier.to_owned());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        let state = state.to_owned();
        let page = self.oauth.authorize_url(|| CsrfToken::new(state)).add_scopes(self.scopes.iter().cloned());
        page.set_pkce_challenge(challenge).url().0
    }

    /// Exchanges the authorization code from the consent page for the first tokens.
    pub async fn first_tokens(&self, code: &str, verifier: &str) -> Result<Tokens, AccountingError> {
        let http = |request| call(self.http.clone(), request);
        let exchange = self.oauth.exchange_code(AuthorizationCode::new(code.to_owned()));
        let exchange = exchange.set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()));
        tokens(exchange.request_async(&http).await, None)
    }

    /// Exchanges the refresh token, which works only once, for the next pair. After [`AccountingError::Refused`], the
    /// token will never work again.
    pub async fn next_tokens(&self, refresh: &str) -> Result<Tokens, AccountingError> {
        let http = |request| call(self.http.clone(), request);
        let token = RefreshToken::new(refresh.to_owned());
        let exchange = self.oauth.exchange_refresh_token(&token);
        tokens(exchange.request_async(&http).await, Some(refresh))
    }

    /// Revokes a refresh token.
    pub async fn revoke(&self, refresh: &str) -> Result<(), AccountingError> {
        let Some(address) = &self.revocation else { return Ok(()) };
        let request = self
            .http
            .request(Method::POST, address.url().clone())
            .basic_auth(&self.client_id, Some(&self.client_secret))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(url::form_urlencoded::Serializer::new(String::new()).append_pair("token", refresh).finish());
        let answer = self.http.send(request).await.map_err(|error| error.fault(WHO))?;
        match answer.status().as_u16() {
            500.. | 429 => Err(PeerFault::new(format!("{WHO} responded with status {}", answer.status())).into()),
            // A token that it does not know is given up already.
            _ => Ok(()),
        }
    }

    /// Checks that the system responds and accepts the client credentials. Changes nothing in the system.
    pub async fn check(&self) -> ConnectionTestResult {
        match self.next_tokens(NO_TOKEN).await {
            Err(AccountingError::Refused(words)) if words.starts_with("invalid_grant") => {
                Ok("the accounting system accepts client_id and client_secret; the connection itself is not tested"
                    .to_owned())
            }
            Err(AccountingError::Refused(words)) => {
                Err(PeerFault::new("the accounting system rejects client_id or client_secret").saying(words))
            }
            Err(AccountingError::Unavailable(fault)) => Err(fault),
            Err(other) => Err(PeerFault::new(other.to_string())),
            Ok(_) => Err(PeerFault::new("it accepted an invalid token; is this an accounting system?")),
        }
    }
}

/// Network error, or response that exceeds the size limit.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.in_one_line())]
struct CallFault(PeerFault);

/// Sends a request for the OAuth crate and reads the response, within limits.
async fn call(http: PeerHttp, request: HttpRequest) -> Result<HttpResponse, CallFault> {
    let fault = |words: String| CallFault(PeerFault::new(words));
    let request = reqwest::Request::try_from(request).map_err(|error| fault(reason(error)))?;
    let mut answer = http.execute(request).await.map_err(|error| CallFault(error.fault(WHO)))?;
    let status = answer.status();
    if status.is_server_error() || status.as_u16() == 429 {
        return Err(fault(format!("{WHO} responded with status {status}")));
    }
    let body = whole(&mut answer, MAX_TOKEN_ANSWER_BYTES, WHO).await.map_err(CallFault)?;
    if bounded_json::read(&body, bounded_json::ANSWER).is_err() {
        return Err(fault(format!("{WHO} responded with status {status} without JSON")));
    }
    let mut response = HttpResponse::new(body);
    *response.status_mut() = status;
    let content_type = answer.headers().get("content-type").cloned();
    if let Some(kind) = content_type {
        response.headers_mut().insert("content-type", kind);
    }
    Ok(response)
}

type TokenFault = RequestTokenError<CallFault, oauth2::StandardErrorResponse<BasicErrorResponseType>>;

/// Converts the response of the token endpoint. If the response contains no refresh token, the previous one remains
/// valid and is kept.
fn tokens(outcome: Result<BasicTokenResponse, TokenFault>, former: Option<&str>) -> Result<Tokens, AccountingError> {
    let response = outcome.map_err(|fault| match fault {
        RequestTokenError::ServerResponse(no) => AccountingError::Refused(no.to_string()),
        RequestTokenError::Request(CallFault(fault)) => AccountingError::Unavailable(fault),
        RequestTokenError::Parse(error, _) => {
            AccountingError::Unavailable(PeerFault::new(format!("{WHO} issued no tokens: {error}")))
        }
        RequestTokenError::Other(words) => {
            AccountingError::Unavailable(PeerFault::new(format!("{WHO} issued no tokens: {words}")))
        }
    })?;
    let refresh = response.refresh_token().map(|token| token.secret().to_owned()).or(former.map(str::to_owned));
    let refresh = refresh.ok_or_else(|| {
        AccountingError::Refused("it issued no refresh token; accounting.scopes must contain offline_access".to_owned())
    })?;
    let life_seconds = response.expires_in().map_or(UNTOLD_LIFE_SECONDS, |life| life.as_secs());
    Ok(Tokens { access: response.access_token().secret().to_owned(), refresh, life_seconds })
}
