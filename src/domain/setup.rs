//! Access to the setup of a new shop: a one-time code that the server displays at startup opens one session.
//!
//! The code lives as long as the process: a restart generates a new code. Permissions within the session are defined
//! elsewhere; the session ends once the setup is completed ([`crate::access::Access::setup_completed_at`]).

pub mod draft;

use crate::time::Timestamp;

/// Number of wrong codes after which every code is rejected until the server restarts.
const MAX_TRIES: u32 = 10;
/// Lifetime of a code, in milliseconds.
const CODE_LIFE_MS: i64 = 24 * 3_600_000;
/// Lifetime of a session, in milliseconds.
pub const SESSION_LIFE_MS: i64 = 2 * 3_600_000;

/// Reason why a setup code was rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupCodeError {
    /// The given code is not the current one.
    #[error("the code does not match the one that the server printed at startup")]
    WrongCode,
    /// The code was already used or has expired, or too many wrong codes were entered.
    #[error(
        "the code was already used, has expired, or was entered incorrectly too often; restart the server to get \
        a new one"
    )]
    CodeSpent,
}

/// Access to the setup for one process. Codes and tokens are passed as hashes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetupAccess {
    /// Hash of the code; `None` once used.
    code: Option<String>,
    made_at: Timestamp,
    wrong_tries: u32,
    /// Hash of the session's token, and the time at which the session started.
    session: Option<(String, Timestamp)>,
}

impl SetupAccess {
    /// Creates access to the setup, protected by a one-time code.
    pub fn new(code: String, now: Timestamp) -> Self {
        Self { code: Some(code), made_at: now, wrong_tries: 0, session: None }
    }

    /// Consumes the code and opens a session with the given token.
    pub fn enter(&mut self, code: &str, token: String, now: Timestamp) -> Result<(), SetupCodeError> {
        let open = self.wrong_tries < MAX_TRIES && now.since(self.made_at) < CODE_LIFE_MS;
        let expected = self.code.as_deref().filter(|_| open).ok_or(SetupCodeError::CodeSpent)?;
        if expected != code {
            self.wrong_tries += 1;
            return Err(SetupCodeError::WrongCode);
        }
        self.code = None;
        self.session = Some((token, now));
        Ok(())
    }

    /// Returns whether the given token belongs to a session that has not expired.
    pub fn holds(&self, token: &str, now: Timestamp) -> bool {
        self.session.as_ref().is_some_and(|(current, since)| current == token && now.since(*since) < SESSION_LIFE_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_000);

    fn door() -> SetupAccess {
        SetupAccess::new("code".to_owned(), START)
    }

    #[test]
    fn a_code_opens_one_session_once() {
        let mut door = door();
        assert_eq!(door.enter("code", "token".to_owned(), START), Ok(()));
        assert!(door.holds("token", START) && !door.holds("other", START));
        assert_eq!(door.enter("code", "second".to_owned(), START), Err(SetupCodeError::CodeSpent));
        assert!(door.holds("token", Timestamp(START.0 + SESSION_LIFE_MS - 1)));
        assert!(!door.holds("token", Timestamp(START.0 + SESSION_LIFE_MS)));
    }

    #[test]
    fn a_code_that_was_guessed_at_too_often_opens_nothing() {
        let mut door = door();
        for _ in 0..MAX_TRIES {
            assert_eq!(door.enter("guess", "token".to_owned(), START), Err(SetupCodeError::WrongCode));
        }
        assert_eq!(door.enter("code", "token".to_owned(), START), Err(SetupCodeError::CodeSpent));
        assert!(!door.holds("token", START));
    }

    #[test]
    fn a_code_lasts_for_a_day() {
        let late = Timestamp(START.0 + CODE_LIFE_MS);
        assert_eq!(door().enter("code", "token".to_owned(), late), Err(SetupCodeError::CodeSpent));
        assert_eq!(door().enter("code", "token".to_owned(), Timestamp(late.0 - 1)), Ok(()));
    }
}
