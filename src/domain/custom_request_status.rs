//! How far a custom request is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a custom request stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CustomRequestStatus {
    /// It came in, and nobody has answered it.
    New,
    /// The customer has a quote, and has not decided.
    Quoted,
    /// The customer took the quote.
    Accepted,
    /// The customer, or the shop, declined.
    Declined,
    /// There is nothing more to do.
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
