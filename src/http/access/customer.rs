//! Customers' sessions: the one credential of the billing API and of the pages for customers. Keys and staff sessions
//! mean nothing there, and the customer's cookie nothing elsewhere.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderMap;

use super::{AccessHandles, Caller, Credentials, FromMachine, RequiredAccess, cookie};
use crate::domain::principal::Principal;
use crate::http::csrf;
use crate::http::error::ApiError;
use crate::http::pages;
use crate::secrets::credentials::{self, is_token};

/// Name of the cookie that carries a customer's session. The prefix has browsers refuse it without `Secure`, with a
/// domain, or for a part of the paths.
pub const CUSTOMER_COOKIE: &str = "__Host-customer_session";

/// The token that a request's cookie carries; never printed.
#[derive(Clone)]
pub struct CustomerToken(String);

impl CustomerToken {
    /// That of the customer's cookie. What does not look like a token is none, so that nobody is looked up for it.
    pub fn shown(headers: &HeaderMap) -> Option<Self> {
        cookie(headers, CUSTOMER_COOKIE).filter(|token| is_token(token)).map(|token| Self(token.to_owned()))
    }

    /// The form in which its session is stored.
    pub fn hash(&self) -> String {
        credentials::session_hash(&self.0)
    }
}

impl Credentials {
    /// Looks up the session of a customer's token. One that has expired, was signed out or never was is refused.
    pub(crate) async fn of_customer(app: &AccessHandles, token: Option<CustomerToken>) -> Self {
        let Some(token) = token else { return Self::Nothing };
        let found = app.queries.customer_session(&token.hash()).await;
        let session = match found {
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

/// How a customer signs in, for whoever has not.
pub(super) const SIGN_IN_FIRST: &str = "sign in first: ask for a link with POST /api/v1/auth/magic-link";

/// Returns the 401 of a caller without a session. Where the server's address is plain http it names the reason that
/// somebody who has just signed in would look for.
fn sign_in_first(app: &AccessHandles) -> ApiError {
    if app.config.public_url().starts_with("https://") {
        return ApiError::unauthorized(SIGN_IN_FIRST);
    }
    ApiError::unauthorized(format!(
        "{SIGN_IN_FIRST}. The cookie of the session is `Secure`: browsers send it over https alone, and the address of this server \
         is plain http"
    ))
}

/// Who asks a route of the billing API, if they may. Its credentials were looked up before.
pub(super) fn admit(
    app: &AccessHandles,
    need: RequiredAccess,
    request: &Request,
    request_id: Option<Arc<str>>,
) -> Result<Caller, ApiError> {
    let known = request.extensions().get::<Credentials>();
    if need != RequiredAccess::Customer {
        own_pages(app, request)?;
        return Ok(Caller { by: Arc::new(Principal::Anonymous), session: None, request_id });
    }
    let from_machine = request.extensions().get::<FromMachine>().is_some();
    let Some(Credentials::Customer(found)) = known.filter(|_| !from_machine) else { return Err(sign_in_first(app)) };
    let (by, session) = found.clone()?;
    own_pages(app, request)?;
    Ok(Caller { by, session: Some(session), request_id })
}

/// Refuses a change that the page of a stranger has a customer's browser send.
fn own_pages(app: &AccessHandles, request: &Request) -> Result<(), ApiError> {
    let (method, headers, path) = (request.method(), request.headers(), request.uri().path());
    if pages::is_path(path) {
        // Their forms are sent by themselves alone, whether somebody is signed in or not.
        return super::same_site(app, method, headers);
    }
    let rides_on_cookie = cookie(headers, CUSTOMER_COOKIE).is_some();
    let allowed =
        || csrf::allowed_for_customers(method, headers, &app.config.public_url(), &app.config.server.cors_origins);
    if !rides_on_cookie || allowed() {
        Ok(())
    } else {
        Err(ApiError::forbidden("cross_site", "requests from other sites are refused"))
    }
}
