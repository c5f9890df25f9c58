//! TLS with a printer that presents its own certificate: the certificate must be issued for the printer's serial
//! number, and its key must remain the one that was seen first.
//!
//! There is no certificate authority that can be relied on. The manufacturer's authority differs between product
//! families, its certificates do not satisfy the rules for web servers, and in LAN-only mode some printers sign their
//! own certificates. The first connection is therefore trusted if the serial number is correct; later connections must
//! use the same key, which is stored with the printer's registration. An attacker who impersonates the printer at the
//! first connection is trusted and receives the access code. A printer whose board was replaced is accepted once an
//! operator has disconnected and reconnected it.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme, SupportedProtocolVersion};
use sha2::{Digest, Sha256};

use super::certificate::Certificate;
use crate::adapter_parts::MakeError;

/// Number of sessions that may be resumed per configuration: those of one printer, which the library stores in groups
/// of eight for each server name. Its own number makes room for the sessions of 32 servers.
const MAX_SESSIONS: usize = 8;

/// Cryptography shared by all printers.
static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(aws_lc_rs::default_provider()));

/// TLS configuration for one printer.
pub(super) struct Tls {
    /// Configuration for connections to the broker.
    pub(super) mqtt: Arc<ClientConfig>,
    /// Configuration for connections to the file server. Control and data connections share it, so that the data
    /// connection resumes the session of the control connection, as the printers require. It is limited to TLS 1.2:
    /// with 1.3, the session arrives too late, and transfers are truncated.
    pub(super) ftps: Arc<ClientConfig>,
    /// Server name to request; sessions are also resumed under it.
    pub(super) name: ServerName<'static>,
    verifier: Arc<Verifier<PinnedKeyJudge>>,
}

impl Tls {
    /// Creates the configuration for the printer with the given serial number at the given host. If `known_key` is set,
    /// the printer must present the key with that digest.
    pub(super) fn new(serial: &str, host: &str, known_key: Option<&str>) -> Result<Self, MakeError> {
        let name = ServerName::try_from(serial.to_owned()).or_else(|_| ServerName::try_from(host.to_owned()));
        let name = name.map_err(|_| MakeError::BadSerial(format!("{serial:?} is not a valid serial number")))?;
        let provider = PROVIDER.clone();
        let known_key = known_key.and_then(|digits| hex::decode(digits).ok()?.try_into().ok());
        let pinned = PinnedKeyJudge { serial: serial.to_owned(), key: Mutex::new(known_key) };
        let verifier = Arc::new(Verifier { judge: pinned, provider: provider.clone() });
        let config = |versions: &[&'static SupportedProtocolVersion]| {
            let builder = ClientConfig::builder_with_provider(provider.clone());
            let builder = builder.with_protocol_versions(versions);
            let builder = builder.map_err(|error| MakeError::BadAddress(format!("TLS is not available: {error}")))?;
            let builder = builder.dangerous().with_custom_certificate_verifier(verifier.clone());
            let mut config = builder.with_no_client_auth();
            config.resumption = Resumption::in_memory_sessions(MAX_SESSIONS);
            Ok(Arc::new(config))
        };
        Ok(Self {
            mqtt: config(&[&rustls::version::TLS13, &rustls::version::TLS12])?,
            ftps: config(&[&rustls::version::TLS12])?,
            name,
            verifier,
        })
    }

    /// Returns the hexadecimal digest of the key that the printer must present from now on; `None` if no key
    /// is known yet.
    pub(super) fn known_key(&self) -> Option<String> {
        self.verifier.judge.known_key().map(hex::encode)
    }
}

/// Judge that decides whether a certificate belongs to a printer.
trait CertificateJudge: std::fmt::Debug + Send + Sync {
    /// Checks a certificate; the error is the human-readable reason for rejecting it.
    fn judge(&self, der: &[u8]) -> Result<(), String>;
    /// Records that the peer has proved that it owns the certificate's key. A certificate alone proves nothing, because
    /// anyone can send a copy of it.
    fn proved(&self, der: &[u8]);
}

/// Certificate verifier that checks that the printer owns the certificate's key and leaves the rest of the decision to
/// its judge.
#[derive(Debug)]
struct Verifier<J> {
    judge: J,
    provider: Arc<CryptoProvider>,
}

impl<J: CertificateJudge> ServerCertVerifier for Verifier<J> {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.judge.judge(end_entity).map(|()| ServerCertVerified::assertion()).map_err(Error::General)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let proof = verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)?;
        self.judge.proved(cert);
        Ok(proof)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let proof = verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)?;
        self.judge.proved(cert);
        Ok(proof)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// SHA-256 digest of a public key.
type KeyDigest = [u8; 32];

/// Judge that accepts certificates issued for the printer's serial number, with the first key whose ownership was
/// proved.
#[derive(Debug)]
struct PinnedKeyJudge {
    serial: String,
    /// Digest of the first key whose ownership was proved.
    key: Mutex<Option<KeyDigest>>,
}

