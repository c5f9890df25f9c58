//! Messages to an agent gateway: a POST with a bearer token, shaped as the `agent` hook of such gateways takes it.
//!
//! Keeping and retrying messages is the caller's affair; the message's id is the idempotency key.

use futures::future::BoxFuture;
use serde_json::json;

use super::mail::{MailError, Mailer, Message};
use crate::services::http::read_beginning;

/// The hook of a gateway whose address has no path of its own.
const HOOK_PATH: &str = "hooks/agent";
/// At most this much of an answer is read, in bytes.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// Sends messages to the hook of an agent gateway.
pub struct AgentGateway {
    client: reqwest::Client,
    url: reqwest::Url,
    token: String,
}

impl AgentGateway {
    /// A gateway at this address: the hook itself, or the gateway's base address.
    pub fn new(client: reqwest::Client, url: &str, token: &str) -> Result<Self, MailError> {
        let bad = |error| MailError::Settings { reason: format!("{url:?}: {error}") };
        let mut url = reqwest::Url::parse(url).map_err(bad)?;
        if url.path() == "/" {
            url.set_path(HOOK_PATH);
        }
        Ok(Self { client, url, token: token.to_owned() })
    }

    async fn deliver(&self, message: &Message) -> Result<(), MailError> {
        let text = format!("{}\n\n{}", message.subject, message.text.trim_end());
        let body = json!({"message": text, "name": "Printfloor", "idempotencyKey": message.id});
        let mut request = self.client.post(self.url.clone()).header("idempotency-key", &message.id).json(&body);
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        let mut answer = request.send().await.map_err(|error| MailError::Transient {
            reason: format!("the agent gateway does not answer: {}", error.without_url()),
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let (said, _) = read_beginning(&mut answer, MAX_ANSWER_BYTES, MAX_ANSWER_BYTES).await;
        let said: String = String::from_utf8_lossy(&said).chars().take(200).collect();
        let reason = format!("the agent gateway answered {}: {said}", status.as_u16());
        // Only these speak of the message; the others of our token or the gateway's load.
        match status.as_u16() {
            400 | 413 | 422 => Err(MailError::Permanent { reason }),
            _ => Err(MailError::Transient { reason }),
        }
    }
}

impl Mailer for AgentGateway {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(self.deliver(message))
    }
}
