//! Sends emails through a service with an HTTP API, for shops without a mail server: `EMAIL_API_KEY`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::future::BoxFuture;
use lettre::message::Mailbox;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{MailError, MailFile, Mailer, Message, compose, sender};
use crate::peer_client::{PeerClient, TokenForm, beginning};
use crate::peer_fault::PeerFault;

/// Maximum number of bytes read from a response.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Maximum length of a displayed error message from the service, in characters.
const MAX_WORDS_CHARS: usize = 300;
/// Name used for the service in messages.
const OTHER_SIDE: &str = "the email service";

/// Address and credentials of a mail service.
#[derive(Clone)]
pub struct ApiSettings {
    /// Base address, such as `https://api.resend.com`.
    pub base_url: String,
    /// API key.
    pub key: String,
    /// Sender of every message, in the form `a@b` or `Name <a@b>`; its domain must be registered with the service.
    pub from: String,
}

/// Error code for an idempotency key that was already used with a different body, which means that the service accepted
/// an earlier version of the message.
const OTHER_BODY: &str = "invalid_idempotent_request";
/// Error code for an idempotency key whose first request is still in progress.
const STILL_UNDER_WAY: &str = "concurrent_idempotent_requests";

/// Mailer that uses a mail service. The message ID is the idempotency key, so retries within a day do not send a
/// message twice. The body may change between attempts if the recipients or the email template change. If the service
/// has stored a different body under the key, the message is therefore sent under a different key: a duplicate is
/// better than a loss.
pub struct MailApi {
    peer: PeerClient,
    settings: ApiSettings,
    from: Mailbox,
}

impl MailApi {
    /// Creates a mailer that uses the given HTTP client, whose time limits apply.
    pub fn new(client: Client, settings: ApiSettings) -> Result<Self, MailError> {
        let from = sender(&settings.from)?;
        let peer = PeerClient::new(client, &settings.base_url, TokenForm::Bearer, &settings.key);
        let peer = peer.map_err(|error| MailError::settings(format!("the email service: {error}")))?;
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

    /// Sends one request with the given idempotency key.
    async fn post(&self, key: &str, body: &Value) -> Result<(), Rejection> {
        let away = |fault: PeerFault| Rejection::Mail(MailError::transient(fault.in_one_line()));
        let call = self.peer.below(Method::POST, "emails").header("idempotency-key", key).json(body);
        let mut answer = self.peer.send(call, OTHER_SIDE).await.map_err(away)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let body = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await.map_err(away)?;
        let error = bounded_json::read(&body, bounded_json::ANSWER).unwrap_or_default();
        let name = error.get("name").and_then(Value::as_str).unwrap_or_default();
        let reason = match words(&error) {
            _ if status.as_u16() == 409 && name == STILL_UNDER_WAY => {
                "the email service is still processing the previous attempt".to_owned()
            }
            Some(words) => format!("the email service responded with {}: {words}", status.as_u16()),
            None => format!("the email service responded with {}", status.as_u16()),
        };
        // Only these speak of the message; the others of our key, our domain, or the service's load.
        Err(match status.as_u16() {
            409 if name == OTHER_BODY => Rejection::OtherBody(reason),
            400 | 413 | 422 => Rejection::Mail(MailError::rejected(reason)),
            _ => Rejection::Mail(MailError::transient(reason)),
        })
    }
}

/// Reason why the service rejected a request.
enum Rejection {
    /// The idempotency key was already used with a different body, which the service remembers for a day.
    OtherBody(String),
    /// Any other reason; the error indicates whether a retry is worthwhile.
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

/// Converts a file to the service's format: base64, with a content ID if the HTML version displays it.
fn attachment(file: &MailFile) -> Value {
    let content = BASE64_STANDARD.encode(&file.bytes);
    let mut attachment = json!({"filename": file.name, "content": content, "content_type": file.content_type});
    if let Some(id) = file.shown_as {
        attachment["content_id"] = json!(id);
    }
    attachment
}

/// Returns the message in an error response.
fn words(error: &Value) -> Option<String> {
    Some(error.get("message")?.as_str()?.chars().take(MAX_WORDS_CHARS).collect())
}
