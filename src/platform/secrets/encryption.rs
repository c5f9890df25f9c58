//! Encrypts secrets stored in the database, such as signing secrets and printer keys.
//!
//! The algorithm is XChaCha20-Poly1305 with the key `SECRETS_KEY`. Its nonces are long enough to be chosen at random
//! without ever repeating; callers pass them in. An encrypted text consists of `v1:` and the base64 encoding of the
//! nonce, ciphertext and tag. Passwords and API keys are hashed instead (`credentials`), because they never have to be
//! recovered.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{Key, KeyInit as _, XChaCha20Poly1305, XNonce};

use super::random::secret_bytes;

/// Length of the random nonce, in bytes.
const NONCE_BYTES: usize = 24;

const VERSION_PREFIX: &str = "v1:";
const TAG_BYTES: usize = 16;
/// Additional data authenticated with every text, so that texts from other versions or programs cannot be decrypted.
const CONTEXT: &[u8] = b"printfloor sealed secret v1";

/// Reason that a key or an encrypted text cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncryptionError {
    /// The key is not 32 bytes in base64.
    #[error("SECRETS_KEY must be 32 bytes in base64 (44 characters)")]
    BadKey,
    /// The text is not the output of [`SecretCipher::encrypt`].
    #[error("the text is not an encrypted secret")]
    NotEncrypted,
    /// The text was encrypted by a newer version of the program.
    #[error("the secret was encrypted in a format that this version does not support")]
    UnknownVersion,
    /// The text was encrypted with a different key, or is damaged.
    #[error("the secret cannot be decrypted: SECRETS_KEY is not the key it was encrypted with, or the data is damaged")]
    WrongKey,
}

/// Cipher that encrypts with one key. It decrypts with the same key and, while the key is being replaced, with the one
/// before it.
#[derive(Clone)]
pub struct SecretCipher {
    cipher: XChaCha20Poly1305,
    /// Cipher with the former key; `None` if the key replaces no other.
    former: Option<XChaCha20Poly1305>,
}

impl fmt::Debug for SecretCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretCipher").finish_non_exhaustive()
    }
}

impl SecretCipher {
    /// Creates a cipher from a key in the format of `SECRETS_KEY`: 32 bytes in base64.
    pub fn new(key_base64: &str) -> Result<Self, EncryptionError> {
        Ok(Self { cipher: with_key(key_base64)?, former: None })
    }

    /// Creates a cipher like [`SecretCipher::new`] that also decrypts data encrypted with the former key; an empty
    /// former key stands for none.
    pub fn with_former(key_base64: &str, former_base64: &str) -> Result<Self, EncryptionError> {
        let former = if former_base64.is_empty() { None } else { Some(with_key(former_base64)?) };
        Ok(Self { former, ..Self::new(key_base64)? })
    }

    /// Encrypts text. `nonce` must be random and must never be reused.
    pub fn encrypt(&self, plain: &str, nonce: [u8; NONCE_BYTES]) -> String {
        let payload = Payload { msg: plain.as_bytes(), aad: CONTEXT };
        #[expect(clippy::expect_used, reason = "fails only for more than 256 GiB")]
        let encrypted = self.cipher.encrypt(&XNonce::from(nonce), payload).expect("a secret is short");
        format!("{VERSION_PREFIX}{}", STANDARD.encode([nonce.as_slice(), &encrypted].concat()))
    }

    /// Encrypts a secret for the database, with a new random nonce; an empty secret stays empty.
    pub fn encrypt_or_empty(&self, secret: &str) -> String {
        if secret.is_empty() { String::new() } else { self.encrypt(secret, secret_bytes()) }
    }

    /// Decrypts text encrypted by [`SecretCipher::encrypt`] with the same key, or with the former one.
    pub fn decrypt(&self, encrypted: &str) -> Result<String, EncryptionError> {
        let Some(text) = encrypted.strip_prefix(VERSION_PREFIX) else {
            return Err(if later_version(encrypted) {
                EncryptionError::UnknownVersion
            } else {
                EncryptionError::NotEncrypted
            });
        };
        let bytes = STANDARD.decode(text).map_err(|_| EncryptionError::NotEncrypted)?;
        let Some((nonce, encrypted)) = bytes.split_first_chunk::<NONCE_BYTES>() else {
            return Err(EncryptionError::NotEncrypted);
        };
        if encrypted.len() < TAG_BYTES {
            return Err(EncryptionError::NotEncrypted);
        }
        let decrypt_with = |cipher: &XChaCha20Poly1305| {
            cipher.decrypt(&XNonce::from(*nonce), Payload { msg: encrypted, aad: CONTEXT }).ok()
        };
        let plain = decrypt_with(&self.cipher).or_else(|| self.former.as_ref().and_then(decrypt_with));
        let plain = plain.ok_or(EncryptionError::WrongKey)?;
        // Only UTF-8 is encrypted, and the tag proves that this is what was encrypted.
        String::from_utf8(plain).map_err(|_| EncryptionError::NotEncrypted)
    }
}

