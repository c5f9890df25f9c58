//! The process's TLS provider.
//!
//! Several dependencies use rustls. If two providers are compiled in and none is selected, the first connection panics.
//! The binary, and every test that opens a connection, therefore call [`install_provider`] before anything else.

/// Installs aws-lc-rs as this process's TLS provider. Further calls have no effect.
pub fn install_provider() {
    // An error means that a provider was installed before, which is what was wanted.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    #[test]
    fn installing_twice_leaves_a_provider_in_place() {
        super::install_provider();
        super::install_provider();
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
        // Panics when no provider can be chosen.
        let _ = rustls::ClientConfig::builder();
    }
}
