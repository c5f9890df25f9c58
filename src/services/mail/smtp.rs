//! Mail through a server, by SMTP.

use super::{MailError, Mailer, Message, compose, sender};
use futures::future::BoxFuture;
use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::{Error as SmtpError, PoolConfig};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use std::error::Error as _;
use std::time::Duration;

/// How the connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// TLS from the first byte.
    Implicit,
    /// STARTTLS, or nothing is sent.
    Required,
    /// STARTTLS when the server offers it, else in the clear: for relays inside the shop.
    WhenOffered,
}

impl Encryption {
    /// What is usual on a port: 465 speaks TLS at once, 587 must offer STARTTLS, any other may.
    pub fn for_port(port: u16) -> Self {
        match port {
            465 => Self::Implicit,
            587 => Self::Required,
            _ => Self::WhenOffered,
        }
    }
}

/// The mail server.
#[derive(Clone)]
pub struct SmtpSettings {
    /// Its name, which its certificate must bear.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// See [`Encryption::for_port`].
    pub encryption: Encryption,
    /// User name and password, when the server wants them.
    pub credentials: Option<(String, String)>,
    /// The sender of every message, `a@b` or `Name <a@b>`.
    pub from: String,
    /// For connecting and for each answer of the server.
    pub timeout: Duration,
}

/// Sends messages through a mail server. Connections are opened when needed and kept for a while.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Smtp {
    /// Checks the settings; nothing is sent yet. Must be called within a tokio runtime.
    pub fn new(settings: SmtpSettings) -> Result<Self, MailError> {
        let from = sender(&settings.from)?;
        let parameters = || {
            TlsParameters::new(settings.host.clone()).map_err(|error| {
                MailError::settings(format!("TLS to {:?}: {error}", settings.host))
            })
        };
        let tls = match settings.encryption {
            Encryption::Implicit => Tls::Wrapper(parameters()?),
            Encryption::Required => Tls::Required(parameters()?),
            Encryption::WhenOffered => Tls::Opportunistic(parameters()?),
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host)
            .port(settings.port)
            .tls(tls)
            .timeout(Some(settings.timeout))
            .pool_config(PoolConfig::new().max_size(2));
        if let Some((user, password)) = settings.credentials {
            builder = builder.credentials(Credentials::new(user, password));
        }
        Ok(Self {
            transport: builder.build(),
            from,
        })
    }

    /// Connects, greets and logs in, without sending anything: for a test of the connection.
    pub async fn check(&self) -> Result<(), MailError> {
        match self.transport.test_connection().await {
            Ok(true) => Ok(()),
            Ok(false) => Err(MailError::transient("the mail server does not answer")),
            Err(error) => Err(judge(&error)),
        }
    }
}

impl Mailer for Smtp {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(async move {
            let message = compose(message, &self.from)?;
            self.transport
                .send(message)
                .await
                .map(drop)
                .map_err(|error| judge(&error))
        })
    }
}

/// Tells a message that is refused for what it is from everything that may be mended: a wrong password must not cost the message.
fn judge(error: &SmtpError) -> MailError {
    let mut reason = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !reason.contains(&text) {
            reason = format!("{reason}: {text}");
        }
        cause = inner.source();
    }
    match error.status().map(u16::from) {
        // Log in first, mechanism too weak, credentials refused, encryption needed.
        Some(530 | 534 | 535 | 538) => {
            MailError::transient(format!("the mail server refused the login: {reason}"))
        }
        Some(_) if error.is_permanent() => MailError::permanent(reason),
        _ if error.is_timeout() => {
            MailError::transient(format!("the mail server did not answer in time: {reason}"))
        }
        _ => MailError::transient(reason),
    }
}
