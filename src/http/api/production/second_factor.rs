//! Second factor of the signed-in user: setup, confirmation and removal, as well as removal by an admin for users who
//! have lost theirs. Codes submitted at sign-in are also checked here.

use std::net::IpAddr;

use api_derive::{Request, Response};
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::json;

use super::auth::{SessionHandles, TAG, TAG_ABOUT, is_password_of, within_tries, wrong_password};
use super::keys::withheld;
use domain::access::{FactorCommand, User, UserAnswer};
use domain::id::Id;
use domain::principal::Role;
use domain::refusal::Refusal;
use domain::second_factor::{
    FactorProof, RECOVERY_CODES, SECRET_BYTES, SecondFactor, TOO_MANY_CODES, WRONG_CODE, app_url, secret_text,
    step_of_code,
};
use domain::time::Timestamp;
use http::access::{Caller, RequiredAccess, with_access};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget};
use http::error::ApiError;
use http::limits::LimitedReply;
use http::limits::layer::ClientAddress;
use http::path_id::PathId;
use http::reply::{NoContent, Plain};
use http::routes::ResourceRoutes;
use http::wire::{MaxChars, SecretText};
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;
use platform::secrets::credentials::{recovery_code, recovery_hash};
use platform::secrets::random::secret_bytes;

const PATH: &str = "/api/auth/second-factor";
/// Maximum length of a code, in characters: that of a recovery code with a few spaces.
pub(super) const MAX_CODE_CHARS: usize = 40;
/// Condition under which further codes are rejected, for the API description.
pub(super) const TOO_MANY_CODES_WHEN: &str = "Five incorrect codes were sent for this account within 15 minutes; \
     retry after the time in `Retry-After`. Password attempts are counted separately.";
/// Shop name shown in authenticator apps if no name is set.
const USUAL_SHOP: &str = "Printfloor";

/// Returns the second factor routes.
pub fn routes() -> ResourceRoutes {
    let (session, admin) = (RequiredAccess::Session, RequiredAccess::Role(Role::Admin));
    ResourceRoutes::new(TAG, TAG_ABOUT, "user")
        .get(session, PATH, show, |op| op.named("getSecondFactor", "Retrieve your second factor"))
        .post(session, PATH, begin, |op| {
            op.named("beginSecondFactor", "Start setting up a second factor")
                .about(
                    "Returns the secret for an authenticator app; it is returned only once. Sign-in does not require a \
                     code until the setup has been confirmed with a first code.",
                )
                .error(403, "wrong_password", "The current password is incorrect.")
                .error(409, "second_factor_on", "A second factor is already set up.")
                .error(
                    409,
                    "answer_withheld",
                    "The first response for this `Idempotency-Key` contained a secret, which is returned only once.",
                )
        })
        .post(session, "/api/auth/second-factor/confirm", confirm, |op| {
            op.named("confirmSecondFactor", "Confirm a second factor")
                .about(
                    "Each sign-in requires a code from now on. Returns the recovery codes, which are returned only \
                     once; each can be used in place of one code. Ends all your other sessions.",
                )
                .error(403, WRONG_CODE, "The code is incorrect or was already used.")
                .error(409, "second_factor_not_begun", "No second factor is being set up.")
                .error(429, TOO_MANY_CODES, TOO_MANY_CODES_WHEN)
                .error(
                    409,
                    "answer_withheld",
                    "The first response for this `Idempotency-Key` contained secrets, which are returned only once.",
                )
        })
        .post(session, "/api/auth/second-factor/remove", remove, |op| {
            op.named("removeSecondFactor", "Remove your second factor")
                .error(403, "wrong_password", "The current password is incorrect.")
                .error(403, WRONG_CODE, "The code is incorrect or was already used.")
                .error(429, TOO_MANY_CODES, TOO_MANY_CODES_WHEN)
        })
        .delete(admin, "/api/users/{id}/second-factor", remove_of_user, |op| {
            op.named("resetSecondFactor", "Remove the second factor of a member of staff")
                .about(
                    "Use this for staff who have lost their app and recovery codes. Ends all sessions of this member \
                     of staff.",
                )
                .error(
                    403,
                    "own_second_factor",
                    "The second factor is your own; remove it with your password and a code.",
                )
        })
}

