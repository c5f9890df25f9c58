//! One-time link that signs in the user who opens it in a browser on the server's own machine, for a demo that displays
//! the link.
//!
//! The link exists only as long as the process, works once, and expires after an hour. It is not meant for real shops,
//! where users sign in with a password, and customers with a link sent by email ([`crate::sign_in_link`]).

use crate::id::Id;
use crate::time::{HOUR_MS, Timestamp};

/// Lifetime of a link, in milliseconds.
const LINK_LIFE_MS: i64 = HOUR_MS;

/// Sign-in link for one process. Only the hash of its token is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalSignIn {
    /// Hash of the token; `None` once the link has been used.
    hash: Option<String>,
    /// User to sign in.
    user: Id,
    made_at: Timestamp,
}

impl LocalSignIn {
    /// Builds a link whose token has the given hash, valid from `now`.
    pub fn new(hash: String, user: Id, now: Timestamp) -> Self {
        Self { hash: Some(hash), user, made_at: now }
    }

    /// Consumes the link and returns the user to sign in. Returns `None` if the token does not match, or if the link
    /// was already used or has expired.
    pub fn redeem(&mut self, hash: &str, now: Timestamp) -> Option<Id> {
        let lasts = now.since(self.made_at) < LINK_LIFE_MS;
        self.hash.take_if(|stored| lasts && stored.as_str() == hash).map(|_| self.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED_AT: Timestamp = Timestamp(1_000);

    fn link() -> LocalSignIn {
        LocalSignIn::new("right".to_owned(), Id::ONLY, CREATED_AT)
    }

    #[test]
    fn a_link_works_once() {
        let mut link = link();
        assert_eq!(link.redeem("wrong", CREATED_AT), None);
        assert_eq!(link.redeem("right", CREATED_AT), Some(Id::ONLY));
        assert_eq!(link.redeem("right", CREATED_AT), None);
    }

    #[test]
    fn a_link_lasts_for_an_hour() {
        assert_eq!(link().redeem("right", CREATED_AT.plus_ms(LINK_LIFE_MS - 1)), Some(Id::ONLY));
        assert_eq!(link().redeem("right", CREATED_AT.plus_ms(LINK_LIFE_MS)), None);
    }
}
