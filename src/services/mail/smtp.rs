//! Sends emails through an SMTP server.

use std::error::Error as _;
use std::time::Duration;

use futures::future::BoxFuture;
use lettre::message::Mailbox;
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tokio::time::timeout;
use url::Host;

use super::{MailError, Mailer, Message, compose, sender};
use crate::peer_client::network_words;
use config::Config;
use platform::http::lan_addresses;
use platform::network_fault::NetworkFault;

/// Time limit for closing the connection after a message has been accepted.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Connection encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// TLS from the first byte.
    Implicit,
    /// Mandatory STARTTLS: if the server does not offer it, nothing is sent.
    Required,
    /// STARTTLS if the server offers it, otherwise no encryption; intended for relays on the shop's own network.
    WhenOffered,
}

impl Encryption {
    /// Returns the usual encryption for a port: TLS from the first byte on 465, mandatory STARTTLS on 587, and STARTTLS
    /// if offered on any other port.
    pub fn for_port(port: u16) -> Self {
        match port {
            465 => Self::Implicit,
            587 => Self::Required,
            _ => Self::WhenOffered,
        }
    }
}

/// Address and credentials of a mail server.
#[derive(Clone)]
pub struct SmtpSettings {
    /// Host name, which must match the server's certificate.
    pub host: String,
    /// Port: usually 465 for TLS from the first byte, 587 for STARTTLS, or 25 on a local network.
    pub port: u16,
    /// Connection encryption; [`Encryption::for_port`] returns the usual one.
    pub encryption: Encryption,
    /// User name and password; `None` if the server requires none.
    pub credentials: Option<(String, String)>,
    /// Sender of every message, in the form `a@b` or `Name <a@b>`.
    pub from: String,
    /// Time limit for sending a message, from opening the connection until the server accepts the message.
    pub timeout: Duration,
}

impl SmtpSettings {
    /// Returns the mail server's settings; `None` if no mail server is configured.
    pub fn of(config: &Config, timeout: Duration) -> Option<Self> {
        let mail = &config.mail;
        let credentials =
            (!mail.smtp_user.is_empty()).then(|| (mail.smtp_user.clone(), mail.smtp_password.expose().to_owned()));
        (!mail.smtp_host.is_empty()).then(|| Self {
            host: mail.smtp_host.clone(),
            port: mail.smtp_port,
            encryption: Encryption::for_port(mail.smtp_port),
            credentials,
            from: mail.from.clone(),
            timeout,
        })
    }
}

/// Mailer that uses a mail server and opens a connection for each message.
///
/// The mail library's pooled transport is not used: it limits the time for connecting but not for responses, and a
/// connection on which a transmission was aborted would return to the pool.
pub struct Smtp {
    settings: SmtpSettings,
    tls: TlsParameters,
    from: Mailbox,
}

impl Smtp {
    /// Creates a mailer after checking the settings; sends nothing yet.
    pub fn new(settings: SmtpSettings) -> Result<Self, MailError> {
        let from = sender(&settings.from)?;
        let tls = TlsParameters::new(settings.host.clone())
            .map_err(|error| MailError::settings(format!("TLS to {:?}: {error}", settings.host)))?;
        Ok(Self { settings, tls, from })
    }

    /// Connects and signs in without sending a message, to test the connection.
    pub async fn check(&self) -> Result<(), MailError> {
        let connection = self.in_time(self.connect()).await?;
        farewell(connection).await;
        Ok(())
    }

    async fn deliver(&self, message: lettre::Message) -> Result<AsyncSmtpConnection, MailError> {
        let mut connection = self.connect().await?;
        connection.send(message.envelope(), &message.formatted()).await.map_err(|error| judge(&error))?;
        Ok(connection)
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, MailError> {
        let SmtpSettings { host, port, encryption, credentials, .. } = &self.settings;
        let hello = ClientId::default();
        let at_once = (*encryption == Encryption::Implicit).then(|| self.tls.clone());
        let addresses = lan_addresses(Host::Domain(host.as_str()), *port).await;
        let addresses = addresses.map_err(|error| {
            MailError::transient(format!("the mail server cannot be reached: {}", network_words(&error)))
        })?;
        let mut connection = AsyncSmtpConnection::connect_tokio1(&addresses[..], None, &hello, at_once, None)
            .await
            .map_err(|error| unusable(&error))?;
        if *encryption != Encryption::Implicit {
            if connection.can_starttls() {
                connection.starttls(self.tls.clone(), &hello).await.map_err(|error| unusable(&error))?;
            } else if *encryption == Encryption::Required {
                return Err(MailError::transient("the mail server does not offer STARTTLS, which is required"));
            }
        }
        if let Some((user, password)) = credentials {
            connection
                .auth(&[Mechanism::Plain, Mechanism::Login], &Credentials::new(user.clone(), password.clone()))
                .await
                .map_err(|error| {
                    MailError::transient(format!("the mail server rejected the sign-in: {}", words(&error)))
                })?;
        }
        Ok(connection)
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, MailError>>) -> Result<T, MailError> {
        let seconds = self.settings.timeout.as_secs_f64();
        timeout(self.settings.timeout, work).await.unwrap_or_else(|_| {
            Err(MailError::transient(format!("the mail server did not respond within {seconds} s")))
        })
    }
}

impl Mailer for Smtp {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let message = compose(message, &self.from)?;
            let connection = self.in_time(self.deliver(message)).await?;
            farewell(connection).await;
            Ok(())
        })
    }
}

/// Closes the connection; the server's reply is ignored.
async fn farewell(mut connection: AsyncSmtpConnection) {
    let _ = timeout(QUIT_TIMEOUT, connection.quit()).await;
}

/// Distinguishes the permanent rejection of a message from failures that an operator can fix. For example, a message
/// must not be discarded because the server requires authentication first.
fn judge(error: &SmtpError) -> MailError {
    match error.status().map(u16::from) {
        // Log in first, mechanism too weak, credentials refused, encryption needed.
        Some(530 | 534 | 535 | 538) => {
            MailError::transient(format!("the mail server requires authentication: {}", words(error)))
        }
        _ if error.is_permanent() => MailError::rejected(words(error)),
        _ if error.is_client() => MailError::permanent(words(error)),
        _ => MailError::transient(words(error)),
    }
}

/// Converts an error that occurred before the message was submitted and therefore cannot have been caused by it.
fn unusable(error: &SmtpError) -> MailError {
    MailError::transient(format!("the mail server cannot be used: {}", words(error)))
}

/// Returns the reason for a broken connection, or else formats the error with its causes.
fn words(error: &SmtpError) -> String {
    if NetworkFault::of(error) != NetworkFault::Other {
        return network_words(error);
    }
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !words.contains(&text) {
            words = format!("{words}: {text}");
        }
        cause = inner.source();
    }
    words
}