/// Request to set up a second factor. Requires the current password, so that a stolen session is not enough.
#[derive(Request, Debug)]
#[api(example = json!({"currentPassword": "correct horse battery"}))]
pub struct FactorBeginning {
    /// Current password of the account.
    #[api(SecretText)]
    current_password: String,
}

/// First code from an authenticator app.
#[derive(Request, Debug)]
#[api(example = json!({"code": "287082"}))]
pub struct FactorConfirmation {
    /// Six-digit code currently shown by the app.
    #[api(MaxChars(MAX_CODE_CHARS))]
    code: String,
}

/// Credentials required to remove one's own second factor.
#[derive(Request, Debug)]
#[api(example = json!({"currentPassword": "correct horse battery", "code": "287082"}))]
pub struct FactorRemoval {
    /// Current password of the account.
    #[api(SecretText)]
    current_password: String,
    /// Six-digit code currently shown by the app, or a recovery code.
    #[api(MaxChars(MAX_CODE_CHARS))]
    code: String,
}

/// Second factor of the current user.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SecondFactor", example = json!({
    "on": true, "confirmedAt": "2026-11-01T08:00:00.000Z", "recoveryCodesLeft": 10,
}))]
pub struct SecondFactorView {
    /// `true` if each sign-in requires a code.
    pub on: bool,
    /// Time at which the second factor was confirmed with its first code.
    pub confirmed_at: Option<Timestamp>,
    /// Number of unused recovery codes.
    pub recovery_codes_left: usize,
}

/// Secret for an authenticator app; shown only once.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "SecondFactorSecret", example = json!({
    "secret": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    "url": "otpauth://totp/Printfloor:sam%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Printfloor",
}))]
pub struct FactorSecretView {
    /// Secret in base32, for manual entry into an app.
    pub secret: String,
    /// URL for a QR code that apps scan.
    pub url: String,
}

/// Recovery codes; shown only once.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "RecoveryCodes", example = json!({"recoveryCodes": ["ABCD-EFGH-JKLM", "NPQR-STUV-WXYZ"]}))]
pub struct RecoveryCodesView {
    /// Recovery codes; each can be used once to sign in instead of a code from the app.
    pub recovery_codes: Vec<String>,
}

fn user_of(app: &SessionHandles, who: &Caller) -> Result<std::sync::Arc<User>, ApiError> {
    let id = who.user()?;
    Ok(with_access(&app.access, |access| access.user(id).cloned())?.ok_or_else(|| Refusal::not_found("user"))?)
}

/// Returns the caller's own second factor.
pub fn own_factor(app: &SessionHandles, who: &Caller) -> Result<SecondFactorView, ApiError> {
    let user = user_of(app, who)?;
    let factor = user.second_factor.as_ref().filter(|factor| factor.is_on());
    Ok(SecondFactorView {
        on: factor.is_some(),
        confirmed_at: factor.and_then(|factor| factor.confirmed_at),
        recovery_codes_left: factor.map_or(0, |factor| factor.recovery_hashes.len()),
    })
}

/// Checks a code against a second factor. Reuse of a code is detected when the change that it authorises is applied.
fn proof_of(app: &SessionHandles, factor: &SecondFactor, code: &str) -> Result<Option<FactorProof>, ApiError> {
    let secret = app.cipher.decrypt(&factor.encrypted_secret).map_err(ApiError::internal)?;
    if let Some(step) = step_of_code(&secret, code, app.environment.now(), factor.last_step) {
        return Ok(Some(FactorProof::Step(step)));
    }
    let hash = recovery_hash(code);
    Ok(factor.recovery_hashes.contains(&hash).then_some(FactorProof::Recovery(hash)))
}

