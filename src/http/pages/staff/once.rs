//! Signing in by the link that a demo prints: on its own machine, once.

use std::sync::Arc;

use api_derive::Request;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;

use super::FLOOR_PATH;
use crate::http::access::Caller;
use crate::http::admission::Peer;
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::local_sign_in::LocalSignInDesk;
use crate::http::page::OpenQuery;
use crate::http::pages::frame::lead_on;
use crate::http::production::auth::{SessionHandles, session_without_password};

/// What says that a proxy passed a request on for somebody else.
const FORWARDED_HEADERS: [&str; 3] = ["forwarded", "x-forwarded-for", "x-real-ip"];

handles! {
    /// What signing in by a link uses.
    pub(crate) struct SignInOnceHandles {
        desk: Arc<LocalSignInDesk>,
        sessions: SessionHandles,
    }
}

/// What stands behind the path of the link.
#[derive(Request, Debug)]
pub(super) struct OnceQuery {
    /// The secret of the link.
    token: Option<String>,
}

/// A request that comes from a browser of this very machine; others are refused with 403.
pub(super) struct SameMachine;

impl<S: Sync> FromRequestParts<S> for SameMachine {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let near = parts.extensions.get::<Peer>().is_some_and(|peer| peer.0.to_canonical().is_loopback());
        let passed_on = FORWARDED_HEADERS.iter().any(|name| parts.headers.contains_key(*name));
        let elsewhere = || ApiError::forbidden("other_machine", "this link works on the machine of the server alone");
        (near && !passed_on).then_some(Self).ok_or_else(elsewhere)
    }
}

/// Answers GET of the link. The browser is led on by the page and not by the answer itself: a cookie that no other site
/// may use is sent again only from a page of this server.
pub(super) async fn enter(
    State(app): State<SignInOnceHandles>,
    _: SameMachine,
    who: Caller,
    headers: HeaderMap,
    OpenQuery(query): OpenQuery<OnceQuery>,
) -> Result<Response, ApiError> {
    let now = app.sessions.environment.now();
    let user = query.token.as_deref().and_then(|token| app.desk.redeem(token, now));
    let spent =
        || ApiError::new(StatusCode::GONE, "link_spent", "the link was used before, is too old, or never was one");
    let user = user.ok_or_else(spent)?;
    let cookie = session_without_password(&app.sessions, &who, &headers, user).await?;
    let mut response = lead_on(FLOOR_PATH, "You are signed in");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}
