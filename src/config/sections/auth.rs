//! `[auth]`: staff sessions and the server's own secrets.

use serde::Deserialize;

use crate::values::{Days, Hours, Secret};

/// Variable of [`AuthConfig::secrets_key_old`].
const SECRETS_KEY_OLD: &str = "SECRETS_KEY_OLD";

/// `[auth]`: staff sessions and the server's own secrets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthConfig {
    /// Time without a request after which a staff session expires.
    pub session_idle_timeout_hours: Hours,
    /// Time after sign-in at which a staff session expires.
    pub session_max_age_days: Days,
    /// Makes the emailed sign-in link open a page with a button, so that mail scanners that follow links do not use up
    /// the link.
    pub confirm_page: bool,
    /// Secret that signs picture and PDF URLs; at least 32 characters.
    pub session_secret: Secret,
    /// HMAC key for hashing API keys for storage.
    pub api_key_salt: Secret,
    /// Base64-encoded 32-byte key that encrypts stored secrets; see [`crate::Config::secrets_key`].
    pub secrets_key: Secret,
    /// Former `secrets_key`, with which stored secrets were encrypted; empty unless the key is being replaced.
    pub secrets_key_old: Secret,
}

impl AuthConfig {
    /// Returns mutable references to the server's own secrets, so that they can be filled in, with the names of their
    /// variables.
    pub fn own_secrets_mut(&mut self) -> [(&'static str, &mut Secret); 3] {
        [
            ("SESSION_SECRET", &mut self.session_secret),
            ("API_KEY_SALT", &mut self.api_key_salt),
            ("SECRETS_KEY", &mut self.secrets_key),
        ]
    }

    /// Returns a mutable reference to the secret that a variable in `secrets.env` may contain; `None` if that file
    /// cannot contain the variable.
    pub(crate) fn secret_of_file_mut(&mut self, name: &str) -> Option<&mut Secret> {
        if name == SECRETS_KEY_OLD {
            return Some(&mut self.secrets_key_old);
        }
        self.own_secrets_mut().into_iter().find_map(|(variable, secret)| (variable == name).then_some(secret))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::Config;

    #[test]
    fn the_file_of_secrets_has_the_servers_own_and_the_former_key() {
        let mut auth = Config::default().auth;
        for name in ["SESSION_SECRET", "API_KEY_SALT", "SECRETS_KEY", SECRETS_KEY_OLD] {
            *auth.secret_of_file_mut(name).unwrap() = Secret::new(name);
        }
        assert_eq!((auth.secrets_key.expose(), auth.secrets_key_old.expose()), ("SECRETS_KEY", SECRETS_KEY_OLD));
        assert!(auth.secret_of_file_mut("SMTP_PASS").is_none());
    }
}
