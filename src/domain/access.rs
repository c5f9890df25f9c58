//! Staff, API keys and staff sessions. They form one aggregate because every request checks its credentials against all
//! of them: the middleware reads a single in-memory copy, without locks or queries.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::id::Id;
use crate::principal::Role;
use crate::second_factor::{FactorProof, SecondFactor};
use crate::time::Timestamp;
use words::Language;

mod decide;
mod email;
mod factor;
mod keys;
mod lookup;
#[cfg(test)]
mod tests;

pub use crate::second_factor::{SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
pub use email::normal_email;
pub use lookup::KeyRefusal;

/// A staff member who may sign in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Identifier of the user.
    pub id: Id,
    /// Email address, trimmed and in lowercase; unique among users that are not deleted.
    pub email: String,
    /// Display name of the user.
    pub name: String,
    /// Argon2id hash of the password as a PHC string. Never part of an API response.
    pub password_hash: String,
    /// Second factor required at sign-in, in addition to the password, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_factor: Option<SecondFactor>,
    /// Language of the pages for this user; `None` for the one that the browser prefers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// `operator` or `admin`; staff never have the role `customer`.
    pub role: Role,
    /// `true` if the user may sign in and use open sessions.
    #[serde(default = "yes")]
    pub active: bool,
    /// `true` if the user was deleted; the record remains for the audit log.
    pub archived: bool,
    /// Version of the user, starting at 1; compared with `If-Match`.
    #[serde(default = "first")]
    pub version: i64,
    /// Time at which the user was created.
    pub created_at: Timestamp,
    /// Time of the user's last change.
    pub updated_at: Timestamp,
}

const fn yes() -> bool {
    true
}

const fn first() -> i64 {
    1
}

/// Changes to a staff member; a field that is `None` keeps its current value.
#[derive(Clone, Debug, Default)]
pub struct UserEdit {
    /// New display name.
    pub name: Option<String>,
    /// New language of the pages; `Some(None)` for the one that the browser prefers.
    pub language: Option<Option<Language>>,
    /// New role, `operator` or `admin`; a different one ends all sessions of the user.
    pub role: Option<Role>,
    /// `true` allows the user to sign in; `false` ends all sessions of the user.
    pub active: Option<bool>,
    /// New password hash as a PHC string; ends all sessions of the user except the one named in `keep`.
    pub password_hash: Option<String>,
}

/// API key. The key itself is shown once, at creation; only its hash is stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Identifier of the key.
    pub id: Id,
    /// Label describing the key's purpose.
    pub name: String,
    /// HMAC-SHA256 of the whole key under `API_KEY_SALT`, in hexadecimal. Never part of an API response.
    pub hash: String,
    /// Prefix of the key: `key_live_` in production, otherwise `key_test_`.
    pub prefix: String,
    /// Last four characters of the key, shown so that admins can recognise it.
    pub last4: String,
    /// Role that determines the key's permissions.
    pub role: Role,
    /// Email address of the customer whose orders a key with the role `customer` is limited to. `None` limits such a
    /// key to the orders that it created.
    pub customer_email: Option<String>,
    /// Time at which the key expires, if it does.
    pub expires_at: Option<Timestamp>,
    /// Time at which the key was revoked, if it has been.
    pub revoked_at: Option<Timestamp>,
    /// Time of the last use, accurate to about a minute because it is written in batches; `None` if never used.
    pub last_used_at: Option<Timestamp>,
    /// Time at which the key was created.
    pub created_at: Timestamp,
}

/// Signed-in browser session of a staff member.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StaffSession {
    /// Identifier of the session.
    pub id: Id,
    /// The user who signed in.
    pub user_id: Id,
    /// SHA-256 of the session token in hexadecimal. Never part of an API response.
    pub hash: String,
    /// Time at which the user signed in.
    pub created_at: Timestamp,
    /// Time of the last use, accurate to about a minute.
    pub seen_at: Timestamp,
    /// User agent of the browser, shown in the list of sessions, if the browser sent one.
    pub agent: Option<String>,
}

