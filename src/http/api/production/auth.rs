//! Sign-in and sign-out for the production API, and management of one's own password and sessions.

mod by_page;
mod identity;
mod tries;

pub use by_page::{
    ListedSession, end_session_by_page, password_by_page, session_without_password, sessions_by_page,
    signed_in_by_page, signed_out_by_page,
};
pub(super) use tries::within_tries;

use std::net::IpAddr;
use std::sync::Arc;

use api_derive::{Request, Response};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::json;

use self::identity::Identity;
use super::second_factor::{MAX_CODE_CHARS, TOO_MANY_CODES_WHEN, sign_in_proof, wrong_code};
use super::users::{UserView, refuse_own_address};
use config::Config;
use domain::access::{
    Access, AccessCommand, CREDENTIALS_CHANGED, OpenStaffSession, SECOND_FACTOR_REQUIRED, StaffCommand, StaffSession,
    TOO_MANY_CODES, User, UserEdit, WRONG_CODE, normal_email,
};
use domain::id::Id;
use domain::password::MAX_PASSWORD_BYTES;
use domain::principal::{Principal, Role};
use domain::refusal::Refusal;
use domain::second_factor::FactorProof;
use domain::time::Timestamp;
use http::access::{COOKIE, Caller, RequiredAccess, cookie, with_access};
use http::command_request::{CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handles::handles;
use http::hashing::Hashing;
use http::last_used::LastUsed;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter};
use http::page::{PageQuery, Query, cut};
use http::reply::{ListPage, NoContent, Plain, WithCookie};
use http::routes::ResourceRoutes;
use http::wire::{EmailAddress, MaxChars, NewPassword, SecretText};
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::AskError;
use platform::secrets::credentials;
use platform::secrets::encryption::SecretCipher;

/// OpenAPI tag for sign-in, sessions and API keys.
pub const TAG: &str = "Access";
/// OpenAPI description of [`TAG`].
pub const TAG_ABOUT: &str = "Sign-in, sessions and passwords of staff, and API keys.";
/// Maximum length, in characters, of the `User-Agent` stored for the list of sessions.
const MAX_AGENT_CHARS: usize = 300;

handles! {
    /// Dependencies of the session routes.
    pub struct SessionHandles {
        access: Directory<Access>,
        hashing: Hashing,
        last_used: Arc<LastUsed>,
        limits: Arc<RateLimiter>,
        environment: Arc<Environment>,
        config: Arc<Config>,
        cipher: Arc<SecretCipher>,
    }
}

/// Returns the routes for sign-in, sign-out, and one's own password and sessions.
pub fn routes() -> ResourceRoutes {
    let (open, session) = (RequiredAccess::Open, RequiredAccess::Session);
    ResourceRoutes::new(TAG, TAG_ABOUT, "session")
        .post(open, "/api/auth/login", login, |op| {
            op.named("login", "Sign in")
                .about(
                    "Each sign-in starts a session with a new token. A session ends when it has not been used for \
                     `auth.session_idle_timeout_hours`, and after `auth.session_max_age_days` at the latest; both are \
                     server settings.",
                )
                .error(401, "wrong_credentials", "The email address or the password is incorrect.")
                .error(401, SECOND_FACTOR_REQUIRED, "The account also requires a code; send it as `code`.")
                .error(401, WRONG_CODE, "The code is incorrect or was already used.")
                .error(429, TOO_MANY_CODES, TOO_MANY_CODES_WHEN)
        })
        .post(open, "/api/auth/logout", logout, |op| {
            op.named("logout", "Sign out")
                .about("Ends the session identified by the cookie, if any, and clears the cookie.")
        })
        .get(RequiredAccess::Role(Role::Customer), "/api/auth/me", me, |op| {
            op.named("whoAmI", "Retrieve the caller").about(
                "The caller is a member of staff, an API key, or the owner of the machine over the control socket.",
            )
        })
        .post(session, "/api/auth/password", password, |op| {
            op.named("changePassword", "Change your password").about("Ends all your other sessions.").error(
                403,
                "wrong_password",
                "The current password is incorrect.",
            )
        })
        .get(session, "/api/auth/sessions", sessions, |op| op.named("listSessions", "List your sessions"))
        .delete(session, "/api/auth/sessions", end_sessions, |op| {
            op.named("endSessions", "End your sessions")
                .about("Ends the session with this `id`, or all sessions except the current one.")
                .error(404, "session_not_found", "The caller has no such session.")
        })
}

