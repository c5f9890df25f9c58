//! Second factor for staff accounts: codes from an authenticator app (TOTP, RFC 6238, in the variant that all apps
//! support: HMAC-SHA-1, six digits, 30 seconds) and recovery codes for a lost device. Each code is valid once.
//!
//! The HTTP layer encrypts the secret and hashes the recovery codes.

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha1::Sha1;

use crate::time::Timestamp;

/// Error code for a sign-in without the second factor that the account requires.
pub const SECOND_FACTOR_REQUIRED: &str = "second_factor_required";
/// Error code for a second-factor code that is wrong or was used before.
pub const WRONG_CODE: &str = "wrong_factor_code";
/// Error code for a further attempt after too many wrong codes.
pub const TOO_MANY_CODES: &str = "too_many_factor_codes";

/// Length of the secret, in bytes, as recommended by RFC 4226.
pub const SECRET_BYTES: usize = 20;
/// Number of recovery codes issued together.
pub const RECOVERY_CODES: usize = 10;
/// Time for which a code is displayed, in milliseconds.
const STEP_MS: i64 = 30_000;
/// Number of time steps before and after the current one whose codes are accepted, because phone clocks may be a few
/// seconds off.
const MAX_STEPS_OFF: i64 = 1;
/// Length of a code, in digits.
const CODE_DIGITS: usize = 6;
/// Upper bound of codes, exclusive.
const CODE_END: u32 = 1_000_000;
/// Maximum number of wrong codes per account within [`GUESS_WINDOW_MS`], regardless of their origin.
const MAX_GUESSES: usize = 5;
/// Time for which a wrong code is included in the limit, in milliseconds.
const GUESS_WINDOW_MS: u64 = 15 * 60_000;

/// Second factor of a staff member, as stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecondFactor {
    /// Secret shared with the app, in base32, encrypted with the server's key. Never part of an API response.
    pub encrypted_secret: String,
    /// Time at which a first code proved that the app has the secret; until then it is `None`, and sign-in does not
    /// require the factor.
    pub confirmed_at: Option<Timestamp>,
    /// Latest time step from which a code was accepted; codes from that step and earlier ones are rejected.
    pub last_step: i64,
    /// Hashes of the unused recovery codes.
    pub recovery_hashes: Vec<String>,
    /// Times of wrong codes and of codes being checked, at most `MAX_GUESSES`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guesses: Vec<Timestamp>,
}

/// Proof of the second factor, already verified by the HTTP layer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FactorProof {
    /// Code from the given time step.
    Step(i64),
    /// Recovery code with the given hash.
    Recovery(String),
}

impl SecondFactor {
    /// Returns a factor whose app has not proved yet that it has the secret.
    pub fn unconfirmed(encrypted_secret: String) -> Self {
        Self { encrypted_secret, confirmed_at: None, last_step: 0, recovery_hashes: Vec::new(), guesses: Vec::new() }
    }

    /// Returns whether sign-in requires the factor.
    pub fn is_on(&self) -> bool {
        self.confirmed_at.is_some()
    }

    /// Returns the factor with the given proof consumed and its guess no longer counted; `None` if the proof was
    /// already used or does not belong to the factor.
    pub fn with_used(&self, proof: &FactorProof) -> Option<Self> {
        let mut next = self.clone();
        match proof {
            FactorProof::Step(step) if *step > self.last_step => next.last_step = *step,
            FactorProof::Step(_) => return None,
            FactorProof::Recovery(hash) => {
                let at = self.recovery_hashes.iter().position(|own| own == hash)?;
                next.recovery_hashes.remove(at);
            }
        }
        next.guesses.pop();
        Some(next)
    }

    /// Returns the factor with an additional guess recorded, before the code is checked; `None` if the limit has been
    /// reached.
    pub fn with_guess(&self, now: Timestamp) -> Option<Self> {
        let mut guesses = self.recent_guesses(now);
        if guesses.len() >= MAX_GUESSES {
            return None;
        }
        guesses.push(now);
        Some(Self { guesses, ..self.clone() })
    }