/// Counts a code towards the limit before it is checked. Fails with 429 after too many incorrect codes.
async fn count_code(app: &SessionHandles, user: &User, caller: CommandOrigin) -> Result<(), ApiError> {
    match app.access.ask(Id::ONLY, caller, FactorCommand::CountCode(user.id)).await {
        Err(AskError::Refused(refusal)) if refusal.code == TOO_MANY_CODES => {
            let now = app.environment.now();
            let present = with_access(&app.access, |access| access.user(user.id).cloned())?;
            let factor = present.as_ref().and_then(|user| user.second_factor.as_ref());
            let seconds = factor.and_then(|factor| factor.guess_wait_seconds(now)).unwrap_or(1);
            let words = format!("too many incorrect codes were entered; try again in {seconds} seconds");
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, TOO_MANY_CODES, words);
            Err(error.retry_after(seconds).facts(json!({ "email": user.email })))
        }
        outcome => Ok(outcome.map(drop)?),
    }
}

/// Returns the second-factor proof submitted with a sign-in; `None` if none is required or none was submitted. Fails
/// with 401 if the code is incorrect, and with 429 after too many incorrect codes.
pub(super) async fn sign_in_proof(
    app: &SessionHandles,
    user: &User,
    caller: CommandOrigin,
    code: Option<&str>,
) -> Result<Option<FactorProof>, ApiError> {
    let factor = user.second_factor.as_ref().filter(|factor| factor.is_on());
    let code = code.map(str::trim).filter(|code| !code.is_empty());
    let (Some(factor), Some(code)) = (factor, code) else { return Ok(None) };
    count_code(app, user, caller).await?;
    match proof_of(app, factor, code)? {
        Some(proof) => Ok(Some(proof)),
        None => Err(wrong_code(StatusCode::UNAUTHORIZED).facts(json!({ "email": user.email }))),
    }
}

/// Returns the error for a code that is incorrect or has already been used.
pub(super) fn wrong_code(status: StatusCode) -> ApiError {
    ApiError::new(status, WRONG_CODE, "the code is incorrect or was already used; wait for the next one")
}

async fn show(State(app): State<SessionHandles>, who: Caller) -> Result<Plain<SecondFactorView>, ApiError> {
    Ok(Plain(own_factor(&app, &who)?))
}

/// Creates a secret for an authenticator app, to be confirmed with a first code.
pub async fn start_setup(
    app: &SessionHandles,
    from: IpAddr,
    call: &CommandRequest<FactorBeginning>,
) -> Result<LimitedReply<FactorSecretView>, ApiError> {
    let user = user_of(app, &call.who)?;
    within_tries(app, &user.email, from, Box::pin(begin_counted(app, call, &user))).await
}

async fn begin(
    State(app): State<SessionHandles>,
    ClientAddress(from): ClientAddress,
    call: CommandRequest<FactorBeginning>,
) -> Result<LimitedReply<Plain<FactorSecretView>>, ApiError> {
    let reply = start_setup(&app, from, &call).await?;
    Ok(reply.map_answer(|answer| answer.map(Plain)))
}

async fn begin_counted(
    app: &SessionHandles,
    call: &CommandRequest<FactorBeginning>,
    user: &User,
) -> Result<FactorSecretView, ApiError> {
    let secret = secret_text(&secret_bytes::<SECRET_BYTES>());
    let command = async {
        let FactorBeginning { current_password } = call.read_body()?;
        if !is_password_of(app, user, current_password).await? {
            return Err(wrong_password());
        }
        let encrypted_secret = app.cipher.encrypt_or_empty(&secret);
        let checked_hash = user.password_hash.clone();
        Ok(FactorCommand::Begin { user: user.id, checked_hash, encrypted_secret })
    };
    let done = call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await?;
    if done.replayed {
        return Err(withheld());
    }
    let shop = Some(app.config.invoices.seller_name.trim()).filter(|name| !name.is_empty()).unwrap_or(USUAL_SHOP);
    Ok(FactorSecretView { url: app_url(&secret, shop, &user.email), secret })
}

