//! The door to the setup of a new shop: a one-time code that the server prints at its start opens one session.
//!
//! It lives as long as the process: a new start prints a new code. Not for: what may be done in the session, which ends
//! once the setup is completed ([`crate::domain::access::Access::setup_completed_at`]).

pub mod draft;

use crate::domain::time::Timestamp;

/// Wrong codes after which no code opens the door until the server starts anew.
const MAX_TRIES: u32 = 10;
/// How long a code may be used, in milliseconds.
const CODE_LIFE_MS: i64 = 24 * 3_600_000;
/// How long a session lasts, in milliseconds.
pub const SESSION_LIFE_MS: i64 = 2 * 3_600_000;

/// Why a code opens nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DoorRefusal {
    /// It is another code.
    #[error("this is not the code that the server printed at its start")]
    WrongCode,
    /// The code was used, is too old, or was guessed at too often.
    #[error("the code was used, has expired, or was tried too often; restart the server, which then prints a new one")]
    CodeSpent,
}

/// The door of one process. Codes and tokens come here as hashes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetupDoor {
    /// The hash of the code; `None` once it was used.
    code: Option<String>,
    made_at: Timestamp,
    wrong_tries: u32,
    /// The hash of the session's token, and when the session began.
    session: Option<(String, Timestamp)>,
}

impl SetupDoor {
    /// A door that this code opens once.
    pub fn new(code: String, now: Timestamp) -> Self {
        Self { code: Some(code), made_at: now, wrong_tries: 0, session: None }
    }

    /// Burns the code and opens a session with this token.
    pub fn enter(&mut self, code: &str, token: String, now: Timestamp) -> Result<(), DoorRefusal> {
        let open = self.wrong_tries < MAX_TRIES && now.since(self.made_at) < CODE_LIFE_MS;
        let wanted = self.code.as_deref().filter(|_| open).ok_or(DoorRefusal::CodeSpent)?;
        if wanted != code {
            self.wrong_tries += 1;
            return Err(DoorRefusal::WrongCode);
        }
        self.code = None;
        self.session = Some((token, now));
        Ok(())
    }

    /// Whether this token is that of a session that lasts still.
    pub fn holds(&self, token: &str, now: Timestamp) -> bool {
        self.session.as_ref().is_some_and(|(known, since)| known == token && now.since(*since) < SESSION_LIFE_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_000);

    fn door() -> SetupDoor {
        SetupDoor::new("code".to_owned(), START)
    }

    #[test]
    fn a_code_opens_one_session_once() {
        let mut door = door();
        assert_eq!(door.enter("code", "token".to_owned(), START), Ok(()));
        assert!(door.holds("token", START) && !door.holds("other", START));
        assert_eq!(door.enter("code", "second".to_owned(), START), Err(DoorRefusal::CodeSpent));
        assert!(door.holds("token", Timestamp(START.0 + SESSION_LIFE_MS - 1)));
        assert!(!door.holds("token", Timestamp(START.0 + SESSION_LIFE_MS)));
    }

    #[test]
    fn a_code_that_was_guessed_at_too_often_opens_nothing() {
        let mut door = door();
        for _ in 0..MAX_TRIES {
            assert_eq!(door.enter("guess", "token".to_owned(), START), Err(DoorRefusal::WrongCode));
        }
        assert_eq!(door.enter("code", "token".to_owned(), START), Err(DoorRefusal::CodeSpent));
        assert!(!door.holds("token", START));
    }

    #[test]
    fn a_code_lasts_for_a_day() {
        let late = Timestamp(START.0 + CODE_LIFE_MS);
        assert_eq!(door().enter("code", "token".to_owned(), late), Err(DoorRefusal::CodeSpent));
        assert_eq!(door().enter("code", "token".to_owned(), Timestamp(late.0 - 1)), Ok(()));
    }
}
