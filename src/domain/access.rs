//! Staff, API keys and staff sessions. They are one aggregate, because every request checks its credentials against
//! all of them: middleware then reads one copy in memory, without locks and without a query.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::second_factor::{FactorProof, SecondFactor};
use crate::domain::time::Timestamp;

mod decide;
mod email;
mod factor;
mod lookup;
#[cfg(test)]
mod tests;

pub use email::normal_email;
pub use factor::{SECOND_FACTOR_REQUIRED, TOO_MANY_CODES, WRONG_CODE};
pub use lookup::KeyRefusal;

/// A staff member who may sign in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Identifier of the user.
    pub id: Id,
    /// E-mail address, trimmed and in lower case; unique among users that are not deleted.
    pub email: String,
    /// The name by which people know the user.
    pub name: String,
    /// Argon2id hash of the password as a PHC string. No answer of the API contains it.
    pub password_hash: String,
    /// What is asked for at sign-in besides the password; `None` if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_factor: Option<SecondFactor>,
    /// `operator` or `admin`; staff never have the role `customer`.
    pub role: Role,
    /// Whether the user may sign in and use open sessions.
    #[serde(default = "yes")]
    pub active: bool,
    /// Whether the user was deleted; the record stays for the audit log.
    pub archived: bool,
    /// Counts this user's changes, from 1; compared with `If-Match`.
    #[serde(default = "first")]
    pub version: i64,
    /// When the user was made.
    pub created_at: Timestamp,
    /// When the user last changed.
    pub updated_at: Timestamp,
}

const fn yes() -> bool {
    true
}

const fn first() -> i64 {
    1
}

/// An edit of a staff member; `None` leaves a member as it is.
#[derive(Clone, Debug, Default)]
pub struct UserChange {
    /// What colleagues see; `None` keeps the present one.
    pub name: Option<String>,
    /// New role, `operator` or `admin`; a different one ends all sessions of the user.
    pub role: Option<Role>,
    /// Whether the user may sign in; `false` ends all sessions of the user.
    pub active: Option<bool>,
    /// New password hash as a PHC string; ends all sessions of the user but the one named in `keep`.
    pub password_hash: Option<String>,
}

/// An API key. The key itself is shown once when it is made, and only its hash is stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Identifier of the key.
    pub id: Id,
    /// What the key is for, in words for people.
    pub name: String,
    /// HMAC-SHA256 of the whole key under `API_KEY_SALT`, in hexadecimal. No answer of the API contains it.
    pub hash: String,
    /// How the key begins: `key_live_` in production, else `key_test_`.
    pub prefix: String,
    /// The key's last four characters, by which people recognise it.
    pub last4: String,
    /// What the key may do.
    pub role: Role,
    /// For a key of role `customer`: limits it to the orders of the customer with this address. `None` limits such a
    /// key to the orders that it made.
    pub customer_email: Option<String>,
    /// From when on the key is refused; `None` never expires.
    pub expires_at: Option<Timestamp>,
    /// When the key was revoked; `None` if it was not.
    pub revoked_at: Option<Timestamp>,
    /// When the key was last used, exact to about a minute, because uses are written in batches; `None` if never.
    pub last_used_at: Option<Timestamp>,
    /// When the key was made.
    pub created_at: Timestamp,
}

/// A staff member's signed-in browser.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Identifier of the session.
    pub id: Id,
    /// The user who signed in.
    pub user_id: Id,
    /// SHA-256 of the session token in hexadecimal. No answer of the API contains it.
    pub hash: String,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When the session was last used, exact to about a minute.
    pub seen_at: Timestamp,
    /// The browser's user agent, for the list of sessions; `None` if it sent none.
    pub agent: Option<String>,
}

/// All staff, keys and sessions, the only aggregate of its kind, with the id [`Id::ONLY`].
///
/// Invariants: there is at most one user with an address who is not deleted; an active admin always remains once
/// there is one. The maps are not part of the serialized aggregate: each entry is a row under its version, and
/// [`Access::hydrate`] puts them back after a load.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Access {
    /// The users by id.
    #[serde(skip)]
    pub users: rpds::HashTrieMapSync<Id, Arc<User>>,
    /// The keys by their hash, so that a request finds its key without a search.
    #[serde(skip)]
    pub keys: rpds::HashTrieMapSync<String, Arc<ApiKey>>,
    /// The sessions by the hash of their token.
    #[serde(skip)]
    pub sessions: rpds::HashTrieMapSync<String, Arc<Session>>,
    /// When the setup of the shop was completed, once for all; `None` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_completed_at: Option<Timestamp>,
}

