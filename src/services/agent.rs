//! Client for an agent gateway: sends a POST with a bearer token for each message, in the format of the `agent` hook
//! that such gateways provide.
//!
//! The caller stores and retries messages; the message ID is the idempotency key.

use futures::future::BoxFuture;
use reqwest::Method;
use serde_json::json;

use super::mail::{MailError, Mailer, Message};
use super::peer_client::{PeerClient, PeerHttp, PeerSettingError, TokenForm, beginning};
use super::peer_fault::PeerFault;

/// Path of the hook, used if the gateway's address has no path.
const HOOK_PATH: &str = "hooks/agent";
/// Maximum number of bytes read from a response.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Name used for the gateway in messages.
const OTHER_SIDE: &str = "the agent gateway";

/// Client that sends messages to the hook of an agent gateway.
pub struct AgentGateway {
    peer: PeerClient,
}

impl AgentGateway {
    /// Creates a client for the given address, which is either the hook's own address or the gateway's base address. An
    /// empty token is not sent.
    pub fn new(http: impl Into<PeerHttp>, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(http, url, TokenForm::Bearer, token)? })
    }

    async fn deliver(&self, message: &Message) -> Result<(), MailError> {
        let text = format!("{}\n\n{}", message.subject, message.text.trim_end());
        let body = json!({"message": text, "name": "Printfloor", "idempotencyKey": message.id});
        let call = match self.peer.address().url().path() {
            "/" => self.peer.below(Method::POST, HOOK_PATH),
            _ => self.peer.call(Method::POST),
        };
        let away = |fault: PeerFault| MailError::Transient { reason: fault.in_one_line() };
        let call = call.header("idempotency-key", &message.id).json(&body);
        let mut answer = self.peer.send(call, OTHER_SIDE).await.map_err(away)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let bytes = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await.map_err(away)?;
        let response_text: String = String::from_utf8_lossy(&bytes).chars().take(200).collect();
        let reason = format!("the agent gateway responded with {}: {response_text}", status.as_u16());
        // Only these speak of the message; the others of our token or the gateway's load.
        match status.as_u16() {
            400 | 413 | 422 => Err(MailError::Rejected { reason }),
            _ => Err(MailError::Transient { reason }),
        }
    }
}

impl Mailer for AgentGateway {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<(), MailError>> {
        Box::pin(self.deliver(message))
    }
}
