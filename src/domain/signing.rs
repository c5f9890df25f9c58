//! Signatures of outbound webhooks and the secrets that create them. Signatures of inbound events are in
//! [`crate::payment_event`].
//!
//! Every delivery carries two. `X-Service-Signature` covers the raw body, and its key is the secret's text as it is.
//! `webhook-signature` follows the Standard Webhooks specification 1.0: it covers `id.timestamp.body`, and its key is
//! decoded from the base64 after `whsec_`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// Prefix of the secrets that the server generates; the key in base64 follows.
const SECRET_PREFIX: &str = "whsec_";
/// Maximum length of a secret, in bytes.
pub const SECRET_MAX_BYTES: usize = 256;
/// Recommended length of a secret, in bytes; a shorter one is accepted with a warning.
const SECRET_ADVISED_BYTES: usize = 24;

const SERVICE_PREFIX: &str = "sha256=";
const STANDARD_PREFIX: &str = "v1,";

/// Reason a secret is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The secret is empty.
    #[error("the secret must not be empty")]
    Empty,
    /// The secret is longer than [`SECRET_MAX_BYTES`].
    #[error("the secret must be at most {SECRET_MAX_BYTES} bytes, not {bytes}")]
    TooLong {
        /// Length of the secret in bytes.
        bytes: usize,
    },
}

/// Strength of an accepted secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretStrength {
    /// At least as long as recommended.
    Good,
    /// Shorter than `SECRET_ADVISED_BYTES`; the caller shows a warning.
    Weak,
}

/// Checks a secret that a user chose.
pub fn check_secret(secret: &str) -> Result<SecretStrength, SecretError> {
    match secret.len() {
        0 => Err(SecretError::Empty),
        bytes if bytes > SECRET_MAX_BYTES => Err(SecretError::TooLong { bytes }),
        bytes if bytes < SECRET_ADVISED_BYTES => Ok(SecretStrength::Weak),
        _ => Ok(SecretStrength::Good),
    }
}

/// Generates a secret in the Standard Webhooks form from random bytes.
pub fn generate_secret(random: [u8; 32]) -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(random))
}

/// Returns the value of `X-Service-Signature`: `sha256=` and the HMAC-SHA256 of the raw body in lower-case hexadecimal.
pub fn service_signature(secret: &str, body: &[u8]) -> String {
    format!("{SERVICE_PREFIX}{}", hex::encode(hmac_sha256(secret.as_bytes(), &[body])))
}

/// Returns whether `header` is the `X-Service-Signature` of this body. The comparison takes constant time, so that an
/// attacker learns nothing from its duration.
pub fn verify_service(secret: &str, body: &[u8], header: &str) -> bool {
    let Some(signature) = header.strip_prefix(SERVICE_PREFIX).and_then(|text| hex::decode(text).ok()) else {
        return false;
    };
    same(&hmac_sha256(secret.as_bytes(), &[body]), &signature)
}