/// What can be asked about users, keys and sessions.
#[derive(Clone, Debug)]
pub enum AccessCommand {
    /// Records in the audit log that the agent gateway asked for a skill, and what came of it; changes nothing else.
    Asked {
        /// What it asked for.
        skill: crate::domain::agent::Skill,
        /// Code of the error that it was answered with; `None` when it was carried out.
        refused: Option<String>,
    },
    /// Adds a staff member.
    AddUser {
        /// E-mail address, in any writing; refused with 400 if malformed, with 409 if taken.
        email: String,
        /// Name for people; must not be empty.
        name: String,
        /// The password's hash as a PHC string, made by the edge.
        password_hash: String,
        /// What the user may do: `operator` or `admin`.
        role: Role,
    },
    /// Adds the first admin of a new shop; refused with 409 `admin_exists` once there is one.
    AddFirstAdmin {
        /// E-mail address, in any writing; refused with 400 if malformed.
        email: String,
        /// Name for people; must not be empty.
        name: String,
        /// The password's hash as a PHC string, made by the edge.
        password_hash: String,
    },
    /// Records in the audit log that settings are about to be written into the settings' file.
    Configuring {
        /// The variables that will be written.
        variables: Vec<String>,
    },
    /// Records in the audit log that settings were written into the settings' file.
    Configured {
        /// The variables that were written.
        variables: Vec<String>,
        /// Whether that completes the setup of the shop.
        completes: bool,
    },
    /// Edits a staff member. An edit that would leave no active admin is refused with 409 `last_admin`.
    UpdateUser {
        /// The user to edit.
        id: Id,
        /// The user's version that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// The password hash that the edge has checked the present password against; refused if it has changed since.
        /// Without one nobody sets their own password (403 `own_password`).
        checked_hash: Option<String>,
        /// What is changed; the rest stays as it is.
        change: UserChange,
        /// The session that survives a change of the password: the one in which the user changed it.
        keep: Option<Id>,
    },
    /// Deletes a staff member and ends their sessions; the last active admin cannot be deleted.
    RemoveUser(Id),
    /// Adds an API key, which the edge has made and hashed.
    AddKey {
        /// What the key is for; must not be empty.
        name: String,
        /// HMAC of the key in hexadecimal.
        hash: String,
        /// How the key begins.
        prefix: String,
        /// The key's last four characters.
        last4: String,
        /// What the key may do.
        role: Role,
        /// The customer to whom a key of role `customer` is limited.
        customer_email: Option<String>,
        /// From when on the key is refused; must be in the future.
        expires_at: Option<Timestamp>,
    },
    /// Revokes a key; it is refused from the next request on.
    RevokeKey(Id),
    /// Opens a session for a user whose password the edge has checked.
    OpenSession {
        /// The user who signed in.
        user: Id,
        /// The password hash that the edge has checked the password against; refused if it has changed since.
        checked_hash: String,
        /// SHA-256 of the token in hexadecimal; the edge has made the token.
        hash: String,
        /// The browser's user agent.
        agent: Option<String>,
        /// What was shown as the second factor; `None` if nothing was. Refused with `second_factor_required` where one
        /// is asked for, and with `wrong_factor_code` if it was used before.
        proof: Option<FactorProof>,
    },
    /// Begins to set up a second factor, in place of one that was begun before; refused with 409 `second_factor_on`
    /// once there is one.
    BeginSecondFactor {
        /// The user who sets it up for themself.
        user: Id,
        /// The password hash that the edge has checked the password against; refused if it has changed since.
        checked_hash: String,
        /// The new secret, encrypted by the edge.
        encrypted_secret: String,
    },
    /// Switches a second factor on whose app has shown a right code. Ends the user's other sessions.
    ConfirmSecondFactor {
        /// The user who sets it up for themself.
        user: Id,
        /// The encrypted secret that the code was checked with; refused if another one was begun since.
        encrypted_secret: String,
        /// The step of the code.
        step: i64,
        /// Hashes of the new recovery codes.
        recovery_hashes: Vec<String>,
        /// The session that survives: the one in which the user does this.
        keep: Option<Id>,
    },
    /// Switches one's own second factor off.
    RemoveSecondFactor {
        /// The user who switches theirs off.
        user: Id,
        /// The password hash that the edge has checked the password against; refused if it has changed since.
        checked_hash: String,
        /// What was shown as the second factor.
        proof: FactorProof,
    },
    /// Counts a code of a second factor that is about to be checked; refused with `too_many_factor_codes` while too
    /// many were wrong.
    CountFactorCode(Id),
    /// Switches the second factor of another off, who has lost it, and ends their sessions. One's own is refused with
    /// 403 `own_second_factor`.
    ResetSecondFactor(Id),
    /// Signs out one session of the caller.
    EndSession(Id),
    /// Records when keys and sessions were last used, gathered since the previous such command.
    Used {
        /// Keys and when each was used.
        keys: Vec<(Id, Timestamp)>,
        /// Sessions and when each was used.
        sessions: Vec<(Id, Timestamp)>,
    },
    /// Removes the sessions that have expired.
    Sweep {
        /// Time without a request after which a session expires, in milliseconds.
        idle_ms: i64,
        /// Time after sign-in at which a session expires, in milliseconds.
        life_ms: i64,
    },
}

/// Word of the refusal of whoever showed a password that was changed, or of an account that was closed, meanwhile.
pub const CREDENTIALS_CHANGED: &str = "credentials_changed";

/// What a command about users, keys and sessions is answered with. Kept for repeats of the request, without any hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AccessAnswer {
    /// The user after the change.
    User(#[serde(serialize_with = "user_without_hash")] Arc<User>),
    /// The key after the change.
    Key(#[serde(serialize_with = "key_without_hash")] Arc<ApiKey>),
    /// The session that was opened.
    Session(#[serde(serialize_with = "session_without_hash")] Arc<Session>),
    /// Done now, or done before.
    Done,
}

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

fn session_without_hash<S: Serializer>(session: &Arc<Session>, to: S) -> Result<S::Ok, S::Error> {
    Session { hash: String::new(), ..(**session).clone() }.serialize(to)
}

/// What a commit of access writes besides its snapshot row.
#[derive(Clone, Debug)]
pub enum AccessRow {
    /// A staff member as they are now (insert or replace).
    User(User),
    /// An API key as it is now (insert or replace).
    ApiKey(ApiKey),
    /// A staff session as it is now (insert or replace).
    Session(Session),
    /// A session that ended (delete).
    SessionGone(Id),
}
