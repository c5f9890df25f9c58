//! Signing in and out by the forms of pages: the answers of the API, of which a page takes the cookie and the words.
//! Sessions as pages list them: everybody's own, and for admins those of the whole staff.

use std::net::IpAddr;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::{SessionHandles, login, logout, open_sessions, password, start_session};
use crate::domain::access::{AccessCommand, Session};
use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use crate::http::access::{Caller, with_access};
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::ApiError;
use crate::http::limits::layer::ClientAddress;

/// The answer of the API to a sign-in with what a form says; a refusal is an answer too.
pub(crate) async fn signed_in_by_page(
    app: SessionHandles,
    from: IpAddr,
    call: CommandRequest,
    (email, password, code): (&str, &str, &str),
) -> Response {
    let mut said = json!({"email": email, "password": password});
    if !code.is_empty() {
        said["code"] = json!(code);
    }
    login(State(app), ClientAddress(from), call.with_body(&said)).await.into_response()
}

/// The answer of the API to a change of one's own password; a refusal is an answer too.
pub(crate) async fn password_by_page(
    app: SessionHandles,
    from: IpAddr,
    call: &CommandRequest,
    (current, new): (&str, &str),
) -> Response {
    let said = json!({"currentPassword": current, "newPassword": new});
    password(State(app), ClientAddress(from), call.of_form(&said)).await.into_response()
}

/// Opens a session of a member of staff who has shown something else than a password: the cookie that carries it. 404
/// if the account is closed.
pub(crate) async fn session_without_password(
    app: &SessionHandles,
    who: &Caller,
    headers: &HeaderMap,
    user: Id,
) -> Result<HeaderValue, ApiError> {
    let known = with_access(&app.access, |access| access.user(user).cloned())?;
    let known = known.filter(|user| user.active && !user.archived).ok_or_else(|| Refusal::not_found("user"))?;
    start_session(app, headers, who.request_id.clone(), &known, None).await
}

/// The answer of the API to a sign-out.
pub(crate) async fn signed_out_by_page(
    app: SessionHandles,
    who: Caller,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    Ok(logout(State(app), who, headers).await?.into_response())
}

/// A session of a member of staff, as pages list it.
pub(crate) struct ListedSession {
    pub(crate) id: Id,
    /// Who signed in.
    pub(crate) email: String,
    /// When its last request came.
    pub(crate) seen_at: Timestamp,
    /// When it was started by signing in.
    pub(crate) created_at: Timestamp,
    /// The browser, as its `User-Agent` names it.
    pub(crate) agent: Option<String>,
    /// Whether this page was asked for with it.
    pub(crate) current: bool,
}

/// Whether somebody may see a session and end it: their own, and admins those of all.
fn may_end(who: &Caller, user: Id, session: &Session) -> bool {
    session.user_id == user || who.has(Role::Admin)
}

/// The sessions that somebody may end: those that were used last come first.
pub(crate) fn sessions_by_page(app: &SessionHandles, who: &Caller) -> Result<Vec<ListedSession>, ApiError> {
    let user = who.user()?;
    let open = open_sessions(app, |session| may_end(who, user, session))?;
    let mut listed = with_access(&app.access, |access| {
        let one = |session: &Session| ListedSession {
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

/// Ends one of the sessions that they may end.
pub(crate) async fn end_session_by_page(app: &SessionHandles, id: Id, call: &CommandRequest) -> Result<(), ApiError> {
    let user = call.who.user()?;
    let known = open_sessions(app, |session| session.id == id && may_end(&call.who, user, session))?;
    if known.is_empty() {
        return Err(Refusal::not_found("session").into());
    }
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), AccessCommand::EndSession(id)).await.map(|_| ())
}