/// All staff, keys and sessions: a singleton aggregate with the ID [`Id::ONLY`].
///
/// Invariants: at most one user that is not deleted has a given email address; once there is an active admin, at least
/// one always remains. The maps are not part of the serialized aggregate: each entry is a separate row under the
/// aggregate's version, and [`Access::hydrate`] restores them after a load.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Access {
    /// Users by ID.
    #[serde(skip)]
    pub users: rpds::HashTrieMapSync<Id, Arc<User>>,
    /// API keys by their hash, so that a request finds its key without a scan.
    #[serde(skip)]
    pub keys: rpds::HashTrieMapSync<String, Arc<ApiKey>>,
    /// Sessions by the hash of their token.
    #[serde(skip)]
    pub sessions: rpds::HashTrieMapSync<String, Arc<StaffSession>>,
    /// Time at which the one-time setup of the shop was completed, if it has been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_completed_at: Option<Timestamp>,
}

/// Commands that change staff members; each returns the user.
#[derive(Clone, Debug)]
pub enum StaffCommand {
    /// Adds a staff member.
    Add {
        /// Email address, not yet normalized; rejected with 400 if malformed, with 409 if taken.
        email: String,
        /// Display name; must not be empty.
        name: String,
        /// Password hash as a PHC string, computed by the HTTP layer.
        password_hash: String,
        /// Role of the user: `operator` or `admin`.
        role: Role,
    },
    /// Adds the first admin of a new shop; rejected with 409 `admin_exists` once there is one.
    AddFirstAdmin {
        /// Email address, not yet normalized; rejected with 400 if malformed.
        email: String,
        /// Display name; must not be empty.
        name: String,
        /// Password hash as a PHC string, computed by the HTTP layer.
        password_hash: String,
    },
    /// Edits a staff member. An edit that would leave no active admin is rejected with 409 `last_admin`.
    Update {
        /// User to edit.
        id: Id,
        /// Version of the user that the caller read; rejected with 412 if the user has changed since.
        if_version: Option<i64>,
        /// Password hash against which the HTTP layer verified the current password; rejected if the hash has changed
        /// since. Without it, users cannot set their own password (403 `own_password`).
        checked_hash: Option<String>,
        /// Fields to change; the rest keep their values.
        change: UserEdit,
        /// Session that survives a password change: the one in which the user changes the password.
        keep: Option<Id>,
    },
    /// Deletes a staff member and ends their sessions; the last active admin cannot be deleted.
    Remove(Id),
}

/// Commands that change second factors; each returns the user.
#[derive(Clone, Debug)]
pub enum FactorCommand {
    /// Starts the setup of a second factor, replacing any unfinished setup; rejected with 409 `second_factor_on` if a
    /// second factor is already active.
    Begin {
        /// User who sets up their own second factor.
        user: Id,
        /// Password hash against which the HTTP layer verified the password; rejected if the hash has changed since.
        checked_hash: String,
        /// New secret, encrypted by the HTTP layer.
        encrypted_secret: String,
    },
    /// Activates a second factor whose authenticator app produced a correct code. Ends the user's other sessions.
    Confirm {
        /// User who sets up their own second factor.
        user: Id,
        /// Encrypted secret with which the code was checked; rejected if another setup has been started since.
        encrypted_secret: String,
        /// TOTP time step of the code.
        step: i64,
        /// Hashes of the new recovery codes.
        recovery_hashes: Vec<String>,
        /// Session that survives: the one in which the user confirms the second factor.
        keep: Option<Id>,
    },
    /// Deactivates the user's own second factor.
    Remove {
        /// User who deactivates their own second factor.
        user: Id,
        /// Password hash against which the HTTP layer verified the password; rejected if the hash has changed since.
        checked_hash: String,
        /// Proof of the second factor.
        proof: FactorProof,
    },
    /// Records an attempt before the second-factor code is checked; rejected with `too_many_factor_codes` after too
    /// many wrong codes.
    CountCode(Id),
    /// Deactivates the second factor of a different user who has lost it, and ends that user's sessions. Rejected with
    /// 403 `own_second_factor` if it is the caller's own.
    Reset(Id),
}

/// Response to a [`StaffCommand`] or a [`FactorCommand`]. Stored so that retries with the same idempotency key get the
/// same response; never includes a hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UserAnswer {
    /// User after the change.
    #[serde(rename = "User", serialize_with = "user_without_hash")]
    pub user: Arc<User>,
}

/// Command that adds an API key, which the HTTP layer has generated and hashed.
#[derive(Clone, Debug)]
pub struct AddKey {
    /// Label describing the key's purpose; must not be empty.
    pub name: String,
    /// HMAC of the key in hexadecimal.
    pub hash: String,
    /// Prefix of the key.
    pub prefix: String,
    /// Last four characters of the key.
    pub last4: String,
    /// Role that determines the key's permissions.
    pub role: Role,
    /// Email address of the customer that a key with the role `customer` is limited to.
    pub customer_email: Option<String>,
    /// Time at which the key expires; must be in the future.
    pub expires_at: Option<Timestamp>,
}

