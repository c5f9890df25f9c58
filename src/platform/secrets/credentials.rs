//! Creates password hashes, API keys and session tokens, and computes the forms in which they are stored, which are
//! never the secrets themselves.
//!
//! `domain/access` decides their permissions. Password functions deliberately take tens of milliseconds of CPU time, so
//! they must run on a blocking thread.

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use sha2::{Digest as _, Sha256};

use crate::secrets::random::secret_bytes;
use domain::signing::hmac_sha256;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Alphabet for codes that users type: 32 characters that do not look alike.
const CODE_LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Number of base-62 digits that represent 256 bits.
const TOKEN_DIGITS: usize = 43;

/// Hashes a password with Argon2id and returns a PHC string that contains the salt and parameters.
#[expect(clippy::expect_used, reason = "default parameters, 16 bytes of salt and a bounded password are always valid")]
pub fn hash_password(password: &str) -> String {
    let salt = SaltString::encode_b64(&secret_bytes::<16>()).expect("16 bytes are a salt");
    Argon2::default().hash_password(password.as_bytes(), &salt).expect("the parameters are valid").to_string()
}

/// Returns whether the password matches the PHC string; nothing matches a malformed string.
pub fn verify_password(password: &str, phc: &str) -> bool {
    PasswordHash::new(phc).is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

/// Takes as long as [`verify_password`] and returns `false`. Called for unknown email addresses, so that the response
/// time does not reveal which addresses have accounts.
pub fn verify_nobody(password: &str) -> bool {
    let _ = hash_password(password);
    false
}

/// Creates a code that users read on one screen and type on another: 60 random bits in the form `ABCD-EFGH-JKLM`.
pub fn setup_code() -> String {
    typed_code()
}

/// Creates a code, in the same form as [`setup_code`], that can be used instead of a code from an authenticator app.
pub fn recovery_code() -> String {
    typed_code()
}

/// Returns the hash under which a recovery code is stored: the SHA-256 hash of the normalised code, in hex. The code
/// has too many random bits to be guessed from the hash.
pub fn recovery_hash(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase());
    hex::encode(Sha256::digest(letters.collect::<String>()))
}

fn typed_code() -> String {
    let letters = secret_bytes::<12>().map(|byte| char::from(CODE_LETTERS[usize::from(byte % 32)]));
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join("-")
}

/// Creates an API key: the prefix and 256 random bits in base 62. The key is shown once and never stored.
pub fn new_api_key(prefix: &str) -> String {
    format!("{prefix}{}", base62(secret_bytes()))
}

/// Returns the stored form of an API key: the HMAC-SHA256 of the whole key with `API_KEY_SALT`, in hex.
pub fn api_key_hash(salt: &str, key: &str) -> String {
    hex::encode(hmac_sha256(salt.as_bytes(), &[key.as_bytes()]))
}

/// Returns the last four characters of a key, which lists display.
pub fn last4(key: &str) -> String {
    let start = key.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    key[start..].to_owned()
}

/// Creates a session token: 256 random bits in base 62. The token is sent in the cookie and never stored.
pub fn session_token() -> String {
    base62(secret_bytes())
}

/// Returns whether the text has the form of a token, based on its length and digits.
pub fn is_token(text: &str) -> bool {
    text.len() == TOKEN_DIGITS && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the stored form of a session token: its SHA-256 hash in hex.
pub fn session_hash(token: &str) -> String {
    hex::encode(Sha256::digest(token.as_bytes()))
}

/// Encodes 256 bits as a base-62 number with leading zeros, so that all keys have the same length.
fn base62(mut number: [u8; 32]) -> String {
    let mut digits = [0; TOKEN_DIGITS];
    for digit in digits.iter_mut().rev() {
        let mut rest = 0_u32;
        for byte in &mut number {
            let value = (rest << 8) | u32::from(*byte);
            // The rest is below 62, so the quotient is below 256.
            *byte = (value / 62) as u8;
            rest = value % 62;
        }
        *digit = BASE62[rest as usize];
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::collections::HashSet;

    use super::*;

    #[test]
    fn base62_is_the_number_in_base_62_with_a_fixed_length() {
        assert_eq!(base62([0; 32]), "0".repeat(43));
        let mut one_digit = [0; 32];
        one_digit[31] = 61;
        assert_eq!(base62(one_digit), format!("{}z", "0".repeat(42)));
        let mut two_digits = [0; 32];
        two_digits[31] = 62;
        assert_eq!(base62(two_digits), format!("{}10", "0".repeat(41)));
        // 2^256 - 1, computed apart from this program.
        assert_eq!(base62([0xff; 32]), "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1");
    }

    #[test]
    fn keys_have_prefix_and_length_and_never_repeat() {
        let keys: HashSet<String> = (0..200).map(|_| new_api_key("key_test_")).collect();
        assert_eq!(keys.len(), 200);
        for key in keys {
            let digits = key.strip_prefix("key_test_").unwrap();
            assert_eq!(digits.len(), TOKEN_DIGITS);
            assert!(digits.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }
        assert!(new_api_key("key_live_").starts_with("key_live_"));
    }

    #[test]
    fn the_hash_of_a_key_depends_on_key_and_salt() {
        // RFC 4231, test case 2.
        let digest = api_key_hash("Jefe", "what do ya want for nothing?");
        assert_eq!(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert_ne!(api_key_hash("a", "key"), api_key_hash("b", "key"));
    }

    #[test]
    fn a_session_is_stored_as_sha_256() {
        assert_eq!(session_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_ne!(session_token(), session_token());
    }

    #[test]
    fn a_password_matches_its_own_hash_only() {
        let hash = hash_password("correct horse");
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "19 MiB, 2 passes: {hash}");
        assert!(verify_password("correct horse", &hash));
        assert!(!verify_password("wrong horse", &hash));
        assert!(!verify_password("correct horse", "not a hash"));
        assert_ne!(hash, hash_password("correct horse"), "each has a salt of its own");
        assert!(!verify_nobody("correct horse"));
    }

    #[test]
    fn a_code_to_type_has_60_random_bits() {
        assert_eq!(CODE_LETTERS.iter().collect::<HashSet<_>>().len(), 32, "five bits in each letter");
        let codes: HashSet<String> = (0..200).flat_map(|_| [setup_code(), recovery_code()]).collect();
        assert_eq!(codes.len(), 400);
        let groups = |code: &str| code.split('-').map(str::len).collect::<Vec<_>>();
        assert!(codes.iter().all(|code| groups(code) == [4, 4, 4]), "{codes:?}");
        let letters: HashSet<u8> =
            codes.iter().flat_map(|code| code.bytes()).filter(|letter| *letter != b'-').collect();
        assert_eq!(letters, CODE_LETTERS.iter().copied().collect(), "each letter occurs");
    }

    #[test]
    fn last_four_characters() {
        assert_eq!(last4("key_test_abcd1234"), "1234");
        assert_eq!(last4("abc"), "abc");
    }
}
