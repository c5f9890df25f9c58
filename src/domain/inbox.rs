//! A signed payment event that matched no order yet: kept, and tried again at each new order and hourly, 30 days.

use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Days that an unmatched event is kept.
pub const KEPT_DAYS: i64 = 30;

/// An inbound event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inbound {
    /// Made from the processor's event id, so that a repeat is the same thing.
    pub id: Id,
    /// The processor's event id.
    pub event_id: String,
    /// The verified body.
    pub body: String,
    /// Matched, or given up.
    pub done: bool,
    /// Not before.
    pub next_at: Timestamp,
    /// When it came.
    pub created_at: Timestamp,
}

/// What is asked of an inbound event.
#[derive(Clone, Debug)]
pub enum InboundCommand {
    /// Keeps it.
    Keep {
        /// The processor's event id.
        event_id: String,
        /// The verified body.
        body: String,
    },
    /// Tried: matched or not.
    Tried {
        /// An order took it.
        matched: bool,
    },
}

/// Try to match.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Match {
    /// Not before; a new order is looked at at once.
    pub at: Timestamp,
}
