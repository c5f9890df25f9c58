//! How far a quote is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a quote stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteStatus {
    /// It can be edited, and nobody but the staff sees it.
    Draft,
    /// The customer can accept it.
    Sent,
    /// The customer accepted it, and it has become an order.
    Accepted,
    /// The customer declined it, or the shop withdrew it.
    Declined,
    /// Past its last moment without an answer; shown instead of sent, and never stored.
    Expired,
}

impl fmt::Display for QuoteStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft => "draft",
            Self::Sent => "sent",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Expired => "expired",
        })
    }
}
