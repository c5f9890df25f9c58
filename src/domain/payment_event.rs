//! Events from the payment processor: signature verification and parsing, without I/O.
//!
//! The order decides how to apply an event, and the store detects whether an event was processed before. Events arrive
//! late, twice and out of order, so this module assumes no sequence.

mod event;

pub use event::{DisputeUpdate, EventError, OrderLinks, PaidLine, PaidPeriod, PaymentEffect, PaymentEvent, parse};

use crate::signing::{hmac_sha256, same};

/// Reason why an incoming event is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The header has no valid `t=`, or more than one.
    #[error("the signature header must have exactly one timestamp, t=")]
    NoTimestamp,
    /// The header has no `v1=`.
    #[error("the signature header has no v1= signature")]
    NoSignature,
    /// None of the signatures matches the body and the configured secret.
    #[error("the signature does not match the body")]
    Mismatch,
    /// The signature is valid but too old.
    #[error("the signature is too old")]
    TooOld,
    /// The signature is valid, but its timestamp is in the future.
    #[error("the signature timestamp is in the future")]
    Ahead,
}

/// Number of days for which the ID of an applied event is stored. It is longer than any processor retries an event, so
/// that duplicates have no effect.
pub const ID_RETENTION_DAYS: i64 = 30;

/// Verifies the header `t=<unix seconds>,v1=<hex>[,v1=<hex>]…`, whose signatures cover `t.body`.
///
/// The HMAC key is the text of the secret, including its prefix. One matching `v1` is enough, because there are two
/// while a secret is being rotated; other header fields are ignored. `now` is in Unix seconds, `tolerance` in seconds
/// in either direction.
pub fn verify(header: &str, body: &[u8], secret: &str, now: i64, tolerance: u64) -> Result<(), SignatureError> {
    let mut stamps = Vec::new();
    let mut signatures = Vec::new();
    for (key, value) in header.split(',').filter_map(|part| part.trim().split_once('=')) {
        match key {
            "t" => stamps.push(value),
            "v1" => signatures.push(value),
            _ => {}
        }
    }
    let [stamp] = stamps[..] else {
        return Err(SignatureError::NoTimestamp);
    };
    let signed_at: i64 = stamp.parse().map_err(|_| SignatureError::NoTimestamp)?;
    if signatures.is_empty() {
        return Err(SignatureError::NoSignature);
    }
    // The signature covers the timestamp as it was written, which may differ from how we would write the number.
    let expected = hmac_sha256(secret.as_bytes(), &[stamp.as_bytes(), b".", body]);
    let matched = signatures
        .iter()
        .filter_map(|text| hex::decode(text).ok())
        // Every signature is compared, so that the time does not tell which one fits.
        .fold(false, |is_match, candidate| is_match | same(&expected, &candidate));
    if !matched {
        return Err(SignatureError::Mismatch);
    }
    if now.abs_diff(signed_at) <= tolerance {
        Ok(())
    } else if signed_at < now {
        Err(SignatureError::TooOld)
    } else {
        Err(SignatureError::Ahead)
    }
}

/// Returns the signature header that a processor would send; used by tests and by the simulated processor in the demo.
pub fn sign(body: &[u8], secret: &str, at: i64) -> String {
    let stamp = at.to_string();
    let mac = hmac_sha256(secret.as_bytes(), &[stamp.as_bytes(), b".", body]);
    format!("t={stamp},v1={}", hex::encode(mac))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "whsec_test";
    const BODY: &[u8] = br#"{"id":"evt_1"}"#;
    const NOW: i64 = 1_700_000_000;

    fn judge(header: &str) -> Result<(), SignatureError> {
        verify(header, BODY, SECRET, NOW, 300)
    }

    #[test]
    fn the_whole_secret_keys_the_stamp_a_dot_and_the_body() {
        // Computed with another program: HMAC-SHA256 of `1700000000.{"id":"evt_1"}` under the key `whsec_test`.
        let expected = "t=1700000000,v1=c89214b5b5da833daed6f0b8c5bb6bd58cea9022bd80ccc78230f3942d632925";
        assert_eq!(sign(BODY, SECRET, NOW), expected);
        assert_eq!(judge(expected), Ok(()));
    }

    #[test]
    fn one_of_several_signatures_is_enough_and_unknown_keys_are_ignored() {
        let good = sign(BODY, SECRET, NOW);
        let v1 = good.split_once(',').map_or("", |(_, v1)| v1);
        assert_eq!(judge(&format!("t={NOW},v0=abc,v1=00ff,{v1},scheme=x,lonely")), Ok(()));
        assert_eq!(judge(&format!("t={NOW}, {v1}")), Ok(()));
        assert_eq!(judge(&format!("t={NOW},{v1},{v1}")), Ok(()), "the same one twice");
    }

    #[test]
    fn a_wrong_body_secret_stamp_or_signature_is_a_mismatch() {
        let good = sign(BODY, SECRET, NOW);
        assert_eq!(verify(&good, b"{}", SECRET, NOW, 300), Err(SignatureError::Mismatch));
        assert_eq!(verify(&good, BODY, "other", NOW, 300), Err(SignatureError::Mismatch));
        let moved = good.replace("t=1700000000", "t=1700000001");
        assert_eq!(judge(&moved), Err(SignatureError::Mismatch));
        assert_eq!(judge(&format!("t={NOW},v1=")), Err(SignatureError::Mismatch));
        assert_eq!(judge(&format!("t={NOW},v1=nothex")), Err(SignatureError::Mismatch));
        // Signatures of version v0 are never accepted.
        assert_eq!(judge(&good.replace("v1=", "v0=")), Err(SignatureError::NoSignature));
    }

    #[test]
    fn a_stamp_is_accepted_up_to_the_tolerance_on_both_sides() {
        for (shift, expected) in
            [(-300, Ok(())), (300, Ok(())), (-301, Err(SignatureError::TooOld)), (301, Err(SignatureError::Ahead))]
        {
            assert_eq!(judge(&sign(BODY, SECRET, NOW + shift)), expected, "{shift}");
        }
        assert_eq!(judge(&sign(BODY, SECRET, i64::MIN)), Err(SignatureError::TooOld));
        assert_eq!(judge(&sign(BODY, SECRET, i64::MAX)), Err(SignatureError::Ahead));
    }

    #[test]
    fn a_header_without_one_stamp_is_refused() {
        for header in ["", "v1=00", "t=,v1=00", "t=abc,v1=00", "t=1,t=1,v1=00", "t=99999999999999999999,v1=00"] {
            assert_eq!(judge(header), Err(SignatureError::NoTimestamp), "{header}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic_or_believe(header in "(t=[0-9]{0,25}|v1=[0-9a-fé]{0,70}|,|=|\\PC){0,8}") {
            prop_assert!(judge(&header).is_err());
        }
    }
}
