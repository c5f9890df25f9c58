//! Sign-in with the single-use link printed by a demo, which works only on the server's own machine. The demo requests
//! the link over the control socket.

use std::sync::Arc;

use api_derive::Request;
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::FLOOR_PATH;
use crate::frame::lead_on;
use domain::principal::Principal;
use http::access::Caller;
use http::admission::RemoteAddress;
use http::error::ApiError;
use http::handles::handles;
use http::local_sign_in::LocalSignInHolder;
use http::page::OpenQuery;
use http_api::production::auth::{SessionHandles, session_without_password};
use words::staff::sign_in;

/// Headers with which proxies mark requests as forwarded.
const FORWARDED_HEADERS: [&str; 3] = ["forwarded", "x-forwarded-for", "x-real-ip"];

handles! {
    /// Dependencies of signing in with a single-use link.
    pub(crate) struct SignInOnceHandles {
        desk: Arc<LocalSignInHolder>,
        sessions: SessionHandles,
    }
}

/// Query parameters of the sign-in link.
#[derive(Request, Debug)]
pub(super) struct OnceQuery {
    /// Secret contained in the link.
    token: Option<String>,
}

/// Query parameters of the request that creates a sign-in link.
#[derive(Request, Debug)]
pub(super) struct NewLinkQuery {
    /// ID of the staff user whom the link signs in.
    user: Option<String>,
}

/// Proof that a request comes directly from this machine; other requests are rejected with 403.
pub(super) struct SameMachine;

impl<S: Sync> FromRequestParts<S> for SameMachine {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let near = parts.extensions.get::<RemoteAddress>().is_some_and(|peer| peer.0.to_canonical().is_loopback());
        let passed_on = FORWARDED_HEADERS.iter().any(|name| parts.headers.contains_key(*name));
        let elsewhere = || ApiError::forbidden("other_machine", "this link works only on the server itself");
        (near && !passed_on).then_some(Self).ok_or_else(elsewhere)
    }
}

/// Signs in the user with the link and serves a page that redirects to the floor. The response itself is not a
/// redirect, because browsers send a `SameSite` cookie only if the navigation starts on a page of this server.
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
        || ApiError::new(StatusCode::GONE, "link_spent", "the link was already used, has expired or is invalid");
    let user = user.ok_or_else(spent)?;
    let cookie = session_without_password(&app.sessions, &who, &headers, user).await?;
    let mut response = lead_on(who.language, FLOOR_PATH, &sign_in::signed_in(who.language));
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Creates a link for a staff user, which replaces any earlier one, and returns its path. Only the machine's owner can
/// create a link, over the control socket.
pub(super) async fn make(
    State(app): State<SignInOnceHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<NewLinkQuery>,
) -> Result<Response, ApiError> {
    if !matches!(*who.by, Principal::Machine) {
        return Err(ApiError::forbidden(
            "owner_only",
            "only the server's owner can create sign-in links, over the control socket",
        ));
    }
    let user = query.user.and_then(|id| id.parse().ok());
    let user = user.ok_or_else(|| ApiError::bad_request("malformed_query", "`user` must be an ID"))?;
    let path = app.desk.make(user, app.sessions.environment.now());
    Ok((StatusCode::CREATED, Json(json!({"path": path}))).into_response())
}
