//! Mail to customers and operators: through a mail server or a mail service, or, when neither is configured, into a
//! folder.
//!
//! A message has an id of its own and looks the same however often it is sent: same `Message-ID`, same date, same
//! bytes. A lost answer means that it may be sent twice; receivers and the folder then keep one. Keeping and retrying
//! messages is the caller's affair.

mod api;
mod outbox;
mod smtp;

pub use api::{ApiSettings, MailApi};
pub use outbox::FileOutbox;
pub use smtp::{Encryption, Smtp, SmtpSettings};

use std::time::SystemTime;

use futures::future::BoxFuture;
use jiff::Timestamp;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, MultiPart, SinglePart};

/// The longest id of a message, in bytes.
const MAX_ID_BYTES: usize = 128;

/// A mail in plain text, and in HTML where it has links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Names the message for ever; letters, digits, `-`, `_` and `.`, at most 128.
    pub id: String,
    /// When it was written: its `Date`.
    pub written_at: Timestamp,
    /// The receivers, `a@b` or `Name <a@b>`.
    pub to: Vec<String>,
    /// The subject, one line.
    pub subject: String,
    /// The body, as plain text.
    pub text: String,
    /// The same body as HTML, for mail programs that show it.
    pub html: Option<String>,
}

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// It may work later as it is: the server is unavailable or busy, or refuses us for reasons of configuration.
    #[error("the mail could not be sent now: {reason}")]
    Transient {
        /// What went wrong, for the operator.
        reason: String,
    },
    /// This message will never be accepted.
    #[error("the mail cannot be sent: {reason}")]
    Permanent {
        /// What is wrong with it, for the operator.
        reason: String,
    },
    /// The settings cannot be used.
    #[error("the mail settings cannot be used: {reason}")]
    Settings {
        /// What is wrong with them.
        reason: String,
    },
}

impl MailError {
    fn transient(reason: impl Into<String>) -> Self {
        Self::Transient { reason: reason.into() }
    }

    fn permanent(reason: impl Into<String>) -> Self {
        Self::Permanent { reason: reason.into() }
    }

    fn settings(reason: impl Into<String>) -> Self {
        Self::Settings { reason: reason.into() }
    }
}

/// Something that takes messages.
pub trait Mailer: Send + Sync {
    /// Hands the message over. `Ok` means that the other side has taken it.
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>>;
}

/// Reads the address that all mail comes from.
fn sender(from: &str) -> Result<Mailbox, MailError> {
    from.parse().map_err(|_| MailError::settings(format!("{from:?} is not a sender address")))
}

/// Writes the message out. The same message always gives the same bytes.
fn compose(message: &Message, from: &Mailbox) -> Result<lettre::Message, MailError> {
    let Message { id, written_at, to, subject, text, html } = message;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if id.is_empty() || id.len() > MAX_ID_BYTES || id.starts_with('.') || !id.bytes().all(plain) {
        return Err(MailError::permanent(format!("{id:?} is not an id of a message")));
    }
    // A line break in a header would let whoever wrote it add headers of his own.
    if subject.contains(char::is_control) {
        return Err(MailError::permanent("the subject must be one line"));
    }
    if to.is_empty() {
        return Err(MailError::permanent("the message has no receiver"));
    }
    let mut builder = lettre::Message::builder()
        .from(from.clone())
        .subject(subject)
        .date(SystemTime::from(*written_at))
        .message_id(Some(format!("<{id}@{}>", from.email.domain())));
    for receiver in to {
        let receiver =
            receiver.parse().map_err(|_| MailError::permanent(format!("{receiver:?} is not a mail address")))?;
        builder = builder.to(receiver);
    }
    let plain = SinglePart::builder().header(ContentType::TEXT_PLAIN).body(text.clone());
    let composed = match html {
        None => builder.singlepart(plain),
        Some(html) => {
            let html = SinglePart::builder().header(ContentType::TEXT_HTML).body(html.clone());
            // The library's own boundary is random, which would make each try another message.
            let parts = MultiPart::alternative().boundary(format!("part-{id}")).singlepart(plain).singlepart(html);
            builder.multipart(parts)
        }
    };
    composed.map_err(|error| MailError::permanent(error.to_string()))
}

#[cfg(test)]
mod tests;
