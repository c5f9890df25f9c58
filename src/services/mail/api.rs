//! Mail through a service with an HTTP interface, for shops without a mail server: `EMAIL_API_KEY`.

use futures::future::BoxFuture;
use lettre::message::Mailbox;
use serde_json::json;

use super::{MailError, Mailer, Message, compose, sender};
use crate::services::http::read_beginning;

/// At most this much of an answer is read, in bytes.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// At most this much of the service's own words is told, in characters.
const MAX_WORDS_CHARS: usize = 300;

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
    client: reqwest::Client,
    url: String,
    settings: ApiSettings,
    from: Mailbox,
}

impl MailApi {
    /// A mailer over the given client, whose time limits apply.
    pub fn new(client: reqwest::Client, settings: ApiSettings) -> Result<Self, MailError> {
        let from = sender(&settings.from)?;
        let url = format!("{}/emails", settings.base_url.trim_end_matches('/'));
        reqwest::Url::parse(&url).map_err(|error| MailError::settings(format!("{:?}: {error}", settings.base_url)))?;
        Ok(Self { client, url, settings, from })
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
        let mut answer = self
            .client
            .post(&self.url)
            .bearer_auth(&self.settings.key)
            .header("idempotency-key", &message.id)
            .json(&body)
            .send()
            .await
            .map_err(|error| {
                MailError::transient(format!("the mail service does not answer: {}", error.without_url()))
            })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let (said, _) = read_beginning(&mut answer, MAX_ANSWER_BYTES, MAX_ANSWER_BYTES).await;
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

/// The service's own words in an answer, when it is one of its errors.
fn words(answer: &[u8]) -> Option<String> {
    let answer = bounded_json::read(answer, bounded_json::ANSWER).ok()?;
    Some(answer.get("message")?.as_str()?.chars().take(MAX_WORDS_CHARS).collect())
}
