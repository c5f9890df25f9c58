//! Lookups that the middleware makes in the in-memory copy of [`Access`].

use std::sync::Arc;

use crate::access::{Access, ApiKey, StaffSession, User, normal_email};
use crate::id::Id;
use crate::principal::Role;
use crate::time::Timestamp;
use words::Language;

/// Reason why an API key was rejected; each results in a 401 response.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyRefusal {
    /// No key has this hash.
    #[error("this API key is invalid")]
    Unknown,
    /// The key was revoked.
    #[error("this API key was revoked")]
    Revoked,
    /// The key has expired.
    #[error("this API key has expired")]
    Expired,
}

impl StaffSession {
    /// Returns whether the session has expired: unused for `idle_ms`, or older than `life_ms`, both in milliseconds.
    pub fn over(&self, now: Timestamp, idle_ms: i64, life_ms: i64) -> bool {
        now.since(self.seen_at) >= idle_ms || now.since(self.created_at) >= life_ms
    }
}

impl User {
    /// Returns whether the user is an active admin: role `admin`, active, not deleted.
    pub fn administers(&self) -> bool {
        self.role == Role::Admin && self.active && !self.archived
    }
}

impl Access {
    /// Restores users, keys and sessions from their rows after a load.
    pub fn hydrate(
        mut self,
        users: impl IntoIterator<Item = User>,
        keys: impl IntoIterator<Item = ApiKey>,
        sessions: impl IntoIterator<Item = StaffSession>,
    ) -> Self {
        for user in users {
            self.users.insert_mut(user.id, Arc::new(user));
        }
        for key in keys {
            self.keys.insert_mut(key.hash.clone(), Arc::new(key));
        }
        for session in sessions {
            self.sessions.insert_mut(session.hash.clone(), Arc::new(session));
        }
        self
    }

    /// Returns the email addresses of the active admins, in alphabetical order.
    pub fn admin_emails(&self) -> Vec<String> {
        let admins = self.users.values().filter(|user| user.administers());
        let mut emails: Vec<String> = admins.map(|user| user.email.clone()).collect();
        emails.sort_unstable();
        emails
    }

    /// Groups email addresses by the language in which they are written to: the language of the user with the address,
    /// and English for users who chose none and for addresses without a user. Each group keeps the given order.
    pub fn group_by_language(&self, addresses: &[String]) -> Vec<(Language, Vec<String>)> {
        let mut groups: Vec<(Language, Vec<String>)> = Vec::new();
        for language in Language::ALL {
            let group: Vec<String> =
                addresses.iter().filter(|address| self.mail_language(address) == language).cloned().collect();
            if !group.is_empty() {
                groups.push((language, group));
            }
        }
        groups
    }

    fn mail_language(&self, address: &str) -> Language {
        let user = normal_email(address).ok().and_then(|email| self.user_by_email(&email));
        user.and_then(|user| user.language).unwrap_or_default()
    }

    /// Returns the key with the given hash if it is currently valid, otherwise the reason why it was rejected.
    pub fn key_by_hash(&self, hash: &str, now: Timestamp) -> Result<&Arc<ApiKey>, KeyRefusal> {
        let key = self.keys.get(hash).ok_or(KeyRefusal::Unknown)?;
        if key.revoked_at.is_some() {
            Err(KeyRefusal::Revoked)
        } else if key.expires_at.is_some_and(|at| at <= now) {
            Err(KeyRefusal::Expired)
        } else {
            Ok(key)
        }
    }

    /// Returns the session with the given hash if it has not expired (limits in milliseconds) and its user may sign in.
    pub fn session_by_hash(
        &self,
        hash: &str,
        now: Timestamp,
        idle_ms: i64,
        life_ms: i64,
    ) -> Option<&Arc<StaffSession>> {
        let session = self.sessions.get(hash).filter(|session| !session.over(now, idle_ms, life_ms))?;
        self.user(session.user_id).filter(|user| user.active).map(|_| session)
    }

    /// Returns the user; `None` if unknown or deleted.
    pub fn user(&self, id: Id) -> Option<&Arc<User>> {
        self.users.get(&id).filter(|user| !user.archived)
    }

    /// Returns the user with the given email address; `None` if unknown or deleted. The address must be normalized
    /// ([`super::normal_email`]).
    pub fn user_by_email(&self, email: &str) -> Option<&Arc<User>> {
        self.users.values().find(|user| !user.archived && user.email == email)
    }

    /// Returns the key with the given ID, even if revoked or expired.
    pub fn key(&self, id: Id) -> Option<&Arc<ApiKey>> {
        self.keys.values().find(|key| key.id == id)
    }

    /// Returns the active admins: users with the role `admin` who are active and not deleted.
    pub fn admins(&self) -> impl Iterator<Item = &Arc<User>> {
        self.users.values().filter(|user| user.administers())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::access::{StaffCommand, UserEdit};
    use crate::testing::Bench;

    #[test]
    fn everybody_is_written_to_in_their_own_language() {
        let (bench, mut access) = (Bench::new(), None);
        let german = Some(Language::German);
        for (email, language) in [("ada@example.org", german), ("ben@example.org", None), ("eve@example.org", german)] {
            let [email, name, password_hash] = [email, "Ada", "$argon2id$"].map(str::to_owned);
            let add = StaffCommand::Add { email, name, password_hash, role: Role::Admin };
            let id = bench.tell(&mut access, Id::ONLY, &add).unwrap().answer.user.id;
            let change = UserEdit { language: Some(language), ..UserEdit::default() };
            let change = StaffCommand::Update { id, if_version: None, checked_hash: None, change, keep: None };
            bench.tell(&mut access, Id::ONLY, &change).unwrap();
        }
        let access: Access = access.unwrap();
        let groups = |addresses: &[&str]| {
            let addresses: Vec<String> = addresses.iter().copied().map(str::to_owned).collect();
            access.group_by_language(&addresses)
        };
        let group = |language: Language, addresses: &[&str]| {
            (language, addresses.iter().copied().map(str::to_owned).collect::<Vec<String>>())
        };
        let all = ["Eve@example.org", "ben@example.org", "floor@example.com", "ada@example.org"];
        let english = group(Language::English, &["ben@example.org", "floor@example.com"]);
        let german = group(Language::German, &["Eve@example.org", "ada@example.org"]);
        assert_eq!(groups(&all), [english, german]);
        assert_eq!(groups(&["ada@example.org"]), [group(Language::German, &["ada@example.org"])]);
        assert!(groups(&[]).is_empty());
    }
}
