//! Random bytes for secrets, from the process's TLS provider.

/// Returns random bytes suitable for keys, tokens and nonces.
pub fn secret_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill_secret(&mut bytes);
    bytes
}

/// Fills a buffer with random bytes suitable for keys.
#[expect(clippy::expect_used, reason = "a machine without randomness must not serve")]
fn fill_secret(bytes: &mut [u8]) {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.secure_random.fill(bytes).expect("the machine gives randomness");
}