    /// Returns the number of whole seconds, at least 1, until the next code may be tried; `None` if a code may be tried
    /// now.
    pub fn guess_wait_seconds(&self, now: Timestamp) -> Option<u32> {
        let guesses = self.recent_guesses(now);
        if guesses.len() < MAX_GUESSES {
            return None;
        }
        let oldest = guesses.iter().map(|at| at.0.abs_diff(now.0)).max()?;
        u32::try_from(GUESS_WINDOW_MS.saturating_sub(oldest).div_ceil(1000)).ok()
    }

    /// Returns the guesses within the window. Guesses recorded while the clock was ahead by more than the window are
    /// ignored.
    fn recent_guesses(&self, now: Timestamp) -> Vec<Timestamp> {
        self.guesses.iter().copied().filter(|at| at.0.abs_diff(now.0) < GUESS_WINDOW_MS).collect()
    }
}

/// Returns the secret as it is typed into an app: base32 without padding.
pub fn secret_text(secret: &[u8]) -> String {
    BASE32_NOPAD.encode(secret)
}

/// Returns the `otpauth://` URL that an app reads from a QR code.
pub fn app_url(secret_text: &str, shop: &str, email: &str) -> String {
    let plain =
        |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20");
    let (shop, email) = (plain(shop), plain(email));
    format!("otpauth://totp/{shop}:{email}?secret={secret_text}&issuer={shop}")
}

/// Returns the time step of the given code, if it is close to the current step and later than `after`. Returns `None`
/// otherwise, or if the secret is not base32.
pub fn step_of_code(secret_text: &str, code: &str, now: Timestamp, after: i64) -> Option<i64> {
    let secret = BASE32_NOPAD.decode(secret_text.as_bytes()).ok()?;
    let digits: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    if digits.len() != CODE_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (code, present) = (digits.parse::<u32>().ok()?, now.0.div_euclid(STEP_MS));
    let steps = present - MAX_STEPS_OFF..=present + MAX_STEPS_OFF;
    steps.filter(|step| *step > after).find(|step| code_of_step(&secret, *step) == code)
}

/// Returns the code that an app displays during a time step. Steps are the number of 30-second periods since 1970.
fn code_of_step(secret: &[u8], step: i64) -> u32 {
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).expect("a key of any length");
    mac.update(&step.to_be_bytes());
    let hash = mac.finalize().into_bytes();
    // Dynamic truncation of RFC 4226: the last four bits say where the number stands.
    let at = hash.last().map_or(0, |last| usize::from(last & 0x0f));
    let number = hash.iter().skip(at).take(4).fold(0, |number: u32, byte| (number << 8) | u32::from(*byte));
    (number & 0x7fff_ffff) % CODE_END
}

