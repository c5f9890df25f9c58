//! Emails to customers and operators, sent through a mail server or a mail service, or written to a directory if
//! neither is configured.
//!
//! A message has a permanent ID and is identical whenever it is sent: the same `Message-ID`, the same date, the same
//! bytes. After a lost response, a message may be sent twice; the duplicate can be recognised by its ID, and in the
//! directory it replaces the first copy. The caller stores and retries messages.

mod api;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod outbox;
mod smtp;

pub use api::{ApiSettings, MailApi};
pub use outbox::FileOutbox;
pub use smtp::{Encryption, Smtp, SmtpSettings};

use std::time::SystemTime;

use bytes::Bytes;
use futures::future::BoxFuture;
use jiff::Timestamp;
use lettre::message::header::ContentType;
use lettre::message::{Attachment, Mailbox, MultiPart, SinglePart};

/// Maximum length of a message ID in bytes.
const MAX_ID_BYTES: usize = 128;

/// Email in plain text, with an HTML version if it contains links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Permanent ID of the message, at most 128 characters: letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// Time at which the message was written, used as the `Date` header.
    pub written_at: Timestamp,
    /// Recipients, in the form `a@b` or `Name <a@b>`.
    pub to: Vec<String>,
    /// Subject, which is a single line.
    pub subject: String,
    /// Plain-text body.
    pub text: String,
    /// HTML version of the body.
    pub html: Option<String>,
    /// Attachments, of at most a few megabytes each.
    pub files: Vec<MailFile>,
}

/// Message attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailFile {
    /// File name: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Media type of the file.
    pub content_type: &'static str,
    /// File content.
    pub bytes: Bytes,
    /// Content ID (the name after `cid:`) of an image that the HTML version displays; `None` for a regular attachment.
    pub shown_as: Option<&'static str>,
}

/// Reason why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// Temporary failure after which the same message should be retried: the server is unavailable or busy, or rejects
    /// the sender because of its configuration.
    #[error("the email cannot be sent at the moment: {reason}")]
    Transient {
        /// Description for the operator.
        reason: String,
    },
    /// Permanent failure: the message cannot be sent as it is. No server or service was asked to accept it.
    #[error("the email cannot be sent: {reason}")]
    Permanent {
        /// Description for the operator.
        reason: String,
    },
    /// Permanent failure: the server or service that was asked to accept the message rejected it, and would again.
    #[error("the email was rejected: {reason}")]
    Rejected {
        /// Description for the operator.
        reason: String,
    },
    /// The settings are invalid.
    #[error("the email settings are invalid: {reason}")]
    Settings {
        /// Description of the invalid setting.
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

    fn rejected(reason: impl Into<String>) -> Self {
        Self::Rejected { reason: reason.into() }
    }

    fn settings(reason: impl Into<String>) -> Self {
        Self::Settings { reason: reason.into() }
    }

    /// Returns the description for the operator.
    pub fn reason(&self) -> &str {
        match self {
            Self::Transient { reason }
            | Self::Permanent { reason }
            | Self::Rejected { reason }
            | Self::Settings { reason } => reason,
        }
    }
}

/// Transport for messages.
pub trait Mailer: Send + Sync {
    /// Sends the message. `Ok` means that the transport has accepted it.
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>>;
}

/// Parses the sender address used for all emails.
fn sender(from: &str) -> Result<Mailbox, MailError> {
    from.parse().map_err(|_| MailError::settings(format!("{from:?} is not a valid sender address")))
}

/// Serializes the message. The same message always yields the same bytes.
fn compose(message: &Message, from: &Mailbox) -> Result<lettre::Message, MailError> {
    let Message { id, written_at, to, subject, text, html, files } = message;
    if id.len() > MAX_ID_BYTES || !is_plain_name(id) {
        return Err(MailError::permanent(format!("{id:?} is not a valid message ID")));
    }
    // A line break in a header would let whoever wrote it add headers of his own.
    if subject.contains(char::is_control) {
        return Err(MailError::permanent("the subject must be one line"));
    }
    if to.is_empty() {
        return Err(MailError::permanent("the message has no recipient"));
    }
    let mut builder = lettre::Message::builder()
        .from(from.clone())
        .subject(subject)
        .date(SystemTime::from(*written_at))
        .message_id(Some(format!("<{id}@{}>", from.email.domain())));
    for receiver in to {
        let receiver =
            receiver.parse().map_err(|_| MailError::permanent(format!("{receiver:?} is not a valid email address")))?;
        builder = builder.to(receiver);
    }
    if let Some(file) = files.iter().find(|file| file.name.len() > MAX_ID_BYTES || !is_plain_name(&file.name)) {
        return Err(MailError::permanent(format!("{:?} is not a valid file name", file.name)));
    }
    let plain = SinglePart::builder().header(ContentType::TEXT_PLAIN).body(text.clone());
    let (pictures, enclosed): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.shown_as.is_some());
    let pictures = pictures.into_iter().map(file_part).collect::<Result<Vec<_>, _>>()?;
    let enclosed = enclosed.into_iter().map(file_part).collect::<Result<Vec<_>, _>>()?;
    let body = html.as_ref().map(|html| {
        let html = SinglePart::builder().header(ContentType::TEXT_HTML).body(html.clone());
        // The library's own boundary is random, which would make each try another message.
        let forms = MultiPart::alternative().boundary(format!("part-{id}")).singlepart(plain.clone());
        if pictures.is_empty() {
            return forms.singlepart(html);
        }
        let related = MultiPart::related().boundary(format!("look-{id}")).singlepart(html);
        forms.multipart(pictures.into_iter().fold(related, MultiPart::singlepart))
    });
    let composed = if enclosed.is_empty() {
        match body {
            None => builder.singlepart(plain),
            Some(body) => builder.multipart(body),
        }
    } else {
        let mixed = MultiPart::mixed().boundary(format!("whole-{id}"));
        let mixed = match body {
            None => mixed.singlepart(plain),
            Some(body) => mixed.multipart(body),
        };
        builder.multipart(enclosed.into_iter().fold(mixed, MultiPart::singlepart))
    };
    composed.map_err(|error| MailError::permanent(error.to_string()))
}

/// Returns whether a string can be used unchanged in a header, a path and a MIME boundary.
fn is_plain_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !text.is_empty() && !text.starts_with('.') && text.bytes().all(plain)
}

fn file_part(file: &MailFile) -> Result<SinglePart, MailError> {
    let kind = ContentType::parse(file.content_type)
        .map_err(|_| MailError::permanent(format!("{:?} is not a valid media type", file.content_type)))?;
    let part = match file.shown_as {
        Some(id) => Attachment::new_inline_with_name(id.to_owned(), file.name.clone()),
        None => Attachment::new(file.name.clone()),
    };
    Ok(part.body(file.bytes.to_vec(), kind))
}

#[cfg(test)]
mod tests;
