//! Signing in and out of the shop's half, and one's own password and sessions (decisions §2).

use super::users;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::config::Mode;
use crate::domain::access::{AccessAnswer, AccessCommand, Session, User, UserChange, normal_email};
use crate::domain::id::Id;
use crate::domain::limits::Named;
use crate::domain::principal::Principal;
use crate::domain::refusal::Refusal;
use crate::http::AppState;
use crate::http::access::{COOKIE, Caller, cookie, with_access};
use crate::http::body::sure;
use crate::http::command_request::{CommandRequest, CommandTarget};
use crate::http::error::{Answer, ApiError};
use crate::http::limits::layer::Client;
use crate::http::limits::{Charge, within};
use crate::http::page::{Params, body, cut};
use crate::http::reply;
use crate::secrets::credentials::{self, PASSWORD_LONGEST};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use std::sync::Arc;

const AGENT_LONGEST: usize = 300;

/// `POST /api/auth/login {email, password}`: 200 `{user}` and the cookie, with a new token at each sign-in.
pub async fn login(State(app): State<AppState>, Client(from): Client, call: CommandRequest) -> Answer {
    let mut fields = call.fields()?;
    let (email, password): (Option<String>, Option<String>) = (fields.need("email"), fields.need("password"));
    fields.finish()?;
    let (email, password) = (normal_email(&sure(email)?)?, sure(password)?);
    let tries = [Charge::of_pair(Named::Login, &email, from)];
    within(&app, &tries, open_session(&app, &call, &email, password)).await
}

async fn open_session(app: &AppState, call: &CommandRequest, email: &str, password: String) -> Answer {
    let user = with_access(app, |access| access.user_by_email(email).cloned())?;
    let hash = user.as_ref().map(|user| user.password_hash.clone());
    let right =
        password.len() <= PASSWORD_LONGEST && app.hashing.run(move || check(&password, hash.as_deref())).await?;
    let Some(user) = user.filter(|user| right && user.active) else {
        let message = "the e-mail address or the password is wrong";
        let wrong = ApiError::new(StatusCode::UNAUTHORIZED, "wrong_credentials", message);
        return Err(wrong.facts(json!({ "email": email })));
    };
    let token = credentials::session_token();
    let agent = call.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let open = AccessCommand::OpenSession {
        user: user.id,
        hash: credentials::session_hash(&token),
        agent: agent.map(|agent| agent.chars().take(AGENT_LONGEST).collect()),
    };
    let by = Arc::new(principal(&user));
    let caller = CommandOrigin { by, request_id: call.who.request_id.clone(), key: None };
    app.access.ask(Id::ONLY, caller, open).await?;
    let mut response = reply::ok(json!({ "user": users::view(&user) }))?;
    response.headers_mut().insert(header::SET_COOKIE, set_cookie(app, &token, None)?);
    Ok(response)
}

fn principal(user: &User) -> Principal {
    Principal::User { id: user.id, email: user.email.clone(), role: user.role }
}

fn check(password: &str, hash: Option<&str>) -> bool {
    match hash {
        Some(hash) => credentials::verify_password(password, hash),
        None => credentials::verify_nobody(password),
    }
}

