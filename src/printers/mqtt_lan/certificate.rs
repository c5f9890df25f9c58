//! Parses the parts of a printer's certificate that the server uses: the common name, which is the serial number, and
//! the public key.
//!
//! These certificates are signed by the manufacturer's own authority or by the printer itself, name no host, and lack
//! extensions that verifiers for web servers require. This module therefore parses the few necessary fields itself.

/// DER tags.
const SEQUENCE_TAG: u8 = 0x30;
const EXPLICIT_VERSION: u8 = 0xA0;
const OBJECT_ID_TAG: u8 = 0x06;
/// Object identifier of a common name, 2.5.4.3.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

/// Parts of a certificate that the server uses.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Certificate<'a> {
    /// The subject's common name.
    pub(super) common_name: &'a str,
    /// Public key with its algorithm, DER-encoded.
    pub(super) public_key: &'a [u8],
}

impl<'a> Certificate<'a> {
    /// Parses a DER certificate; returns `None` if it is invalid or has no common name.
    pub(super) fn read(der: &'a [u8]) -> Option<Self> {
        let mut outer = Der(der).within(SEQUENCE_TAG)?;
        let mut body = outer.within(SEQUENCE_TAG)?;
        if body.0.first() == Some(&EXPLICIT_VERSION) {
            body.next()?;
        }
        // Serial number, algorithm of the signature, issuer, validity.
        for _ in 0..4 {
            body.next()?;
        }
        let mut subject = body.within(SEQUENCE_TAG)?;
        let before = body.0;
        body.next()?;
        let public_key = before.get(..before.len() - body.0.len())?;
        let mut common_name = None;
        while let Some((_, set)) = subject.next() {
            let mut names = Der(set);
            while let Some(mut name) = names.within(SEQUENCE_TAG) {
                let (tag, id) = name.next()?;
                if tag == OBJECT_ID_TAG && id == COMMON_NAME {
                    common_name = Some(std::str::from_utf8(name.next()?.1).ok()?);
                }
            }
        }
        Some(Self { common_name: common_name?, public_key })
    }
}

/// Reader for consecutive DER values.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Returns the tag and content of the next value.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, mut rest) = rest.split_first()?;
        let length = match *first {
            short @ 0..0x80 => usize::from(short),
            long => {
                let bytes = usize::from(long & 0x7F);
                if bytes > 4 || bytes == 0 {
                    return None;
                }
                let (length_bytes, after) = rest.split_at_checked(bytes)?;
                rest = after;
                length_bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte))
            }
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }

    /// Returns a reader for the content of the next value; `None` if the value has a different tag.
    fn within(&mut self, tag: u8) -> Option<Self> {
        let (actual_tag, content) = self.next()?;
        (actual_tag == tag).then_some(Self(content))
    }
}

#[cfg(test)]
pub(super) mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use base64::Engine;
    use proptest::prelude::*;

    use super::*;

    /// Two certificates for the printer `01S00A123456`, with different keys.
    pub(in crate::mqtt_lan) const SAMPLES: [&str; 2] = [
        "MIIBqTCCAU+gAwIBAgIUcQBM41COwXeNUArC6s3LKalk6GIwCgYIKoZIzj0EAwIwKjERMA8GA1UECgwIUHJpbnRlcnMxFTATBgNVBAMMDDAxUzAwQTEyMzQ1NjAeFw0yNjExMjIxNDE3MDNaFw0zNjExMTkxNDE3MDNaMCoxETAPBgNVBAoMCFByaW50ZXJzMRUwEwYDVQQDDAwwMVMwMEExMjM0NTYwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASn9GmoKrTpLRQU27u6xLpBnzlHIWzqJ1jyAylX3sG32TKFsyxX34bGZ1zuk5QNm8fyp/L0m0eK0iasa1o08Qjao1MwUTAdBgNVHQ4EFgQUlvVlU/mCHJ3ylmW3kVNCVrcODs8wHwYDVR0jBBgwFoAUlvVlU/mCHJ3ylmW3kVNCVrcODs8wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEApeZZosabWZVhiuCGMUAzA8Viuo6YjNyrTh8y0D4Cx7YCICDq3wlb1dqnkiAZs5tqISEZccinqaGNihUHkBtTINqE",
        "MIIBqTCCAU+gAwIBAgIUFx+Cr+FU4SwMvfdc62YhLHTcxZowCgYIKoZIzj0EAwIwKjERMA8GA1UECgwIUHJpbnRlcnMxFTATBgNVBAMMDDAxUzAwQTEyMzQ1NjAeFw0yNjExMjIxNDE3MDNaFw0zNjExMTkxNDE3MDNaMCoxETAPBgNVBAoMCFByaW50ZXJzMRUwEwYDVQQDDAwwMVMwMEExMjM0NTYwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATJXljDBkEXGu4l7awt+9kXFSysCJeN3L2FA/zS8ls+LTvwxEY7uq7cSa+vx6vsYcLJ4I7xrUUjX1yCJ7W6uh9eo1MwUTAdBgNVHQ4EFgQU6W8/Gy/PG6gIu0hez9wYVwobmNswHwYDVR0jBBgwFoAU6W8/Gy/PG6gIu0hez9wYVwobmNswDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAtMAg40W+lKRTRT18BqltpJZEKI8eeuslzSz3DxtsqmAIhAKpO9IZUBdr8FHBcnYuJWYB3/1HYw8w8d137jEz5Ur30",
    ];

    pub(in crate::mqtt_lan) fn sample(number: usize) -> Vec<u8> {
        base64::engine::general_purpose::STANDARD.decode(SAMPLES[number]).unwrap()
    }

    #[test]
    fn name_and_key_are_read() {
        let (one, two) = (sample(0), sample(1));
        let (first, second) = (Certificate::read(&one).unwrap(), Certificate::read(&two).unwrap());
        assert_eq!((first.common_name, second.common_name), ("01S00A123456", "01S00A123456"));
        assert_ne!(first.public_key, second.public_key);
        assert_eq!(first.public_key[0], SEQUENCE_TAG);
        assert!(first.public_key.len() > 40 && first.public_key.len() < one.len());
    }

    proptest! {
        #[test]
        fn garbage_is_no_certificate_and_no_panic(at in 0usize..400, byte: u8, cut in 0usize..400) {
            let mut bytes = sample(0);
            let length = bytes.len();
            bytes[at % length] = byte;
            let _ = Certificate::read(&bytes);
            let whole = sample(0);
            prop_assert_eq!(Certificate::read(&whole[..cut.min(length - 1)]), None);
        }
    }
}
