//! Sign-in and sign-out through page forms, which return the API's responses so that a page can use the cookie and the
//! message; and the list of sessions shown on pages: the user's own or, for admins, those of all staff.

use std::net::IpAddr;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::{SessionHandles, login, logout, open_sessions, password, start_session};
use domain::access::{AccessCommand, StaffSession};
use domain::id::Id;
use domain::principal::Role;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::{Caller, with_access};
use http::command_request::{CommandRequest, CommandTarget};
use http::error::ApiError;
use http::limits::layer::ClientAddress;

/// Signs in with the values from a form and returns the API's response, which may be an error.
pub async fn signed_in_by_page(
    app: SessionHandles,
    from: IpAddr,
    call: CommandRequest,
    (email, password, code): (&str, &str, &str),
) -> Response {
    let mut body = json!({"email": email, "password": password});
    if !code.is_empty() {
        body["code"] = json!(code);
    }
    login(State(app), ClientAddress(from), call.with_body(&body)).await.into_response()
}

/// Changes the caller's own password and returns the API's response, which may be an error.
pub async fn password_by_page(
    app: SessionHandles,
    from: IpAddr,
    call: &CommandRequest,
    (current, new): (&str, &str),
) -> Response {
    let body = json!({"currentPassword": current, "newPassword": new});
    password(State(app), ClientAddress(from), call.of_form(&body)).await.into_response()
}

/// Opens a session for a member of staff who has authenticated without a password, and returns the session cookie.
/// Fails with 404 if the account is closed.
pub async fn session_without_password(
    app: &SessionHandles,
    who: &Caller,
    headers: &HeaderMap,
    user: Id,
) -> Result<HeaderValue, ApiError> {
    let account = with_access(&app.access, |access| access.user(user).cloned())?;
    let account = account.filter(|user| user.active && !user.archived).ok_or_else(|| Refusal::not_found("user"))?;
    start_session(app, headers, who.request_id.clone(), &account, None).await
}

/// Signs out and returns the API's response.
pub async fn signed_out_by_page(app: SessionHandles, who: Caller, headers: HeaderMap) -> Result<Response, ApiError> {
    Ok(logout(State(app), who, headers).await?.into_response())
}

/// Staff session as listed on pages.
pub struct ListedSession {
    /// ID of the session.
    pub id: Id,
    /// Email address of the user.
    pub email: String,
    /// Time of the session's last request.
    pub seen_at: Timestamp,
    /// Time at which the user signed in.
    pub created_at: Timestamp,
    /// The browser's `User-Agent`.
    pub agent: Option<String>,
    /// `true` for the session with which the page was requested.
    pub current: bool,
}

/// Returns whether the caller may see and end a session: their own or, for admins, any session.
fn may_end(who: &Caller, user: Id, session: &StaffSession) -> bool {
    session.user_id == user || who.has(Role::Admin)
}

/// Returns the sessions that the caller may end, most recently used first.
pub fn sessions_by_page(app: &SessionHandles, who: &Caller) -> Result<Vec<ListedSession>, ApiError> {
    let user = who.user()?;
    let open = open_sessions(app, |session| may_end(who, user, session))?;
    let mut listed = with_access(&app.access, |access| {
        let one = |session: &StaffSession| ListedSession {
            id: session.id,
            email: access.user(session.user_id).map(|user| user.email.clone()).unwrap_or_default(),
            seen_at: app.last_used.session_seen(session.id).unwrap_or(session.seen_at),
            created_at: session.created_at,
            agent: session.agent.clone(),
            current: who.session == Some(session.id),
        };
        open.iter().map(|session| one(session)).collect::<Vec<_>>()
    })?;
    listed.sort_by_key(|session| std::cmp::Reverse((session.seen_at, session.id)));
    Ok(listed)
}

/// Ends a session; fails with 404 unless the caller may end it.
pub async fn end_session_by_page(app: &SessionHandles, id: Id, call: &CommandRequest) -> Result<(), ApiError> {
    let user = call.who.user()?;
    let sessions = open_sessions(app, |session| session.id == id && may_end(&call.who, user, session))?;
    if sessions.is_empty() {
        return Err(Refusal::not_found("session").into());
    }
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), AccessCommand::EndSession(id)).await.map(|_| ())
}
