//! JSON requests to a shop's API, within size limits; the caller imposes time limits.

use reqwest::{RequestBuilder, StatusCode};
use serde_json::Value;

use crate::peer_client::{PeerClient, beginning};
use crate::peer_fault::PeerFault;

/// Maximum size of one response in bytes.
const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;
/// Name used for the shop in messages.
const OTHER_SIDE: &str = "the shop";

/// Result of a call.
pub(super) enum ShopAnswer {
    /// The call succeeded with the given response.
    Done(Value),
    /// The call was permanently rejected with the given message.
    Refused(String),
}

/// Makes a call that the shop's client has built. After an error, the call may be retried.
pub(super) async fn ask(peer: &PeerClient, call: RequestBuilder) -> Result<ShopAnswer, PeerFault> {
    let mut answer = peer.send(call.header("accept", "application/json"), OTHER_SIDE).await?;
    let status = answer.status();
    let body = beginning(&mut answer, MAX_ANSWER_BYTES + 1, OTHER_SIDE).await?;
    if body.len() > MAX_ANSWER_BYTES {
        return Err(PeerFault::new("the shop's response is too large"));
    }
    let words = || {
        let text = String::from_utf8_lossy(&body).chars().filter(|c| !c.is_control()).take(200).collect::<String>();
        format!("{} {text}", status.as_u16())
    };
    match status {
        status if status.is_success() => match bounded_json::read(&body, bounded_json::ANSWER) {
            Ok(value) => Ok(ShopAnswer::Done(value)),
            Err(_) => Err(PeerFault::new("the shop's response is not valid").saying(words())),
        },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(PeerFault::new("the shop rejects the access token").saying(words()))
        }
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS | StatusCode::LOCKED => {
            Err(PeerFault::new("the shop asks the server to try again later").saying(words()))
        }
        status if status.is_client_error() => Ok(ShopAnswer::Refused(words())),
        _ => Err(PeerFault::new("the shop failed to process the request").saying(words())),
    }
}

/// Reads data. A rejection is reported as an error that may be retried, because it may be temporary.
pub(super) async fn look(peer: &PeerClient, call: RequestBuilder) -> Result<Value, PeerFault> {
    match ask(peer, call).await? {
        ShopAnswer::Done(value) => Ok(value),
        ShopAnswer::Refused(words) => Err(PeerFault::new("the shop does not return the order").saying(words)),
    }
}
