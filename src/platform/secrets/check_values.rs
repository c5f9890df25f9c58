//! Check values in the database for the server's own secrets, so that a start with the wrong secrets is detected before
//! any harm is done: with a different `API_KEY_SALT`, no API key is recognised; with a different `SECRETS_KEY`, no
//! stored secret can be decrypted.

use domain::signing::hmac_sha256;

/// Length of a check value, in bytes; enough to detect any mistake.
const CHECK_VALUE_BYTES: usize = 16;

/// Returns the check value for a secret, in hex. The secret, which is random, cannot be derived from its check value.
pub fn check_value(name: &str, secret: &str) -> String {
    let all = hmac_sha256(secret.trim().as_bytes(), &[b"printfloor check value of ", name.as_bytes()]);
    hex::encode(&all[..CHECK_VALUE_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_value_stays_the_same_and_tells_secrets_and_names_apart() {
        // As the first version wrote it: every later version must know it again.
        let actual = check_value("SECRETS_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        assert_eq!(actual, "be0c8d2394477413dc419deb4beb9950");
        assert_ne!(check_value("SECRETS_KEY", "a"), check_value("SECRETS_KEY", "b"));
        assert_ne!(check_value("SECRETS_KEY", "a"), check_value("API_KEY_SALT", "a"));
        assert_eq!(check_value("SECRETS_KEY", " a\n"), check_value("SECRETS_KEY", "a"), "as the key itself is read");
    }
}
