//! Human-readable reasons why an external system cannot be used.

use domain::peer_address::without_queries;

/// Maximum length of a displayed message from an external system, in characters.
const MAX_TOLD_CHARS: usize = 200;

/// Reason why an external system cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct PeerFault {
    /// Problem description.
    pub message: String,
    /// Message from the system or the network.
    pub detail: Option<String>,
}

impl PeerFault {
    /// Creates an error without details.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), detail: None }
    }

    /// Adds the message from the system or the network, without the queries of its URLs: a system may repeat one of our
    /// signed links.
    pub fn saying(self, detail: impl Into<String>) -> Self {
        let excerpt =
            without_queries(&detail.into()).chars().filter(|c| !c.is_control()).take(MAX_TOLD_CHARS).collect();
        Self { detail: Some(excerpt), ..self }
    }

    /// Returns the description and the details on one line.
    pub fn in_one_line(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}: {detail}", self.message),
            None => self.message.clone(),
        }
    }
}
