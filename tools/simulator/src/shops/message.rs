//! Messages on their way to the receiver.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::courier::Deliverable;
use crate::payments::hmac_sha256;

/// Computes the signature of a message: the base64 encoding of the HMAC-SHA256 of its body.
pub fn signature(secret: &str, body: &[u8]) -> String {
    STANDARD.encode(hmac_sha256(secret.as_bytes(), body))
}

/// Message on its way to the receiver.
#[derive(Clone, Debug)]
pub(super) struct ShopMessage {
    pub(super) topic: (&'static str, String),
    /// Signature header name.
    pub(super) signature: &'static str,
    /// Names of the headers that contain the webhook ID and the delivery ID.
    pub(super) ids: [&'static str; 2],
    pub(super) body: String,
}

impl Deliverable for ShopMessage {
    const MAX_WAITING: usize = 10_000;
    const MAX_TRIES: u32 = 2_400;
    const RETRY_PAUSE: Duration = Duration::from_millis(50);

    fn sign(&self, secret: &str) -> (String, String) {
        let Self { topic: (topic, what), signature, ids: [webhook, delivery], body } = self;
        let signed = self::signature(secret, body.as_bytes());
        let id = fastrand::u64(..);
        let headers = format!(
            "Content-Type: application/json\r\n{topic}: {what}\r\n{signature}: {signed}\r\n{webhook}: 1\r\n{delivery}: {id}\r\n"
        );
        (headers, body.clone())
    }
}
