//! How far an invoice is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an invoice stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvoiceStatus {
    /// It can be edited, and nobody but the staff sees it.
    Draft,
    /// Issued; nothing of it is paid.
    Open,
    /// A part is paid.
    PartiallyPaid,
    /// All is paid.
    Paid,
    /// Past its due date with money due; shown instead of open and partially paid, and never stored.
    Overdue,
    /// All that was paid went back.
    Refunded,
    /// A draft that was given up, or one that a credit note over the whole took back before it was paid.
    Void,
}

impl fmt::Display for InvoiceStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft => "draft",
            Self::Open => "open",
            Self::PartiallyPaid => "partially_paid",
            Self::Paid => "paid",
            Self::Overdue => "overdue",
            Self::Refunded => "refunded",
            Self::Void => "void",
        })
    }
}