/// Returns the value of `webhook-signature`: one `v1,<base64>` per secret, separated by spaces. During a rotation there
/// are two, and a receiver accepts the message if one matches.
///
/// `id` is the value of `webhook-id`, `timestamp` that of `webhook-timestamp` (Unix seconds of the attempt).
pub fn webhook_signature(secrets: &[&str], id: &str, timestamp: i64, body: &[u8]) -> String {
    secrets
        .iter()
        .map(|secret| format!("{STANDARD_PREFIX}{}", STANDARD.encode(standard_mac(secret, id, timestamp, body))))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns whether one of the signatures in `header` is the `webhook-signature` of this message. The caller checks the
/// age of `timestamp`.
pub fn verify_webhook(secret: &str, id: &str, timestamp: i64, body: &[u8], header: &str) -> bool {
    let expected = standard_mac(secret, id, timestamp, body);
    header
        .split(' ')
        .filter_map(|part| part.strip_prefix(STANDARD_PREFIX))
        .filter_map(|text| STANDARD.decode(text).ok())
        // Every signature is compared, so that the time does not tell which one fits.
        .fold(false, |is_match, candidate| is_match | same(&expected, &candidate))
}

fn standard_mac(secret: &str, id: &str, timestamp: i64, body: &[u8]) -> [u8; 32] {
    let stamp = timestamp.to_string();
    hmac_sha256(&standard_key(secret), &[id.as_bytes(), b".", stamp.as_bytes(), b".", body])
}

/// Returns the Standard Webhooks key of a secret: the decoded base64 after `whsec_`; any other secret is its own key.
fn standard_key(secret: &str) -> Vec<u8> {
    secret
        .strip_prefix(SECRET_PREFIX)
        .and_then(|text| STANDARD.decode(text).ok())
        .filter(|key| !key.is_empty())
        .unwrap_or_else(|| secret.as_bytes().to_vec())
}

/// Computes the HMAC-SHA256 of the concatenated parts.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Compares two values in constant time.
pub fn same(expected: &[u8; 32], actual: &[u8]) -> bool {
    expected.as_slice().ct_eq(actual).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // Test vector published with the Standard Webhooks libraries.
    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const ID: &str = "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk";
    const STAMP: i64 = 1_649_367_553;
    const BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;
    const SIGNATURE: &str = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";

    #[test]
    fn standard_webhooks_test_vector_is_met() {
        assert_eq!(webhook_signature(&[SECRET], ID, STAMP, BODY), SIGNATURE);
        assert!(verify_webhook(SECRET, ID, STAMP, BODY, SIGNATURE));
        assert!(!verify_webhook(SECRET, ID, STAMP + 1, BODY, SIGNATURE));
    }

    #[test]
    fn service_signature_is_the_plain_hmac_of_the_body() {
        // Test vector of HMAC-SHA256: RFC 4231, test case 2.
        assert_eq!(
            service_signature("Jefe", b"what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn the_two_schemes_key_a_prefixed_secret_differently() {
        let as_given = hmac_sha256(SECRET.as_bytes(), &[BODY]);
        assert_eq!(service_signature(SECRET, BODY), format!("sha256={}", hex::encode(as_given)));
        assert_ne!(standard_key(SECRET), SECRET.as_bytes());
    }

    #[test]
    fn secrets_that_are_not_base64_after_the_prefix_are_their_own_key() {
        for secret in ["plain", "whsec_", "whsec_not base64!", "WHSEC_AAAA"] {
            assert_eq!(standard_key(secret), secret.as_bytes(), "{secret}");
        }
    }

    #[test]
    fn rotation_carries_both_signatures_and_either_secret_verifies() {
        let old = generate_secret([1; 32]);
        let new = generate_secret([2; 32]);
        let header = webhook_signature(&[&new, &old], ID, STAMP, BODY);
        assert_eq!(header.split(' ').count(), 2);
        assert!(verify_webhook(&old, ID, STAMP, BODY, &header));
        assert!(verify_webhook(&new, ID, STAMP, BODY, &header));
        assert!(!verify_webhook("else", ID, STAMP, BODY, &header));
    }

    #[test]
    fn secrets_are_judged_by_their_length_in_bytes() {
        assert_eq!(check_secret(""), Err(SecretError::Empty));
        assert_eq!(check_secret("x"), Ok(SecretStrength::Weak));
        assert_eq!(check_secret(&"x".repeat(23)), Ok(SecretStrength::Weak));
        assert_eq!(check_secret(&"x".repeat(24)), Ok(SecretStrength::Good));
        assert_eq!(check_secret(&"é".repeat(128)), Ok(SecretStrength::Good));
        assert_eq!(check_secret(&"é".repeat(129)), Err(SecretError::TooLong { bytes: 258 }));
    }

    #[test]
    fn generated_secrets_are_good_and_decode_to_the_random_bytes() {
        let secret = generate_secret([7; 32]);
        assert_eq!(check_secret(&secret), Ok(SecretStrength::Good));
        assert_eq!(standard_key(&secret), [7; 32]);
    }

    proptest! {
        #[test]
        fn what_is_signed_verifies_and_what_is_changed_does_not(secret in ".{1,80}", body: Vec<u8>, stamp: i64) {
            let plain = service_signature(&secret, &body);
            prop_assert!(verify_service(&secret, &body, &plain));
            let standard = webhook_signature(&[&secret], "id", stamp, &body);
            prop_assert!(verify_webhook(&secret, "id", stamp, &body, &standard));
            let mut other = body.clone();
            other.push(0);
            prop_assert!(!verify_service(&secret, &other, &plain));
            prop_assert!(!verify_webhook(&secret, "id", stamp, &other, &standard));
        }

        #[test]
        fn verifying_never_panics(header in "\\PC{0,120}") {
            prop_assert!(!verify_service("secret", b"body", &header));
            prop_assert!(!verify_webhook("secret", "id", 0, b"body", &header));
        }
    }
}
