//! Status of a quote.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Status of a quote, from draft to acceptance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteStatus {
    /// The quote can be edited and is visible only to staff.
    Draft,
    /// The customer can accept the quote.
    Sent,
    /// The customer accepted the quote, and it has become an order.
    Accepted,
    /// The customer declined the quote, or the shop withdrew it.
    Declined,
    /// The validity of the quote ended without a response; shown instead of sent, and never stored.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_shown_as_it_is_stored() {
        use QuoteStatus as S;
        for (status, name) in [
            (S::Draft, "draft"),
            (S::Sent, "sent"),
            (S::Accepted, "accepted"),
            (S::Declined, "declined"),
            (S::Expired, "expired"),
        ] {
            assert_eq!((status.to_string().as_str(), serde_json::json!(status)), (name, serde_json::json!(name)));
        }
    }
}
