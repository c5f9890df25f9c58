//! Sign-in and sign-out for the production API, and management of one's own password and sessions.

mod account;
mod identity;
mod sessions;
mod tries;

pub use account::{AccountChange, change_account, own_language};
pub use sessions::{ListedSession, end_session, list_sessions};
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
    Access, AccessCommand, CREDENTIALS_CHANGED, OpenStaffSession, StaffCommand, User, UserAnswer, UserEdit,
    normal_email,
};
use domain::id::Id;
use domain::password::MAX_PASSWORD_BYTES;
use domain::principal::{Principal, Role};
use domain::refusal::Refusal;
use domain::second_factor::{FactorProof, SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
use http::access::{COOKIE, Caller, RequiredAccess, cookie, with_access};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::handles::handles;
use http::hashing::Hashing;
use http::last_used::LastUsed;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter};
use http::reply::{NoContent, Plain, WithCookie};
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
        .patch(session, "/api/auth/me", account::update, |op| {
            op.named("updateAccount", "Update your account").about("Changes the settings that need no password.")
        })
        .post(session, "/api/auth/password", password, |op| {
            op.named("changePassword", "Change your password").about("Ends all your other sessions.").error(
                403,
                "wrong_password",
                "The current password is incorrect.",
            )
        })
        .get(session, "/api/auth/sessions", sessions::list, |op| op.named("listSessions", "List your sessions"))
        .delete(session, "/api/auth/sessions", sessions::end, |op| {
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

/// Member of staff who is signed in.
#[derive(Response, Serialize)]
#[api(example = json!({"user": UserView::example()}))]
pub struct SignedIn {
    pub(super) user: UserView,
}

/// Member of staff who has just signed in.
pub struct StaffSignIn {
    /// Account, as it was when the password was checked.
    pub user: Arc<User>,
    /// Cookie of the new session.
    pub cookie: HeaderValue,
}

impl StaffSignIn {
    fn into_reply(self) -> WithCookie<Plain<SignedIn>> {
        WithCookie { reply: Plain(SignedIn { user: UserView::new(&self.user) }), cookie: self.cookie }
    }
}

/// Signs a member of staff in with the credentials in the request. Attempts are rate-limited by account and address.
pub async fn sign_in(
    app: &SessionHandles,
    from: IpAddr,
    call: &CommandRequest<LoginCredentials>,
) -> Result<LimitedReply<StaffSignIn>, ApiError> {
    let LoginCredentials { email, password, code } = call.read_body()?;
    sign_in_with(app, from, call, (&email, password, code)).await
}

async fn login(
    State(app): State<SessionHandles>,
    ClientAddress(from): ClientAddress,
    call: CommandRequest<LoginCredentials>,
) -> Result<LimitedReply<WithCookie<Plain<SignedIn>>>, ApiError> {
    let reply = sign_in(&app, from, &call).await?;
    Ok(reply.map_answer(|answer| answer.map(StaffSignIn::into_reply)))
}

/// Signs a member of staff in as [`sign_in`] does, with the given email address, password and code.
pub async fn sign_in_with<B>(
    app: &SessionHandles,
    from: IpAddr,
    call: &CommandRequest<B>,
    (email, password, code): (&str, String, Option<String>),
) -> Result<LimitedReply<StaffSignIn>, ApiError> {
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
) -> Result<StaffSignIn, ApiError> {
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
    Ok(StaffSignIn { user, cookie })
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

/// Ends the session identified by the cookie, if any, and returns the cookie that clears it.
pub async fn sign_out(app: &SessionHandles, who: &Caller, headers: &HeaderMap) -> Result<HeaderValue, ApiError> {
    if let Some(token) = cookie(headers, COOKIE) {
        let hash = credentials::session_hash(token);
        let open_session = with_access(&app.access, |access| {
            let session = access.sessions.get(&hash)?;
            Some((session.id, access.user(session.user_id)?.clone()))
        })?;
        if let Some((session, user)) = open_session {
            let by_user = origin(&user, who.request_id.clone());
            app.access.ask(Id::ONLY, by_user, AccessCommand::EndSession(session)).await?;
        }
    }
    set_cookie(app, "", Some(0))
}

async fn logout(
    State(app): State<SessionHandles>,
    who: Caller,
    headers: HeaderMap,
) -> Result<WithCookie<NoContent>, ApiError> {
    let cookie = sign_out(&app, &who, &headers).await?;
    Ok(WithCookie { reply: NoContent, cookie })
}

async fn me(State(app): State<SessionHandles>, who: Caller) -> Result<Plain<Identity>, ApiError> {
    Ok(Plain(Identity::of(&app.access, &who.by)?))
}

/// Changes the caller's own password. Attempts are rate-limited as those to sign in are.
pub async fn change_password(
    app: &SessionHandles,
    from: IpAddr,
    call: &CommandRequest<PasswordChange>,
) -> Result<LimitedReply<CommandOutcome<UserAnswer>>, ApiError> {
    let user = call.who.user()?;
    let account = with_access(&app.access, |access| access.user(user).cloned())?;
    let account = account.ok_or_else(|| Refusal::not_found("user"))?;
    within_tries(app, &account.email, from, Box::pin(set_password(app, call, &account))).await
}

async fn password(
    State(app): State<SessionHandles>,
    ClientAddress(from): ClientAddress,
    call: CommandRequest<PasswordChange>,
) -> Result<LimitedReply<NoContent>, ApiError> {
    let reply = change_password(&app, from, &call).await?;
    Ok(reply.map_answer(|answer| answer.map(|_| NoContent)))
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

async fn set_password(
    app: &SessionHandles,
    call: &CommandRequest<PasswordChange>,
    user: &User,
) -> Result<CommandOutcome<UserAnswer>, ApiError> {
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
        outcome => outcome,
    }
}
