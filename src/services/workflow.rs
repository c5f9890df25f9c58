//! Events to a workflow automation: one POST for each, as the webhook node of n8n takes it.

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Method, StatusCode};
use serde_json::Value;

use super::peer_client::{PeerClient, PeerSettingError, TokenForm, beginning, send};
use super::peers::PeerFault;

/// Most bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// The other side, in messages.
const OTHER_SIDE: &str = "the workflow automation";

/// What became of an event that the other side answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Taken {
    /// It was taken.
    Done,
    /// It will never be taken as it is, in these words; the next one may be.
    Refused(String),
}

/// An event on its way.
pub struct OutgoingEvent<'a> {
    /// The event's id, the same whenever it is sent again.
    pub id: String,
    /// Its kind, such as `order.paid`.
    pub event: &'a str,
    /// The envelope as JSON.
    pub body: String,
}

/// A webhook of a workflow automation.
pub struct WorkflowWebhook {
    peer: PeerClient,
}

impl WorkflowWebhook {
    /// At this address. The token stands in this header: behind `Bearer` in `Authorization`, else alone.
    pub fn new(client: Client, url: &str, header: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(client, url, TokenForm::Header(header), token)? })
    }

    /// Sends an event once. A fault says why it may be sent again.
    pub async fn send(&self, event: OutgoingEvent<'_>) -> Result<Taken, PeerFault> {
        let call = self.peer.call(Method::POST).header(CONTENT_TYPE, "application/json");
        let call = call.header("x-service-event", event.event).header("idempotency-key", event.id);
        let mut answer = send(call.body(event.body), OTHER_SIDE).await?;
        let status = answer.status();
        if status.is_success() {
            return Ok(Taken::Done);
        }
        let said = beginning(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        judge(status, &said)
    }
}

/// What an answer means that is not 2xx.
fn judge(status: StatusCode, said: &[u8]) -> Result<Taken, PeerFault> {
    let told = bounded_json::read(said, bounded_json::ANSWER).unwrap_or_default();
    let words = match told.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => String::from_utf8_lossy(said).chars().take(200).collect(),
    };
    let fault = |message: &str| Err(PeerFault::new(message).saying(format!("{} {words}", status.as_u16())));
    match status.as_u16() {
        400 | 413 | 422 => Ok(Taken::Refused(format!("{} {words}", status.as_u16()))),
        401 | 403 => fault("the workflow automation refuses the token: it must be the value of its header"),
        404 if words.contains("Did you mean") => {
            fault("the webhook there does not take POST requests: set its method to POST")
        }
        404 if words.contains("not registered") => {
            fault("no active workflow has this webhook: activate the workflow, and use its production address")
        }
        404 => fault("there is no webhook at this address"),
        _ => fault("the workflow automation could not take an event"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, body: &str) -> Result<Taken, PeerFault> {
        judge(StatusCode::from_u16(status).unwrap_or_default(), body.as_bytes())
    }

    fn fault(status: u16, body: &str) -> String {
        told(status, body).err().map(|fault| fault.message).unwrap_or_default()
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        let inactive = r#"{"code":404,"message":"The requested webhook \"POST x\" is not registered.","hint":"h"}"#;
        assert!(fault(404, inactive).contains("activate the workflow"));
        let verb = r#"{"code":404,"message":"This webhook is not registered for POST requests. Did you mean to make a GET request?"}"#;
        assert!(fault(404, verb).contains("set its method to POST"));
        assert!(fault(404, "nginx").contains("no webhook at this address"));
        assert!(fault(403, "Authorization data is wrong!").contains("refuses the token"));
        assert!(fault(500, "").contains("could not take"));
        assert_eq!(told(413, "too large"), Ok(Taken::Refused("413 too large".to_owned())));
    }
}
