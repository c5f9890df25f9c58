//! Status of a custom request.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Status of a custom request, from its receipt to the decision on its quote.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomRequestStatus {
    /// Submitted; the shop has not responded yet.
    New,
    /// Quote sent; the customer has not decided yet.
    Quoted,
    /// Quote accepted by the customer.
    Accepted,
    /// Declined by the customer or the shop.
    Declined,
    /// Closed: nothing more needs to be done.
    Closed,
}

impl fmt::Display for CustomRequestStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "new",
            Self::Quoted => "quoted",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Closed => "closed",
        })
    }
}
