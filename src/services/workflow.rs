//! Client for a workflow automation: sends a POST for each event, in the format of n8n's webhook node.

use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::peer_client::{PeerClient, PeerHttp, PeerSettingError, TokenForm, beginning};
use super::peer_fault::PeerFault;

/// Maximum number of bytes read from a response.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Name used for the workflow automation in messages.
const OTHER_SIDE: &str = "the workflow automation";

/// Outcome of sending an event, according to the workflow automation's response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventOutcome {
    /// The event was accepted.
    Done,
    /// The event was permanently rejected, with the given message; the next event may be accepted.
    Refused(String),
}

/// Event to deliver.
pub struct OutgoingEvent<'a> {
    /// Event ID, the same on every attempt.
    pub id: String,
    /// Event type, such as `order.paid`.
    pub event: &'a str,
    /// Envelope as JSON.
    pub body: String,
}

/// Client for the webhook of a workflow automation.
pub struct WorkflowWebhook {
    peer: PeerClient,
}

impl WorkflowWebhook {
    /// Creates a client for the given address. The token is sent in the given header: after `Bearer` if the header is
    /// `Authorization`, otherwise alone.
    pub fn new(http: impl Into<PeerHttp>, url: &str, header: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(http, url, TokenForm::Header(header), token)? })
    }

    /// Sends an event once. After an error, the event may be sent again.
    pub async fn send(&self, event: OutgoingEvent<'_>) -> Result<EventOutcome, PeerFault> {
        let call = self.peer.call(Method::POST).header(CONTENT_TYPE, "application/json");
        let call = call.header("x-service-event", event.event).header("idempotency-key", event.id);
        let mut answer = self.peer.send(call.body(event.body), OTHER_SIDE).await?;
        let status = answer.status();
        if status.is_success() {
            return Ok(EventOutcome::Done);
        }
        let body = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        judge(status, &body)
    }
}

/// Classifies a response other than 2xx.
fn judge(status: StatusCode, body: &[u8]) -> Result<EventOutcome, PeerFault> {
    let json = bounded_json::read(body, bounded_json::ANSWER).unwrap_or_default();
    let words = match json.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => String::from_utf8_lossy(body).chars().take(200).collect(),
    };
    let fault = |message: &str| Err(PeerFault::new(message).saying(format!("{} {words}", status.as_u16())));
    match status.as_u16() {
        400 | 413 | 422 => Ok(EventOutcome::Refused(format!("{} {words}", status.as_u16()))),
        401 | 403 => fault(
            "the workflow automation rejects the token: it must match the header value in the webhook's credentials",
        ),
        404 if words.contains("Did you mean") => {
            fault("the webhook does not accept POST requests; set its method to POST")
        }
        404 if words.contains("not registered") => {
            fault("no active workflow has this webhook; activate the workflow and use its production URL")
        }
        404 => fault("there is no webhook at this address"),
        _ => fault("the workflow automation failed to accept an event"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(status: u16, body: &str) -> Result<EventOutcome, PeerFault> {
        judge(StatusCode::from_u16(status).unwrap_or_default(), body.as_bytes())
    }

    fn fault(status: u16, body: &str) -> String {
        verdict(status, body).err().map(|fault| fault.message).unwrap_or_default()
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        let inactive = r#"{"code":404,"message":"The requested webhook \"POST x\" is not registered.","hint":"h"}"#;
        assert!(fault(404, inactive).contains("activate the workflow"));
        let verb = r#"{"code":404,"message":"This webhook is not registered for POST requests. Did you mean to make a GET request?"}"#;
        assert!(fault(404, verb).contains("set its method to POST"));
        assert!(fault(404, "nginx").contains("no webhook at this address"));
        assert!(fault(403, "Authorization data is wrong!").contains("rejects the token"));
        assert!(fault(500, "").contains("failed to accept an event"));
        assert_eq!(verdict(413, "too large"), Ok(EventOutcome::Refused("413 too large".to_owned())));
    }
}
