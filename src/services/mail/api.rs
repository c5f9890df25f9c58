//! Mail through a service with an HTTP interface, for shops without a mail server: `EMAIL_API_KEY`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::future::BoxFuture;
use lettre::message::Mailbox;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::{MailError, MailFile, Mailer, Message, compose, sender};
use crate::services::peer_client::{PeerClient, TokenForm, beginning, send};
use crate::services::peers::PeerFault;

/// At most this much of an answer is read, in bytes.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// At most this much of the service's own words is told, in characters.
const MAX_WORDS_CHARS: usize = 300;
/// The other side, in messages.
const OTHER_SIDE: &str = "the mail service";

/// How a mail service is reached and which key it knows us by.
#[derive(Clone)]
pub struct ApiSettings {
    /// Its base address, such as `https://api.resend.com`.
    pub base_url: String,
    /// The key it knows us by.
    pub key: String,
    /// The sender of every message, `a@b` or `Name <a@b>`; the service must know its domain.
    pub from: String,
}

/// Sends messages through a mail service. The message's id is the idempotency key, so a repeat within a day is not sent
/// twice.
pub struct MailApi {
    peer: PeerClient,
    settings: ApiSettings,
    from: Mailbox,
}

impl MailApi {
    /// A mailer over the given client, whose time limits apply.
    pub fn new(client: Client, settings: ApiSettings) -> Result<Self, MailError> {
        let from = sender(&settings.from)?;
        let peer = PeerClient::new(client, &settings.base_url, TokenForm::Bearer, &settings.key);
        let peer = peer.map_err(|error| MailError::settings(format!("the mail service: {error}")))?;
        Ok(Self { peer, settings, from })
    }

    async fn deliver(&self, message: &Message) -> Result<(), MailError> {
        // Judged like a message for any other way out; the service composes it itself.
        compose(message, &self.from)?;
        let mut body = json!({
            "from": self.settings.from, "to": message.to, "subject": message.subject, "text": message.text,
        });
        if let Some(html) = &message.html {
            body["html"] = json!(html);
        }
        if !message.files.is_empty() {
            body["attachments"] = message.files.iter().map(attachment).collect();
        }
        let away = |fault: PeerFault| MailError::transient(fault.in_one_line());
        let call = self.peer.below(Method::POST, "emails").header("idempotency-key", &message.id).json(&body);
        let mut answer = send(call, OTHER_SIDE).await.map_err(away)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let said = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await.map_err(away)?;
        let reason = match words(&said) {
            Some(words) => format!("the mail service answered {}: {words}", status.as_u16()),
            None => format!("the mail service answered {}", status.as_u16()),
        };
        // Only these speak of the message; the others of our key, our domain, or the service's load.
        match status.as_u16() {
            400 | 413 | 422 => Err(MailError::permanent(reason)),
            _ => Err(MailError::transient(reason)),
        }
    }
}

impl Mailer for MailApi {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(self.deliver(message))
    }
}

/// A file as the service takes it: in base64, and by its content id where the HTML shows it.
fn attachment(file: &MailFile) -> Value {
    let content = BASE64_STANDARD.encode(&file.bytes);
    let mut attachment = json!({"filename": file.name, "content": content, "content_type": file.content_type});
    if let Some(id) = file.shown_as {
        attachment["content_id"] = json!(id);
    }
    attachment
}

/// The service's own words in an answer, when it is one of its errors.
fn words(answer: &[u8]) -> Option<String> {
    let answer = bounded_json::read(answer, bounded_json::ANSWER).ok()?;
    Some(answer.get("message")?.as_str()?.chars().take(MAX_WORDS_CHARS).collect())
}
