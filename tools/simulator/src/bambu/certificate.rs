//! Printer certificate, and the TLS settings of the printer's two servers.
//!
//! As on a real printer, the certificate's name is the serial number, which appears only in the subject. The
//! certificate is self-signed with a key derived from the serial number, so that a client that has pinned it still
//! recognises the printer after a restart.

use std::{io, sync::Arc};

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ED25519};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    server::ServerSessionMemoryCache,
    version::{TLS12, TLS13},
};
use sha2::{Digest as _, Sha256};

/// PKCS #8 prefix for the 32 bytes of an Ed25519 key.
const PKCS8_ED25519: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
/// Maximum number of TLS sessions stored for a control connection, which its data connections can resume.
const SESSIONS: usize = 16;

/// Certificate with its key and the TLS settings of the servers that present it.
#[derive(Clone, Debug)]
pub(super) struct TlsIdentity {
    certificate: CertificateDer<'static>,
    key: Arc<PrivatePkcs8KeyDer<'static>>,
    broker: Arc<ServerConfig>,
}

impl TlsIdentity {
    /// Returns the identity for a serial number; a different `generation` results in a different key.
    pub(super) fn of(serial: &str, generation: u32) -> io::Result<Self> {
        let seed = Sha256::digest(format!("{serial} {generation}"));
        let key = PrivatePkcs8KeyDer::from([&PKCS8_ED25519[..], &seed].concat());
        let signing = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_ED25519).map_err(io::Error::other)?;
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, serial);
        let certificate = params.self_signed(&signing).map_err(io::Error::other)?.der().clone();
        let broker = Arc::new(config(&certificate, &key, &[&TLS12, &TLS13])?);
        Ok(Self { certificate, key: Arc::new(key), broker })
    }

    /// Returns the TLS settings of the broker.
    pub(super) fn broker(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.broker)
    }

    /// Returns the TLS settings of one control connection and its data connections, with TLS 1.2 at most. They have
    /// their own session store, so that a data connection that resumes a session belongs to the control connection.
    pub(super) fn control(&self) -> io::Result<Arc<ServerConfig>> {
        let mut config = config(&self.certificate, &self.key, &[&TLS12])?;
        config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
        Ok(Arc::new(config))
    }
}

fn config(
    certificate: &CertificateDer<'static>,
    key: &PrivatePkcs8KeyDer<'static>,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> io::Result<ServerConfig> {
    ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(versions)
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], PrivateKeyDer::Pkcs8(key.clone_key()))
        .map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_serial_number_has_one_certificate_until_it_is_given_another() {
        let first = TlsIdentity::of("01S00A123456", 0).unwrap();
        assert_eq!(first.certificate, TlsIdentity::of("01S00A123456", 0).unwrap().certificate);
        assert_ne!(first.certificate, TlsIdentity::of("01S00A123456", 1).unwrap().certificate);
        assert!(first.certificate.windows(12).any(|part| part == b"01S00A123456"));
    }
}