/// The cookie that carries a token; an age of 0 removes it. Without an age it ends with the browser, or with the session.
fn set_cookie(app: &AppState, token: &str, age: Option<u32>) -> Result<HeaderValue, ApiError> {
    let secure = if app.config.mode == Mode::Production { "; Secure" } else { "" };
    let age = age.map(|age| format!("; Max-Age={age}")).unwrap_or_default();
    HeaderValue::from_str(&format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/{secure}{age}"))
        .map_err(ApiError::internal)
}

/// `POST /api/auth/logout`: ends the session of the cookie, if any.
pub async fn logout(State(app): State<AppState>, who: Caller, headers: HeaderMap) -> Answer {
    if let Some(token) = cookie(&headers, COOKIE) {
        let hash = credentials::session_hash(token);
        let known = with_access(&app, |access| {
            let session = access.sessions.get(&hash)?;
            Some((session.id, access.user(session.user_id)?.clone()))
        })?;
        if let Some((session, user)) = known {
            let by = Arc::new(principal(&user));
            let caller = CommandOrigin { by, request_id: who.request_id, key: None };
            app.access.ask(Id::ONLY, caller, AccessCommand::EndSession(session)).await?;
        }
    }
    let mut response = reply::no_content()?;
    response.headers_mut().insert(header::SET_COOKIE, set_cookie(&app, "", Some(0))?);
    Ok(response)
}

/// `GET /api/auth/me`: the staff member, or the key.
pub async fn me(State(app): State<AppState>, who: Caller) -> Answer {
    match &*who.by {
        Principal::User { id, .. } => {
            let user = with_access(&app, |access| access.user(*id).cloned())?;
            let user = user.ok_or_else(|| Refusal::not_found("user"))?;
            reply::ok(json!({ "user": users::view(&user) }))
        }
        Principal::Key { id, name, role, customer_email } => {
            reply::ok(json!({"apiKey": {"id": id, "name": name, "role": role, "customerEmail": customer_email}}))
        }
        other => reply::ok(json!({"machine": {"name": other.to_string(), "role": other.role()}})),
    }
}

/// `POST /api/auth/password {currentPassword, newPassword}`: 204; all other sessions of the user end.
pub async fn password(State(app): State<AppState>, call: CommandRequest) -> Answer {
    let user = call.who.user()?;
    let mut fields = call.fields()?;
    let current: Option<String> = fields.need("currentPassword");
    let new: Option<String> = fields.need("newPassword");
    if let Some(new) = &new {
        check_password(&mut fields, "newPassword", new);
    }
    fields.finish()?;
    let (current, new) = (sure(current)?, sure(new)?);
    let known = with_access(&app, |access| access.user(user).cloned())?.ok_or_else(|| Refusal::not_found("user"))?;
    let hash = known.password_hash.clone();
    let right = current.len() <= PASSWORD_LONGEST && app.hashing.run(move || check(&current, Some(&hash))).await?;
    if !right {
        return Err(ApiError::forbidden("wrong_password", "the current password is wrong"));
    }
    let password_hash = app.hashing.run(move || credentials::hash_password(&new)).await?;
    let change = UserChange { password_hash: Some(password_hash), ..UserChange::default() };
    let change = AccessCommand::UpdateUser { id: user, if_version: None, change, keep: call.who.session };
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), change).await?;
    reply::no_content()
}

/// Notes what is wrong with a new password.
pub fn check_password(fields: &mut crate::http::body::Fields, name: &str, password: &str) {
    if let Some(fault) = credentials::password_fault(password) {
        fields.check(false, name, fault);
    }
}

/// `GET /api/auth/sessions`: one's own.
pub async fn sessions(State(app): State<AppState>, who: Caller, params: Params) -> Answer {
    let (user, page) = (who.user()?, params.page()?);
    let mut own = own_sessions(&app, user)?;
    own.sort_by_key(|session| std::cmp::Reverse(session.created_at));
    let (some, total) = cut(page, own);
    let view = |session: &Arc<Session>| session_view(&app, session, who.session);
    reply::ok(body(page, "sessions", some.iter().map(view).collect(), total))
}

fn own_sessions(app: &AppState, user: Id) -> Result<Vec<Arc<Session>>, ApiError> {
    let (now, auth) = (app.environment.now(), &app.config.auth);
    let (idle, life) = (auth.session_idle_hours.millis(), auth.session_days.millis());
    with_access(app, |access| {
        let own = access.sessions.values().filter(|session| session.user_id == user);
        let mut own: Vec<_> = own.filter(|session| !session.over(now, idle, life)).cloned().collect();
        // The map has no order of its own, and the list is an answer.
        own.sort_unstable_by_key(|session| session.id);
        own
    })
}

fn session_view(app: &AppState, session: &Session, own: Option<Id>) -> Value {
    let seen = app.last_used.session_seen(session.id).unwrap_or(session.seen_at);
    json!({
        "id": session.id, "createdAt": session.created_at, "seenAt": seen, "agent": session.agent,
        "current": own == Some(session.id),
    })
}

/// `DELETE /api/auth/sessions?id=`: one of one's own sessions, or without an id all but this one.
pub async fn end_sessions(State(app): State<AppState>, params: Params, call: CommandRequest) -> Answer {
    let (user, wanted) = (call.who.user()?, params.id("id")?);
    let own = own_sessions(&app, user)?;
    let ends = |id: Id| wanted.map_or(call.who.session != Some(id), |wanted| wanted == id);
    let ended: Vec<Id> = own.iter().map(|session| session.id).filter(|id| ends(*id)).collect();
    if wanted.is_some() && ended.is_empty() {
        return Err(Refusal::not_found("session").into());
    }
    for session in ended {
        call.ask(&app.access, CommandTarget::Id(Id::ONLY), AccessCommand::EndSession(session)).await?;
    }
    reply::no_content()
}

/// What access answered was not what was asked: a fault of ours.
pub fn unexpected(answer: &AccessAnswer) -> ApiError {
    ApiError::internal(format!("access answered {answer:?}"))
}
