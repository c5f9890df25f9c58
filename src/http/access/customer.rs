//! Customer sessions: the only credentials accepted by the billing API and the customer pages. API keys and staff
//! sessions are not valid there, and the customer cookie is not valid elsewhere.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderMap;

use super::{AccessHandles, Caller, Credentials, LocalOwner, RequiredAccess, cookie};
use crate::csrf;
use crate::error::ApiError;
use crate::language::accepted_language;
use crate::paths::is_customer_page;
use domain::principal::Principal;
use platform::secrets::credentials::{self, is_token};

/// Name of the customer session cookie. The prefix makes browsers reject the cookie unless it is `Secure`, has no
/// domain, and has the path `/`.
pub const CUSTOMER_COOKIE: &str = "__Host-customer_session";

/// Session token from the customer cookie; never printed.
#[derive(Clone)]
pub struct CustomerToken(String);

impl CustomerToken {
    /// Returns the token from the customer cookie. Returns `None` if the value is not in token format, which saves a
    /// lookup.
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        cookie(headers, CUSTOMER_COOKIE).filter(|token| is_token(token)).map(|token| Self(token.to_owned()))
    }

    /// Returns the hash under which the session is stored.
    pub fn hash(&self) -> String {
        credentials::session_hash(&self.0)
    }
}

impl Credentials {
    /// Looks up the session for a customer token. Unknown, expired and signed-out sessions are rejected.
    pub async fn of_customer(app: &AccessHandles, token: Option<CustomerToken>) -> Self {
        let Some(token) = token else { return Self::Nothing };
        let result = app.queries.customer_session(&token.hash()).await;
        let session = match result {
            Ok(session) => session.filter(|session| !session.over(app.environment.now())),
            Err(error) => return Self::Customer(Err(error.into())),
        };
        Self::Customer(match session {
            Some(session) => {
                let by = Principal::Customer { id: session.customer_id, email: session.email };
                Ok((Arc::new(by), session.id))
            }
            None => Err(ApiError::unauthorized("the session has ended; sign in again")),
        })
    }
}

/// Error message that explains to an unauthenticated customer how to sign in.
pub(super) const SIGN_IN_FIRST: &str = "sign in first: request a link with POST /api/v1/auth/magic-link";

/// Returns the 401 error for a caller without a session. If the server's public URL is plain HTTP, the message explains
/// that browsers do not send the `Secure` cookie there; otherwise, a customer who has just signed in could not see why
/// the request fails.
fn sign_in_first(app: &AccessHandles) -> ApiError {
    if app.config.public_url().starts_with("https://") {
        return ApiError::unauthorized(SIGN_IN_FIRST);
    }
    ApiError::unauthorized(format!(
        "{SIGN_IN_FIRST}. The session cookie is `Secure`: browsers send it only over HTTPS, but this server's address \
         is plain HTTP"
    ))
}

/// Authorizes a request to a billing route and returns its caller. The credentials have already been looked up.
pub(super) fn admit(
    app: &AccessHandles,
    need: RequiredAccess,
    request: &Request,
    request_id: Option<Arc<str>>,
) -> Result<Caller, ApiError> {
    let (credentials, language) = (request.extensions().get::<Credentials>(), accepted_language(request.headers()));
    if need != RequiredAccess::Customer {
        own_pages(app, request)?;
        return Ok(Caller { by: Arc::new(Principal::Anonymous), session: None, request_id, language });
    }
    let from_machine = request.extensions().get::<LocalOwner>().is_some();
    let Some(Credentials::Customer(customer)) = credentials.filter(|_| !from_machine) else {
        return Err(sign_in_first(app));
    };
    let (by, session) = customer.clone()?;
    own_pages(app, request)?;
    Ok(Caller { by, session: Some(session), request_id, language })
}

/// Rejects cross-site changes, that is, requests that a page from another origin causes a customer's browser to send.
fn own_pages(app: &AccessHandles, request: &Request) -> Result<(), ApiError> {
    let (method, headers, path) = (request.method(), request.headers(), request.uri().path());
    if is_customer_page(path) {
        // Their forms are sent by themselves alone, whether somebody is signed in or not.
        return super::same_site(app, method, headers);
    }
    let rides_on_cookie = cookie(headers, CUSTOMER_COOKIE).is_some();
    let allowed =
        || csrf::allowed_for_customers(method, headers, &app.config.public_url(), &app.config.server.cors_origins);
    if !rides_on_cookie || allowed() {
        Ok(())
    } else {
        Err(ApiError::forbidden("cross_site", "requests from other sites are not allowed"))
    }
}