/// Reads a key in the format of `SECRETS_KEY`.
fn with_key(key_base64: &str) -> Result<XChaCha20Poly1305, EncryptionError> {
    let bytes = STANDARD.decode(key_base64.trim()).map_err(|_| EncryptionError::BadKey)?;
    let key: [u8; 32] = bytes.try_into().map_err(|_| EncryptionError::BadKey)?;
    Ok(XChaCha20Poly1305::new(&Key::from(key)))
}

/// Returns whether the text starts like one from a newer version: `v<number>:`.
fn later_version(encrypted: &str) -> bool {
    encrypted
        .strip_prefix('v')
        .and_then(|rest| rest.split_once(':'))
        .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn cipher(fill: u8) -> SecretCipher {
        SecretCipher::new(&STANDARD.encode([fill; 32])).unwrap()
    }

    #[test]
    fn an_encrypted_text_is_versioned_and_hides_its_content() {
        let encrypted = cipher(1).encrypt("hunter2hunter2", [9; NONCE_BYTES]);
        let bytes = STANDARD.decode(encrypted.strip_prefix("v1:").unwrap()).unwrap();
        assert_eq!(bytes.len(), NONCE_BYTES + 14 + TAG_BYTES);
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"));
    }

    #[test]
    fn the_same_secret_is_encrypted_differently_each_time() {
        let encrypted: HashSet<String> = (0..200).map(|_| cipher(1).encrypt_or_empty("hunter2")).collect();
        assert_eq!(encrypted.len(), 200);
        assert_eq!(cipher(1).encrypt_or_empty(""), "");
    }

    #[test]
    fn the_format_stays_readable() {
        // Encrypted by the first version of this program: every later version must decrypt it.
        let encrypted = "v1:CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJmIjP4iXSGcmptfFRvadwZe8RX4A=";
        assert_eq!(cipher(1).decrypt(encrypted).unwrap(), "kept");
    }

    #[test]
    fn another_key_and_a_damaged_text_are_told_clearly() {
        let encrypted = cipher(1).encrypt("secret", [9; NONCE_BYTES]);
        assert_eq!(cipher(2).decrypt(&encrypted), Err(EncryptionError::WrongKey));
        let mut bytes = STANDARD.decode(&encrypted[3..]).unwrap();
        for at in 0..bytes.len() {
            bytes[at] ^= 1;
            let damaged = format!("v1:{}", STANDARD.encode(&bytes));
            assert_eq!(cipher(1).decrypt(&damaged), Err(EncryptionError::WrongKey), "byte {at}");
            bytes[at] ^= 1;
        }
    }

    #[test]
    fn what_was_never_encrypted_is_no_wrong_key() {
        let short = format!("v1:{}", STANDARD.encode([0; NONCE_BYTES + TAG_BYTES - 1]));
        for text in ["", "plain", "v1:", "v1:!!", "v1:AAAA", "vx:AAAA", "v:AAAA", &short] {
            assert_eq!(cipher(1).decrypt(text), Err(EncryptionError::NotEncrypted), "{text}");
        }
        assert_eq!(cipher(1).decrypt("v2:AAAA"), Err(EncryptionError::UnknownVersion));
    }

    #[test]
    fn keys_of_the_wrong_length_or_alphabet_are_refused() {
        for key in ["", "not base64", &STANDARD.encode([0; 31]), &STANDARD.encode([0; 33])] {
            assert_eq!(SecretCipher::new(key).unwrap_err(), EncryptionError::BadKey, "{key}");
        }
        assert!(SecretCipher::new(&format!(" {}\n", STANDARD.encode([0; 32]))).is_ok());
    }

    #[test]
    fn a_former_key_decrypts_and_never_encrypts() {
        let keys = [1, 2].map(|fill: u8| STANDARD.encode([fill; 32]));
        let both = SecretCipher::with_former(&keys[0], &keys[1]).unwrap();
        for encrypted in [cipher(1), cipher(2)].map(|one| one.encrypt("secret", [9; NONCE_BYTES])) {
            assert_eq!(both.decrypt(&encrypted).unwrap(), "secret");
        }
        assert_eq!(both.decrypt(&cipher(3).encrypt("secret", [9; NONCE_BYTES])), Err(EncryptionError::WrongKey));
        let encrypted = both.encrypt("secret", [9; NONCE_BYTES]);
        assert_eq!(cipher(1).decrypt(&encrypted).unwrap(), "secret");
        assert_eq!(cipher(2).decrypt(&encrypted), Err(EncryptionError::WrongKey));
        assert!(SecretCipher::with_former(&keys[0], "").is_ok());
        assert_eq!(SecretCipher::with_former(&keys[0], "short").unwrap_err(), EncryptionError::BadKey);
    }

    #[test]
    fn the_key_is_not_printed() {
        assert_eq!(format!("{:?}", cipher(1)), "SecretCipher { .. }");
    }

    proptest! {
        #[test]
        fn what_is_encrypted_is_decrypted(text in "\\PC{0,200}", nonce: [u8; NONCE_BYTES]) {
            let cipher = cipher(3);
            prop_assert_eq!(cipher.decrypt(&cipher.encrypt(&text, nonce)).unwrap(), text);
        }

        #[test]
        fn decrypting_never_panics(text in "(v1:)?\\PC{0,80}") {
            prop_assert!(cipher(3).decrypt(&text).is_err());
        }
    }
}