/// Returns the code that an app displays at a given time, with leading zeros. Returns `None` if the secret is not
/// base32.
pub fn code_at(secret_text: &str, at: Timestamp) -> Option<String> {
    let secret = BASE32_NOPAD.decode(secret_text.as_bytes()).ok()?;
    Some(format!("{:0CODE_DIGITS$}", code_of_step(&secret, at.0.div_euclid(STEP_MS))))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    fn secret() -> String {
        secret_text(b"12345678901234567890")
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        // The SHA-1 vectors of RFC 6238, appendix B, of whose eight digits the last six are the code of six.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code_at(&secret(), Timestamp(seconds * 1000)).unwrap(), code);
        }
        assert_eq!(secret(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn a_code_is_taken_a_step_early_or_late_and_once() {
        let now = Timestamp(1_700_000_000_000);
        let at = |steps: i64| code_at(&secret(), now.plus_ms(steps * STEP_MS)).unwrap();
        let present = now.0 / STEP_MS;
        for (steps, is_valid) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            assert_eq!(step_of_code(&secret(), &at(steps), now, 0), is_valid.then_some(present + steps), "{steps}");
        }
        assert_eq!(step_of_code(&secret(), &at(0), now, present), None, "it was used");
        let spaced = format!(" {} {}", &at(0)[..3], &at(0)[3..]);
        assert_eq!(step_of_code(&secret(), &spaced, now, 0), Some(present), "as apps show it");
        for wrong in ["", "12345", "1234567", "12345a", "-12345", "+12345", "１２３４５６"] {
            assert_eq!(step_of_code(&secret(), wrong, now, 0), None, "{wrong}");
        }
        assert_eq!(step_of_code("not base32!", &at(0), now, 0), None);
    }

    #[test]
    fn an_app_reads_shop_account_and_secret() {
        let url = app_url("ABC", "Ada & Sons: prints", "ann+1@example.org");
        assert_eq!(
            url,
            "otpauth://totp/Ada%20%26%20Sons%3A%20prints:ann%2B1%40example.org?secret=ABC&issuer=Ada%20%26%20Sons%3A%20prints"
        );
    }

    #[test]
    fn a_factor_of_an_earlier_release_has_no_guesses() {
        let stored = r#"{"encryptedSecret":"v1:a","confirmedAt":null,"lastStep":3,"recoveryHashes":["b"]}"#;
        let factor: SecondFactor = serde_json::from_str(stored).unwrap();
        assert!(factor.guesses.is_empty());
        assert_eq!(serde_json::to_string(&factor).unwrap(), stored);
    }

    proptest! {
        #[test]
        fn wrong_codes_are_bounded_in_every_window_and_right_ones_are_not(
            attempts in proptest::collection::vec((0u32..400, any::<bool>()), 1..80),
        ) {
            let mut factor = SecondFactor::unconfirmed(String::new());
            let (mut now, mut step) = (Timestamp(1_700_000_000_000), 0);
            let mut wrong: Vec<Timestamp> = Vec::new();
            for (seconds, is_right) in attempts {
                now = now.plus_ms(i64::from(seconds) * 1000);
                let recent = wrong.iter().filter(|at| now.0 - at.0 < GUESS_WINDOW_MS as i64).count();
                let counted = factor.with_guess(now);
                prop_assert_eq!(counted.is_some(), recent < MAX_GUESSES);
                prop_assert_eq!(factor.guess_wait_seconds(now).is_none(), recent < MAX_GUESSES);
                let Some(next) = counted else {
                    let wait = i64::from(factor.guess_wait_seconds(now).unwrap());
                    prop_assert!(factor.with_guess(now.plus_ms(wait * 1000)).is_some(), "after the wait");
                    prop_assert!(factor.with_guess(now.plus_ms((wait - 1) * 1000)).is_none(), "before its end");
                    continue;
                };
                factor = next;
                if is_right {
                    step += 1;
                    factor = factor.with_used(&FactorProof::Step(step)).unwrap();
                } else {
                    wrong.push(now);
                }
                prop_assert!(factor.guesses.len() <= MAX_GUESSES);
            }
        }

        #[test]
        fn no_proof_is_good_twice(proofs in proptest::collection::vec((0i64..30, 0usize..4), 1..60)) {
            let hashes: Vec<String> = (0..3).map(|n| format!("hash {n}")).collect();
            let mut factor = SecondFactor { recovery_hashes: hashes, ..SecondFactor::unconfirmed(String::new()) };
            let mut used: Vec<FactorProof> = Vec::new();
            for (step, code) in proofs {
                // Some are steps, some recovery codes, and one is none of these.
                let proof = if step % 2 == 0 { FactorProof::Step(step) } else { FactorProof::Recovery(format!("hash {code}")) };
                if let Some(next) = factor.with_used(&proof) {
                    prop_assert!(!used.contains(&proof) && proof != FactorProof::Recovery("hash 3".to_owned()));
                    used.push(proof.clone());
                    factor = next;
                }
                prop_assert_eq!(factor.with_used(&proof), None);
            }
        }
    }
}
