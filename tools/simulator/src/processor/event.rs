//! Events on their way to the receiver.

use std::time::Duration;

use serde_json::Value;

use super::books::now;
use crate::courier::Deliverable;
use crate::payments::signature;

/// Event on its way to the receiver.
#[derive(Clone, Debug)]
pub(super) struct ProcessorEvent(pub(super) Value);

impl Deliverable for ProcessorEvent {
    const MAX_WAITING: usize = 50_000;
    const MAX_TRIES: u32 = 600;
    const RETRY_PAUSE: Duration = Duration::from_millis(200);

    fn sign(&self, secret: &str) -> (String, String) {
        // Indented, which reveals receivers that write the body again before they verify it.
        let body = format!("{:#}", self.0);
        let signed = signature(secret, now(), body.as_bytes());
        let headers = format!(
            "Content-Type: application/json; charset=utf-8\r\nUser-Agent: Stripe/1.0\r\nStripe-Signature: {signed}\r\n"
        );
        (headers, body)
    }
}