impl PinnedKeyJudge {
    fn known_key(&self) -> Option<KeyDigest> {
        *self.key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CertificateJudge for PinnedKeyJudge {
    fn judge(&self, der: &[u8]) -> Result<(), String> {
        let certificate = Certificate::read(der).ok_or("its certificate cannot be parsed")?;
        if certificate.common_name != self.serial {
            let is: String = certificate.common_name.chars().take(40).filter(|c| !c.is_control()).collect();
            return Err(format!("its certificate belongs to {is}, not {}", self.serial));
        }
        let key: KeyDigest = Sha256::digest(certificate.public_key).into();
        if self.known_key().is_none_or(|pinned_key| pinned_key == key) {
            return Ok(());
        }
        Err("its certificate has changed since the first connection: another device may have taken its place. If its board was \
             replaced, disconnect the printer and connect it again"
            .to_owned())
    }

    fn proved(&self, der: &[u8]) {
        if let Some(certificate) = Certificate::read(der) {
            let mut pinned_key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
            pinned_key.get_or_insert_with(|| Sha256::digest(certificate.public_key).into());
        }
    }
}

/// Judge that accepts the certificate of any printer.
#[derive(Debug)]
struct AnyCertificateJudge;

impl CertificateJudge for AnyCertificateJudge {
    fn judge(&self, _der: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn proved(&self, _der: &[u8]) {}
}

/// Creates a verifier that accepts any printer's certificate, to read the serial number from it. Only for connections
/// over which no secrets are sent.
pub(super) fn any_printer(provider: Arc<CryptoProvider>) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Verifier { judge: AnyCertificateJudge, provider })
}

/// Returns the human-readable reason why a handshake was rejected; `None` if the certificate was not the cause.
pub(super) fn refusal(error: &std::io::Error) -> Option<String> {
    match error.get_ref()?.downcast_ref::<Error>()? {
        Error::General(words) => Some(words.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::super::certificate::tests::sample;
    use super::*;

    fn pinned(serial: &str) -> PinnedKeyJudge {
        PinnedKeyJudge { serial: serial.to_owned(), key: Mutex::default() }
    }

    #[test]
    fn the_first_key_that_was_proved_is_kept() {
        let verifier = pinned("01S00A123456");
        assert_eq!(verifier.judge(&sample(0)), Ok(()));
        assert_eq!(verifier.judge(&sample(1)), Ok(()), "nobody proved anything yet");
        verifier.proved(&sample(0));
        assert_eq!(verifier.judge(&sample(0)), Ok(()), "again");
        let changed = verifier.judge(&sample(1));
        assert!(changed.as_ref().is_err_and(|words| words.contains("has changed since the first")), "{changed:?}");
        verifier.proved(&sample(1));
        assert_eq!(verifier.judge(&sample(0)), Ok(()), "the first one still");
        assert_eq!(pinned("01S00A123456").judge(&sample(1)), Ok(()), "another registration begins anew");
    }

    #[test]
    fn a_key_that_is_known_already_is_the_only_one_taken() {
        let first = pinned("01S00A123456");
        first.proved(&sample(0));
        let digits = first.known_key().map(hex::encode);
        let again = Tls::new("01S00A123456", "127.0.0.1", digits.as_deref()).unwrap();
        assert_eq!(again.known_key(), digits);
        assert_eq!(again.verifier.judge.judge(&sample(0)), Ok(()));
        assert!(again.verifier.judge.judge(&sample(1)).is_err());
    }

    /// Returns the TLS versions that a client with the given configuration offers in its first message.
    fn offered(config: &Arc<ClientConfig>) -> Vec<u16> {
        let name = ServerName::try_from("printer").unwrap();
        let mut client = rustls::ClientConnection::new(config.clone(), name).unwrap();
        let mut hello = Vec::new();
        client.write_tls(&mut hello).unwrap();
        // The extension with their list: its number, its length, and the length of the list.
        let of_list = |at: &[u8]| at[..3] == [0, 0x2B, 0] && at[4] > 0 && at[3] == at[4] + 1;
        let at = hello.windows(5).position(of_list).unwrap();
        let list = &hello[at + 5..at + 5 + usize::from(hello[at + 4])];
        list.chunks(2).map(|version| u16::from_be_bytes([version[0], version[1]])).collect()
    }

    #[test]
    fn files_go_over_tls_1_2_at_most() {
        let tls = Tls::new("01S00A123456", "127.0.0.1", None).unwrap();
        let (older, newer) = (0x0303, 0x0304);
        assert_eq!(offered(&tls.ftps), [older], "with 1.3 the sessions of data connections are not resumed");
        assert!(offered(&tls.mqtt).contains(&newer));
    }

    #[test]
    fn another_printers_certificate_is_refused() {
        let verifier = pinned("01S00A999999");
        let words = "its certificate belongs to 01S00A123456, not 01S00A999999".to_owned();
        assert_eq!(verifier.judge(&sample(0)), Err(words));
        assert!(verifier.judge(b"garbage").is_err());
    }
}