/// Enables the second factor if its first code is correct.
pub async fn turn_on(
    app: &SessionHandles,
    call: &CommandRequest<FactorConfirmation>,
) -> Result<RecoveryCodesView, ApiError> {
    let user = user_of(app, &call.who)?;
    let codes: Vec<String> = (0..RECOVERY_CODES).map(|_| recovery_code()).collect();
    let command = async {
        let FactorConfirmation { code } = call.read_body()?;
        let factor = user.second_factor.clone().unwrap_or_else(|| SecondFactor::unconfirmed(String::new()));
        let command = |step: i64| FactorCommand::Confirm {
            user: user.id,
            encrypted_secret: factor.encrypted_secret.clone(),
            step,
            recovery_hashes: codes.iter().map(|code| recovery_hash(code)).collect(),
            keep: call.who.session,
        };
        // Which of the two it is, is the rules' to say.
        if factor.is_on() || factor.encrypted_secret.is_empty() {
            return Ok(command(0));
        }
        count_code(app, &user, call.origin()).await?;
        match proof_of(app, &factor, &code)? {
            Some(FactorProof::Step(step)) => Ok(command(step)),
            _ => Err(wrong_code(StatusCode::FORBIDDEN)),
        }
    };
    let done = call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await?;
    if done.replayed {
        return Err(withheld());
    }
    Ok(RecoveryCodesView { recovery_codes: codes })
}

async fn confirm(
    State(app): State<SessionHandles>,
    call: CommandRequest<FactorConfirmation>,
) -> Result<Plain<RecoveryCodesView>, ApiError> {
    Ok(Plain(turn_on(&app, &call).await?))
}

/// Disables the caller's own second factor.
pub async fn turn_off(
    app: &SessionHandles,
    from: IpAddr,
    call: &CommandRequest<FactorRemoval>,
) -> Result<LimitedReply<CommandOutcome<UserAnswer>>, ApiError> {
    let user = user_of(app, &call.who)?;
    within_tries(app, &user.email, from, Box::pin(remove_counted(app, call, &user))).await
}

async fn remove(
    State(app): State<SessionHandles>,
    ClientAddress(from): ClientAddress,
    call: CommandRequest<FactorRemoval>,
) -> Result<LimitedReply<NoContent>, ApiError> {
    let reply = turn_off(&app, from, &call).await?;
    Ok(reply.map_answer(|answer| answer.map(|_| NoContent)))
}

async fn remove_counted(
    app: &SessionHandles,
    call: &CommandRequest<FactorRemoval>,
    user: &User,
) -> Result<CommandOutcome<UserAnswer>, ApiError> {
    let command = async {
        let FactorRemoval { current_password, code } = call.read_body()?;
        if !is_password_of(app, user, current_password).await? {
            return Err(wrong_password());
        }
        let proof = match &user.second_factor {
            Some(factor) => {
                count_code(app, user, call.origin()).await?;
                proof_of(app, factor, &code)?
            }
            None => None,
        };
        let proof = proof.ok_or_else(|| wrong_code(StatusCode::FORBIDDEN))?;
        Ok(FactorCommand::Remove { user: user.id, checked_hash: user.password_hash.clone(), proof })
    };
    match call.ask_with(&app.access, CommandTarget::Id(Id::ONLY), command).await {
        // Used by another request at the same moment.
        Err(error) if error.code() == WRONG_CODE => Err(wrong_code(StatusCode::FORBIDDEN)),
        outcome => outcome,
    }
}

/// Removes the second factor of another member of staff.
pub async fn reset(
    app: &SessionHandles,
    id: Id,
    call: &CommandRequest,
) -> Result<CommandOutcome<UserAnswer>, ApiError> {
    call.ask(&app.access, CommandTarget::Id(Id::ONLY), FactorCommand::Reset(id)).await
}

async fn remove_of_user(
    State(app): State<SessionHandles>,
    PathId(id): PathId,
    call: CommandRequest,
) -> Result<NoContent, ApiError> {
    reset(&app, id, &call).await?;
    Ok(NoContent)
}
