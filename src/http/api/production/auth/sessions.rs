//! Open sessions of the staff. The API lists and ends the caller's own; on pages, admins also see and end those of all
//! other users.

use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::SessionHandles;
use domain::access::{AccessCommand, StaffSession};
use domain::aggregate::Confirmation;
use domain::id::Id;
use domain::principal::Role;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use http::access::{Caller, with_access};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::page::{PageQuery, Query, cut};
use http::reply::{ListPage, NoContent};

/// Selection of the caller's sessions to end.
#[derive(Request, Debug)]
pub(super) struct EndedSessions {
    /// ID of the session to end. If omitted, all sessions except the current one are ended.
    id: Option<Id>,
}

/// Session of a member of staff.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Session", many = "sessions", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8058", "createdAt": "2026-11-01T08:00:00.000Z",
    "seenAt": "2026-11-01T09:30:00.000Z", "agent": "Mozilla/5.0", "current": true,
}))]
pub(super) struct SessionView {
    id: Id,
    /// Time at which the user signed in.
    created_at: Timestamp,
    /// Time of the session's last request.
    seen_at: Timestamp,
    /// The browser's `User-Agent`.
    agent: Option<String>,
    /// `true` for the session with which the request was made.
    current: bool,
}

impl SessionView {
    fn new(app: &SessionHandles, session: &StaffSession, current: Option<Id>) -> Self {
        let StaffSession { id, created_at, .. } = *session;
        let seen_at = app.last_used.session_seen(id).unwrap_or(session.seen_at);
        Self { id, created_at, seen_at, agent: session.agent.clone(), current: current == Some(id) }
    }
}

pub(super) async fn list(
    State(app): State<SessionHandles>,
    who: Caller,
    Query(page): Query<PageQuery>,
) -> Result<ListPage<SessionView>, ApiError> {
    let (user, page) = (who.user()?, page.into());
    let mut own = own_sessions(&app, user)?;
    own.sort_by_key(|session| std::cmp::Reverse(session.created_at));
    let (some, total) = cut(page, own);
    let items = some.iter().map(|session| SessionView::new(&app, session, who.session));
    Ok(ListPage::new(page, items, total))
}

fn own_sessions(app: &SessionHandles, user: Id) -> Result<Vec<Arc<StaffSession>>, ApiError> {
    open_sessions(app, |session| session.user_id == user)
}

/// Returns the selected sessions that have not ended, oldest first.
fn open_sessions(
    app: &SessionHandles,
    is_selected: impl Fn(&StaffSession) -> bool,
) -> Result<Vec<Arc<StaffSession>>, ApiError> {
    let (now, auth) = (app.environment.now(), &app.config.auth);
    let (idle, life) = (auth.session_idle_timeout_hours.millis(), auth.session_max_age_days.millis());
    with_access(&app.access, |access| {
        let selected = access.sessions.values().filter(|session| is_selected(session));
        let mut selected: Vec<_> = selected.filter(|session| !session.over(now, idle, life)).cloned().collect();
        // The map has no order of its own, and the list is an answer.
        selected.sort_unstable_by_key(|session| session.id);
        selected
    })
}

pub(super) async fn end(
    State(app): State<SessionHandles>,
    Query(EndedSessions { id: requested }): Query<EndedSessions>,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    let user = call.who.user()?;
    let own = own_sessions(&app, user)?;
    let ends = |id: Id| requested.map_or(call.who.session != Some(id), |requested| requested == id);
    let ended: Vec<Id> = own.iter().map(|session| session.id).filter(|id| ends(*id)).collect();
    if requested.is_some() && ended.is_empty() {
        return Err(Refusal::not_found("session").into());
    }
    for session in ended {
        call.ask(&app.access, CommandTarget::Id(Id::ONLY), AccessCommand::EndSession(session)).await?;
    }
    Ok(NoContent)
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
pub fn list_sessions(app: &SessionHandles, who: &Caller) -> Result<Vec<ListedSession>, ApiError> {
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
pub async fn end_session(
    app: &SessionHandles,
    id: Id,
    call: &CommandRequest,
) -> Result<CommandOutcome<Confirmation>, ApiError> {
    let user = call.who.user()?;
    let sessions = open_sessions(app, |session| session.id == id && may_end(&call.who, user, session))?;
    if sessions.is_empty() {
        return Err(Refusal::not_found("session").into());
    }
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), AccessCommand::EndSession(id)).await
}
