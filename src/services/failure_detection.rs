//! Client for Obico's ML API: submits an image URL, from which the API downloads the image.

use reqwest::Method;
use serde_json::Value;

use super::peer_client::{PeerClient, PeerHttp, PeerSettingError, TokenForm, whole};
use super::peer_fault::PeerFault;

/// Maximum number of bytes read from a response.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// Name used for the detector in messages.
const OTHER_SIDE: &str = "the detector";
/// Path of the prediction endpoint.
pub(super) const LOOK_PATH: &str = "p/";

/// Result of submitting an image.
#[derive(Clone, PartialEq, Debug)]
pub enum DetectionOutcome {
    /// Confidence that a print failure is visible, from 0 to 1.
    Seen(f64),
    /// The detector could not download the image; contains its message.
    NoPicture(String),
}

/// Client for a print failure detector.
pub struct Detector {
    peer: PeerClient,
}

impl Detector {
    /// Creates a client for the given address; an empty token is not sent.
    pub fn new(http: impl Into<PeerHttp>, url: &str, token: &str) -> Result<Self, PeerSettingError> {
        Ok(Self { peer: PeerClient::new(http, url, TokenForm::Bearer, token)? })
    }

    /// Submits the image at the given URL.
    pub async fn look(&self, picture: &str) -> Result<DetectionOutcome, PeerFault> {
        let call = self.peer.below(Method::GET, LOOK_PATH).query(&[("img", picture)]);
        let mut answer = self.peer.send(call, OTHER_SIDE).await?;
        let status = answer.status();
        let body = whole(&mut answer, MAX_ANSWER_BYTES, OTHER_SIDE).await?;
        judge(status.as_u16(), &body)
    }
}

fn judge(status: u16, body: &[u8]) -> Result<DetectionOutcome, PeerFault> {
    let answer = bounded_json::read(body, bounded_json::ANSWER).unwrap_or_default();
    let fault = |words: &str| Err(PeerFault::new(words).saying(format!("{status} {}", String::from_utf8_lossy(body))));
    match status {
        200 => match answer.get("detections").and_then(Value::as_array) {
            Some(detections) => Ok(DetectionOutcome::Seen(confidence(detections))),
            None => fault("the service at this address is not the detector"),
        },
        400 if answer.get("detections").is_some() => {
            let words = answer.get("message").and_then(Value::as_str).unwrap_or("no reason given");
            Ok(DetectionOutcome::NoPicture(words.chars().take(200).collect()))
        }
        401 | 403 => fault("the detector rejects the token"),
        _ => fault("the detector failed to process an image"),
    }
}

/// Sums the confidences of all detections, as the detector's own program does; the result is at most 1.
fn confidence(detections: &[Value]) -> f64 {
    let failures = detections.iter().filter(|one| one.get(0).and_then(Value::as_str) == Some("failure"));
    failures.filter_map(|one| one.get(1)?.as_f64()).filter(|one| one.is_finite()).sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidences_are_added_up_and_other_answers_told_apart() {
        let judged = |body: &str| judge(200, body.as_bytes());
        assert_eq!(judged(r#"{"detections":[]}"#), Ok(DetectionOutcome::Seen(0.0)));
        let two = r#"{"detections":[["failure",0.25,[1.5,2,3,4]],["failure",0.5,[1,2,3,4]],["cat",0.9,[1,2,3,4]]]}"#;
        assert_eq!(judged(two), Ok(DetectionOutcome::Seen(0.75)));
        let many = r#"{"detections":[["failure",0.9,[1,2,3,4]],["failure",0.9,[1,2,3,4]],["failure","x"],7]}"#;
        assert_eq!(judged(many), Ok(DetectionOutcome::Seen(1.0)));
        assert!(judged("<html>").is_err());
        let no = r#"{"detections":[],"message":"Failed to get image http://cam"}"#;
        assert_eq!(
            judge(400, no.as_bytes()),
            Ok(DetectionOutcome::NoPicture("Failed to get image http://cam".to_owned()))
        );
        assert!(judge(401, b"").is_err() && judge(422, b"").is_err() && judge(500, b"").is_err());
    }
}
