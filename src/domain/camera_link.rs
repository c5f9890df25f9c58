//! Signed URLs for camera images, for systems that fetch images themselves and have no API key. Each URL is valid for
//! one printer and about a minute.

use subtle::ConstantTimeEq as _;

use crate::id::Id;
use crate::signing::hmac_sha256;
use crate::time::Timestamp;

/// Lifetime of a signed URL, in milliseconds.
const LINK_LIFE_MS: i64 = 60_000;
/// Domain separator that distinguishes camera URL signatures from other signatures made with the same secret.
const PURPOSE: &str = "printfloor camera link";

/// Returns the signed path and query for a printer's camera image, valid for a minute from `now`.
pub fn signed_path(secret: &str, printer: Id, now: Timestamp) -> String {
    let until = now.0.saturating_add(LINK_LIFE_MS);
    let signature = hex::encode(signature(secret, printer, until));
    format!("/api/printers/{printer}/camera/signed?until={until}&signature={signature}")
}

/// Returns whether the URL was signed for the given printer and has not expired. Compares signatures in constant time.
pub fn is_good(secret: &str, printer: Id, until: i64, link_signature: &str, now: Timestamp) -> bool {
    let presented = hex::decode(link_signature).unwrap_or_default();
    let signed: bool = signature(secret, printer, until).as_slice().ct_eq(presented.as_slice()).into();
    // One that is good for longer than was ever given out was made when the clock stood elsewhere.
    signed && now.0 <= until && until.saturating_sub(now.0) <= LINK_LIFE_MS
}

fn signature(secret: &str, printer: Id, until: i64) -> [u8; 32] {
    hmac_sha256(secret.as_bytes(), &[PURPOSE.as_bytes(), b"\n", printer.0.as_bytes(), b"\n", &until.to_be_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::id;

    /// Signing secret used in the tests.
    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn parts(path: &str) -> (i64, String) {
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let (until, signature) = query.split_once('&').unwrap_or_default();
        let until = until.trim_start_matches("until=").parse().unwrap_or_default();
        (until, signature.trim_start_matches("signature=").to_owned())
    }

    #[test]
    fn a_signed_address_is_for_one_printer_and_one_minute() {
        let now = Timestamp(1_000_000);
        let path = signed_path(SECRET, id(1), now);
        assert!(path.starts_with(&format!("/api/printers/{}/camera/signed?", id(1))), "{path}");
        let (until, signature) = parts(&path);
        let good = |printer, until, signature: &str, at| is_good(SECRET, id(printer), until, signature, Timestamp(at));
        assert!(good(1, until, &signature, now.0) && good(1, until, &signature, until));
        assert!(!good(1, until, &signature, until + 1), "over");
        assert!(!good(1, until, &signature, now.0 - 1), "the clock was set back");
        assert!(!good(2, until, &signature, now.0), "another printer");
        assert!(!good(1, until + 1, &signature, now.0), "another time");
        assert!(!good(1, until, "", now.0) && !good(1, until, "zz", now.0));
        assert!(!is_good("another secret that is long enough", id(1), until, &signature, now));
    }
}