/// Command that revokes the API key with the given ID; the key is rejected from the next request on.
#[derive(Clone, Copy, Debug)]
pub struct RevokeKey(pub Id);

/// Response to [`AddKey`] and [`RevokeKey`]. Stored so that retries with the same idempotency key get the same
/// response; never includes the key's hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyAnswer {
    /// Key after the change.
    #[serde(rename = "Key", serialize_with = "key_without_hash")]
    pub key: Arc<ApiKey>,
}

/// Command that opens a session for a user whose password the HTTP layer has verified.
#[derive(Clone, Debug)]
pub struct OpenStaffSession {
    /// User who signed in.
    pub user: Id,
    /// Password hash against which the HTTP layer verified the password; rejected if the hash has changed since.
    pub checked_hash: String,
    /// SHA-256 of the session token in hexadecimal; the HTTP layer generated the token.
    pub hash: String,
    /// User agent of the browser.
    pub agent: Option<String>,
    /// Proof of the second factor, if the client sent one. Rejected with `second_factor_required` if the account
    /// requires a proof, and with `wrong_factor_code` if the proof was used before.
    pub proof: Option<FactorProof>,
}

/// Response to [`OpenStaffSession`]. Stored so that retries with the same idempotency key get the same response; never
/// includes the token's hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionAnswer {
    /// Opened session.
    #[serde(rename = "Session", serialize_with = "session_without_hash")]
    pub session: Arc<StaffSession>,
}

/// Other access commands: ending sessions, recording usage and adding audit log entries.
#[derive(Clone, Debug)]
pub enum AccessCommand {
    /// Records in the audit log that the agent gateway requested a skill, and the outcome; changes nothing else.
    Asked {
        /// Requested skill.
        skill: crate::agent::Skill,
        /// Error code of the response; `None` if the skill was executed.
        refused: Option<String>,
    },
    /// Records in the audit log that settings are about to be written to the settings file.
    Configuring {
        /// Names of the variables that will be written.
        variables: Vec<String>,
    },
    /// Records in the audit log that settings were written to the settings file.
    Configured {
        /// Names of the written variables.
        variables: Vec<String>,
        /// `true` if this completes the setup of the shop.
        completes: bool,
    },
    /// Ends one session of the caller.
    EndSession(Id),
    /// Records when keys and sessions were last used, as collected since the previous command of this kind.
    Used {
        /// IDs of keys with the time of their last use.
        keys: Vec<(Id, Timestamp)>,
        /// IDs of sessions with the time of their last use.
        sessions: Vec<(Id, Timestamp)>,
    },
    /// Removes expired sessions.
    Sweep {
        /// Time, in milliseconds, after which an unused session expires.
        idle_ms: i64,
        /// Time, in milliseconds after sign-in, at which a session expires.
        life_ms: i64,
    },
}

/// Error code for a password that was changed, or an account that was closed, after the HTTP layer checked it.
pub const CREDENTIALS_CHANGED: &str = "credentials_changed";

fn user_without_hash<S: Serializer>(user: &Arc<User>, to: S) -> Result<S::Ok, S::Error> {
    let second_factor = user.second_factor.as_ref().map(|factor| SecondFactor {
        encrypted_secret: String::new(),
        recovery_hashes: Vec::new(),
        ..factor.clone()
    });
    User { password_hash: String::new(), second_factor, ..(**user).clone() }.serialize(to)
}

fn key_without_hash<S: Serializer>(key: &Arc<ApiKey>, to: S) -> Result<S::Ok, S::Error> {
    ApiKey { hash: String::new(), ..(**key).clone() }.serialize(to)
}

fn session_without_hash<S: Serializer>(session: &Arc<StaffSession>, to: S) -> Result<S::Ok, S::Error> {
    StaffSession { hash: String::new(), ..(**session).clone() }.serialize(to)
}

/// Row that an access commit writes in addition to the snapshot row.
#[derive(Clone, Debug)]
pub enum AccessRow {
    /// Staff member to insert or replace.
    User(User),
    /// API key to insert or replace.
    ApiKey(ApiKey),
    /// Staff session to insert or replace.
    Session(StaffSession),
    /// Session to delete because it ended.
    SessionGone(Id),
}
