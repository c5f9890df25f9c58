//! One-time sign-in link printed by a demo, for a browser on the same machine.
//!
//! Only the owner of the machine can create a link, over the control socket. Until one has been created, every attempt
//! to redeem a link fails.

use std::sync::{Mutex, PoisonError};

use domain::id::Id;
use domain::local_sign_in::LocalSignIn;
use domain::time::Timestamp;
use platform::secrets::credentials;

/// Path of the link.
pub const PATH: &str = "/login/once";

/// Holder of the server's current sign-in link.
#[derive(Default)]
pub struct LocalSignInHolder(Mutex<Option<LocalSignIn>>);

impl LocalSignInHolder {
    /// Creates a link for the given staff user, replacing any earlier one, and returns its path with the token.
    pub fn make(&self, user: Id, now: Timestamp) -> String {
        let token = credentials::session_token();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(LocalSignIn::new(credentials::session_hash(&token), user, now));
        format!("{PATH}?token={token}")
    }

    /// Consumes the link with the given token and returns the user whom it signs in; returns `None` if the token is
    /// invalid.
    pub fn redeem(&self, token: &str, now: Timestamp) -> Option<Id> {
        let mut link = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        link.as_mut()?.redeem(&credentials::session_hash(token), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_link_takes_the_place_of_the_old_one() {
        let (desk, now) = (LocalSignInHolder::default(), Timestamp(1_000));
        assert_eq!(desk.redeem("", now), None, "nobody made one");
        let token = |path: String| path.split_once('=').map(|(_, token)| token.to_owned()).unwrap_or_default();
        let old = token(desk.make(Id::ONLY, now));
        let new = token(desk.make(Id::ONLY, now));
        assert_ne!(old, new);
        assert_eq!([desk.redeem(&old, now), desk.redeem(&new, now)], [None, Some(Id::ONLY)]);
    }
}
