//! Staff, API keys and staff sessions: one thing, so that middleware reads one lock-free copy (decisions §2).

use crate::domain::id::Id;
use crate::domain::principal::Role;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

mod decide;
mod email;
mod lookup;
#[cfg(test)]
mod tests;

pub use email::normal_email;
pub use lookup::KeyRefusal;

/// A staff member.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Identifier.
    pub id: Id,
    /// Unique, trimmed, lower-cased.
    pub email: String,
    /// Shown name.
    pub name: String,
    /// Argon2id, PHC string. Never returned.
    pub password_hash: String,
    /// `operator` or `admin`.
    pub role: Role,
    /// May sign in.
    #[serde(default = "yes")]
    pub active: bool,
    /// Deleted: kept for the audit log.
    pub archived: bool,
    /// Counts their changes, from 1: the tag of `If-Match`.
    #[serde(default = "first")]
    pub version: i64,
    /// When they were made.
    pub created_at: Timestamp,
    /// When they last changed.
    pub updated_at: Timestamp,
}

const fn yes() -> bool {
    true
}

const fn first() -> i64 {
    1
}

/// What changes of a staff member; absent members stay.
#[derive(Clone, Debug, Default)]
pub struct UserChange {
    /// Shown name.
    pub name: Option<String>,
    /// `operator` or `admin`; another one ends all sessions.
    pub role: Option<Role>,
    /// May sign in; `false` ends all sessions.
    pub active: Option<bool>,
    /// PHC string; ends all sessions but the one that is kept.
    pub password_hash: Option<String>,
}

/// An API key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Identifier.
    pub id: Id,
    /// What it is for.
    pub name: String,
    /// HMAC-SHA256 of the whole key, keyed with `API_KEY_SALT`, hex. Never returned.
    pub hash: String,
    /// `key_live_` or `key_test_`.
    pub prefix: String,
    /// The last four characters.
    pub last4: String,
    /// What it may do.
    pub role: Role,
    /// A customer key for one customer's orders.
    pub customer_email: Option<String>,
    /// Until.
    pub expires_at: Option<Timestamp>,
    /// Since.
    pub revoked_at: Option<Timestamp>,
    /// Flushed each minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A signed-in browser of a staff member.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Identifier.
    pub id: Id,
    /// Whose.
    pub user_id: Id,
    /// SHA-256 of the token, hex. Never returned.
    pub hash: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// Last request; flushed each minute.
    pub seen_at: Timestamp,
    /// User agent, for the list.
    pub agent: Option<String>,
}

/// All staff, keys and sessions, with the id [`Id::ONLY`]; its first command makes it. The maps are skipped by serde: rows
/// under its version; a load calls [`Access::hydrate`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Access {
    /// By id.
    #[serde(skip)]
    pub users: rpds::HashTrieMapSync<Id, Arc<User>>,
    /// By hash.
    #[serde(skip)]
    pub keys: rpds::HashTrieMapSync<String, Arc<ApiKey>>,
    /// By hash.
    #[serde(skip)]
    pub sessions: rpds::HashTrieMapSync<String, Arc<Session>>,
}

/// What is asked of access.
#[derive(Clone, Debug)]
pub enum AccessCommand {
    /// The agent gateway was given a command: for the audit log.
    Asked(crate::domain::agent::Skill),
    /// A staff member; the edge has hashed the password.
    AddUser {
        /// Trimmed, lower-cased, checked.
        email: String,
        /// Shown name.
        name: String,
        /// PHC string.
        password_hash: String,
        /// `operator` or `admin`.
        role: Role,
    },
    /// Changes a staff member. The last active admin stays one (409 `last_admin`).
    UpdateUser {
        /// Who.
        id: Id,
        /// Refused as stale when their version differs.
        if_version: Option<i64>,
        /// What changes.
        change: UserChange,
        /// This session lives on (the one that changes its own password).
        keep: Option<Id>,
    },
    /// Deletes a staff member (not the last admin); their sessions end.
    RemoveUser(Id),
    /// A key; the edge has made it and hashed it.
    AddKey {
        /// What it is for.
        name: String,
        /// Hex HMAC.
        hash: String,
        /// `key_live_` or `key_test_`.
        prefix: String,
        /// Last four characters.
        last4: String,
        /// What it may do.
        role: Role,
        /// For one customer.
        customer_email: Option<String>,
        /// In the past is refused (400).
        expires_at: Option<Timestamp>,
    },
    /// Ends a key; acts on the next request.
    RevokeKey(Id),
    /// A checked sign-in; the edge has made the token and hashed it.
    OpenSession {
        /// Who.
        user: Id,
        /// Hex SHA-256.
        hash: String,
        /// User agent.
        agent: Option<String>,
    },
    /// Signs out: one session.
    EndSession(Id),
    /// Use of keys and sessions since the last flush.
    Used {
        /// Key ids.
        keys: Vec<(Id, Timestamp)>,
        /// Session ids.
        sessions: Vec<(Id, Timestamp)>,
    },
    /// Removes sessions that are over: idle for `idle_ms` or older than `life_ms`.
    Sweep {
        /// Milliseconds.
        idle_ms: i64,
        /// Milliseconds.
        life_ms: i64,
    },
}

/// What access answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AccessAnswer {
    /// The staff member after the change.
    User(Arc<User>),
    /// The key after the change.
    Key(Arc<ApiKey>),
    /// The session.
    Session(Arc<Session>),
    /// Done.
    Done,
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
