//! Re-encrypts the secrets in stored documents when the key is replaced.
//!
//! A document is not parsed: a secret is recognised by its beginning, and proved by the former key, which decrypts
//! nothing that was not encrypted with it. All else therefore stays as it is, byte for byte, and secrets are found
//! wherever a document has them. This module does not know where documents are stored.

use super::encryption::{EncryptionError, SecretCipher};
use super::random::secret_bytes;

/// Beginning of a text in a JSON document that may be an encrypted secret.
pub const SECRET_OPENING: &str = "\"v1:";

/// Document in which the secrets are encrypted with another key.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RotatedDocument {
    /// Text of the document.
    pub text: String,
    /// Number of secrets that were re-encrypted.
    pub renewed: u64,
    /// Number of secrets that neither key decrypts; they are unchanged.
    pub unreadable: u64,
}

/// Encrypts again, with the new key, everything encrypted with the former one. A previously rotated document stays
/// unchanged.
pub fn rotate_document(document: &str, former: &SecretCipher, new: &SecretCipher) -> RotatedDocument {
    let mut result = RotatedDocument::default();
    let mut rest = document;
    while let Some(at) = rest.find(SECRET_OPENING) {
        let (before, from) = rest.split_at(at + 1);
        let (secret, after) = from.split_at(from.find(|c: char| !is_in_secret(c)).unwrap_or(from.len()));
        result.text.push_str(before);
        match former.decrypt(secret) {
            Ok(plain) => {
                result.text.push_str(&new.encrypt(&plain, secret_bytes()));
                result.renewed += 1;
            }
            Err(error) => {
                let is_lost = error == EncryptionError::WrongKey && new.decrypt(secret).is_err();
                result.text.push_str(secret);
                result.unreadable += u64::from(is_lost);
            }
        }
        rest = after;
    }
    result.text.push_str(rest);
    result
}

/// Returns whether an encrypted secret may contain the character: its version, and base64.
fn is_in_secret(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ':' | '+' | '/' | '=')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    fn cipher(fill: u8) -> SecretCipher {
        SecretCipher::new(&STANDARD.encode([fill; 32])).unwrap()
    }

    fn rotate(document: &str) -> RotatedDocument {
        rotate_document(document, &cipher(1), &cipher(2))
    }

    /// Returns the secrets in a document, as decrypted by a key.
    fn secrets(document: &str, fill: u8) -> Vec<String> {
        document.split('"').filter_map(|text| cipher(fill).decrypt(text).ok()).collect()
    }

    #[test]
    fn each_secret_is_encrypted_anew_and_all_else_stays() {
        let [first, second] = ["hunter2", "ünïcode \"quoted\""].map(|plain| cipher(1).encrypt_or_empty(plain));
        let document = format!(
            r#"{{"a":"{first}","b":1.50,"note":"v1: of the plan","former":["{second}",17],"c":"","d":"\"v1:x\""}}"#
        );
        let result = rotate(&document);
        assert_eq!((result.renewed, result.unreadable), (2, 0));
        assert_eq!(secrets(&result.text, 2), ["hunter2", "ünïcode \"quoted\""]);
        assert_eq!(secrets(&result.text, 1), Vec::<String>::new());
        let renewed: Vec<&str> = result.text.split('"').filter(|text| cipher(2).decrypt(text).is_ok()).collect();
        assert_eq!(result.text.replace(renewed[0], &first).replace(renewed[1], &second), document);
        // A second time there is nothing to do.
        let again = rotate(&result.text);
        assert_eq!(again, RotatedDocument { text: result.text, renewed: 0, unreadable: 0 });
    }

    #[test]
    fn a_secret_of_a_third_key_is_counted_and_left() {
        let document = format!(r#"{{"a":"{}"}}"#, cipher(3).encrypt_or_empty("lost"));
        assert_eq!(rotate(&document), RotatedDocument { text: document.clone(), renewed: 0, unreadable: 1 });
    }

    proptest! {
        #[test]
        fn no_document_without_secrets_changes(document in "(\"v1:|\\PC{0,8}|[A-Za-z0-9+/=\"]{0,60}){0,8}") {
            prop_assert_eq!(rotate(&document).text, document);
        }
    }
}
