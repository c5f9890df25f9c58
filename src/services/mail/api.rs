//! Mail through a service with an HTTP interface, for shops without a mail server: `EMAIL_API_KEY`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::future::BoxFuture;
use lettre::message::Mailbox;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

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

/// The service's word for a key that it keeps with another body: it took an earlier form of the message.
const OTHER_BODY: &str = "invalid_idempotent_request";
/// The service's word for a key whose first request it has not answered yet.
const STILL_UNDER_WAY: &str = "concurrent_idempotent_requests";

/// Sends messages through a mail service. The message's id is the idempotency key, so a repeat within a day is not sent
/// twice. Where the service keeps another body under that key (receivers or the look of mails were changed between two
/// tries), the message goes under a key of its own: told twice rather than never.
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
        match self.post(&message.id, &body).await {
            Err(Rejection::OtherBody(_)) => {
                let fingerprint = hex::encode(Sha256::digest(body.to_string()));
                let again = self.post(&format!("{}.{fingerprint}", message.id), &body).await;
                again.map_err(Rejection::into_error)
            }
            answer => answer.map_err(Rejection::into_error),
        }
    }

    /// Sends one request under this idempotency key.
    async fn post(&self, key: &str, body: &Value) -> Result<(), Rejection> {
        let away = |fault: PeerFault| Rejection::Mail(MailError::transient(fault.in_one_line()));
        let call = self.peer.below(Method::POST, "emails").header("idempotency-key", key).json(body);
        let mut answer = send(call, OTHER_SIDE).await.map_err(away)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let body = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await.map_err(away)?;
        let error = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
        let name = error.get("name").and_then(Value::as_str).unwrap_or_default();
        let reason = match words(&error) {
            _ if status.as_u16() == 409 && name == STILL_UNDER_WAY => {
                "the mail service is still busy with the try before this one".to_owned()
            }
            Some(words) => format!("the mail service answered {}: {words}", status.as_u16()),
            None => format!("the mail service answered {}", status.as_u16()),
        };
        // Only these speak of the message; the others of our key, our domain, or the service's load.
        Err(match status.as_u16() {
            409 if name == OTHER_BODY => Rejection::OtherBody(reason),
            400 | 413 | 422 => Rejection::Mail(MailError::permanent(reason)),
            _ => Rejection::Mail(MailError::transient(reason)),
        })
    }
}

/// Why the service did not take one request.
enum Rejection {
    /// It keeps the idempotency key with another body, and will until the key is forgotten after a day.
    OtherBody(String),
    /// For a reason that says whether the message is worth another try.
    Mail(MailError),
}

impl Rejection {
    fn into_error(self) -> MailError {
        match self {
            Self::OtherBody(reason) => MailError::transient(reason),
            Self::Mail(error) => error,
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

/// Returns the service's own words in one of its errors.
fn words(error: &Value) -> Option<String> {
    Some(error.get("message")?.as_str()?.chars().take(MAX_WORDS_CHARS).collect())
}