/// Credentials of a member of staff.
#[derive(Request, Debug)]
#[api(name = "Credentials", example = json!({"email": "sam@example.org", "password": "correct horse battery"}))]
pub struct LoginCredentials {
    #[api(EmailAddress)]
    email: String,
    #[api(SecretText)]
    password: String,
    /// Current code of the authenticator app, or a recovery code. Required only for accounts with a second factor.
    #[api(MaxChars(MAX_CODE_CHARS))]
    code: Option<String>,
}

/// Change of the caller's own password.
#[derive(Request, Debug)]
#[api(example = json!({"currentPassword": "correct horse battery", "newPassword": "battery horse correct"}))]
pub struct PasswordChange {
    /// Current password. Required so that a stolen session cannot be used to change the password.
    #[api(SecretText)]
    current_password: String,
    /// New password: at least 10 characters and at most 1024 bytes; not blank, not among the most common passwords, and
    /// not the caller's own email address.
    #[api(NewPassword)]
    new_password: String,
}

/// Selection of the caller's sessions to end.
#[derive(Request, Debug)]
pub struct EndedSessions {
    /// ID of the session to end. If omitted, all sessions except the current one are ended.
    id: Option<Id>,
}

/// Member of staff who is signed in.
#[derive(Response, Serialize)]
#[api(example = json!({"user": UserView::example()}))]
pub struct SignedIn {
    pub(super) user: UserView,
}

/// Session of a member of staff.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "Session", many = "sessions", example = json!({
    "id": "01890a5d-ac96-774b-bcce-b302099a8058", "createdAt": "2026-11-01T08:00:00.000Z",
    "seenAt": "2026-11-01T09:30:00.000Z", "agent": "Mozilla/5.0", "current": true,
}))]
struct SessionView {
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

async fn login(
    State(app): State<SessionHandles>,
    ClientAddress(from): ClientAddress,
    call: CommandRequest<LoginCredentials>,
) -> Result<LimitedReply<WithCookie<Plain<SignedIn>>>, ApiError> {
    let LoginCredentials { email, password, code } = call.read_body()?;
    sign_in(&app, from, &call, (&email, password, code)).await
}

/// Signs a member of staff in with a password. Attempts are rate-limited by account and address.
pub async fn sign_in<B>(
    app: &SessionHandles,
    from: IpAddr,
    call: &CommandRequest<B>,
    (email, password, code): (&str, String, Option<String>),
) -> Result<LimitedReply<WithCookie<Plain<SignedIn>>>, ApiError> {
    let email = normal_email(email)?;
    within_tries(app, &email, from, Box::pin(open_session(app, call, &email, password, code))).await
}

fn wrong_credentials(email: &str) -> ApiError {
    let message = "the email address or the password is incorrect";
    ApiError::new(StatusCode::UNAUTHORIZED, "wrong_credentials", message).facts(json!({ "email": email }))
}

async fn open_session<B>(
    app: &SessionHandles,
    call: &CommandRequest<B>,
    email: &str,
    password: String,
    code: Option<String>,
) -> Result<WithCookie<Plain<SignedIn>>, ApiError> {
    let user = with_access(&app.access, |access| access.user_by_email(email).cloned())?;
    let hash = user.as_ref().map(|user| user.password_hash.clone());
    let right =
        password.len() <= MAX_PASSWORD_BYTES && app.hashing.run(move || check(&password, hash.as_deref())).await?;
    let Some(user) = user.filter(|user| right && user.active) else {
        return Err(wrong_credentials(email));
    };
    let by_user = origin(&user, call.who.request_id.clone());
    let proof = sign_in_proof(app, &user, by_user, code.as_deref()).await?;
    let cookie = start_session(app, &call.headers, call.who.request_id.clone(), &user, proof).await?;
    let reply = Plain(SignedIn { user: UserView::new(&user) });
    Ok(WithCookie { reply, cookie })
}

/// Opens a session for a user whose password was just checked or set, and returns the session cookie.
pub(super) async fn start_session(
    app: &SessionHandles,
    headers: &HeaderMap,
    request_id: Option<Arc<str>>,
    user: &User,
    proof: Option<FactorProof>,
) -> Result<HeaderValue, ApiError> {
    let token = credentials::session_token();
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let open = OpenStaffSession {
        user: user.id,
        checked_hash: user.password_hash.clone(),
        hash: credentials::session_hash(&token),
        agent: agent.map(|agent| agent.chars().take(MAX_AGENT_CHARS).collect()),
        proof,
    };
    match app.access.ask(Id::ONLY, origin(user, request_id), open).await {
        // The password was changed, or the account closed, while this sign-in waited.
        Err(AskError::Refused(refusal)) if refusal.code == CREDENTIALS_CHANGED => Err(wrong_credentials(&user.email)),
        Err(AskError::Refused(refusal)) if refusal.code == SECOND_FACTOR_REQUIRED => {
            let required = ApiError::new(StatusCode::UNAUTHORIZED, SECOND_FACTOR_REQUIRED, refusal.message.clone());
            Err(required.facts(json!({ "email": user.email })))
        }
        // Another sign-in has used the code at the same moment.
        Err(AskError::Refused(refusal)) if refusal.code == WRONG_CODE => Err(wrong_code(StatusCode::UNAUTHORIZED)),
        outcome => {
            outcome?;
            set_cookie(app, &token, None)
        }
    }
}

/// Returns the command origin of a user who is signing in or out.
fn origin(user: &User, request_id: Option<Arc<str>>) -> CommandOrigin {
    let by = Principal::User { id: user.id, email: user.email.clone(), role: user.role };
    CommandOrigin { by: Arc::new(by), request_id, key: None }
}

fn check(password: &str, hash: Option<&str>) -> bool {
    match hash {
        Some(hash) => credentials::verify_password(password, hash),
        None => credentials::verify_nobody(password),
    }
}

/// Builds the session cookie from the given token. An `age` of 0 removes the cookie; with `None`, the cookie lasts
/// until the browser closes or the session ends.
fn set_cookie(app: &SessionHandles, token: &str, age: Option<u32>) -> Result<HeaderValue, ApiError> {
    let secure = if app.config.has_secure_cookies() { "; Secure" } else { "" };
    let age = age.map(|age| format!("; Max-Age={age}")).unwrap_or_default();
    HeaderValue::from_str(&format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/{secure}{age}"))
        .map_err(ApiError::internal)
}

async fn logout(
    State(app): State<SessionHandles>,
    who: Caller,
    headers: HeaderMap,
) -> Result<WithCookie<NoContent>, ApiError> {
    if let Some(token) = cookie(&headers, COOKIE) {
        let hash = credentials::session_hash(token);
        let open_session = with_access(&app.access, |access| {
            let session = access.sessions.get(&hash)?;
            Some((session.id, access.user(session.user_id)?.clone()))
        })?;
        if let Some((session, user)) = open_session {
            app.access.ask(Id::ONLY, origin(&user, who.request_id), AccessCommand::EndSession(session)).await?;
        }
    }
    Ok(WithCookie { reply: NoContent, cookie: set_cookie(&app, "", Some(0))? })
}

async fn me(State(app): State<SessionHandles>, who: Caller) -> Result<Plain<Identity>, ApiError> {
    Ok(Plain(Identity::of(&app.access, &who.by)?))
}

async fn password(
    State(app): State<SessionHandles>,
    ClientAddress(from): ClientAddress,
    call: CommandRequest<PasswordChange>,
) -> Result<LimitedReply<NoContent>, ApiError> {
    let user = call.who.user()?;
    let account = with_access(&app.access, |access| access.user(user).cloned())?;
    let account = account.ok_or_else(|| Refusal::not_found("user"))?;
    within_tries(&app, &account.email, from, Box::pin(change_password(&app, &call, &account))).await
}

/// Returns the error for an incorrect current password.
pub(super) fn wrong_password() -> ApiError {
    ApiError::forbidden("wrong_password", "the current password is incorrect")
}

/// Returns whether `password` is the user's current password.
pub(super) async fn is_password_of(app: &SessionHandles, user: &User, password: String) -> Result<bool, ApiError> {
    let hash = user.password_hash.clone();
    Ok(password.len() <= MAX_PASSWORD_BYTES && app.hashing.run(move || check(&password, Some(&hash))).await?)
}

async fn change_password(
    app: &SessionHandles,
    call: &CommandRequest<PasswordChange>,
    user: &User,
) -> Result<NoContent, ApiError> {
    let command = async {
        let PasswordChange { current_password: current, new_password: new } = call.read_body()?;
        if !is_password_of(app, user, current).await? {
            return Err(wrong_password());
        }
        refuse_own_address("newPassword", &new, &user.email)?;
        let password_hash = app.hashing.run(move || credentials::hash_password(&new)).await?;
        let change = UserEdit { password_hash: Some(password_hash), ..UserEdit::default() };
        let (keep, checked_hash) = (call.who.session, Some(user.password_hash.clone()));
        Ok(StaffCommand::Update { id: user.id, if_version: None, checked_hash, change, keep })
    };
    match call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await {
        Err(error) if error.code() == CREDENTIALS_CHANGED => Err(wrong_password()),
        outcome => outcome.map(|_| NoContent),
    }
}

async fn sessions(
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

async fn end_sessions(
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
