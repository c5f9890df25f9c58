//! Status of an invoice.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Status of an invoice, from draft to payment or refund.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvoiceStatus {
    /// Editable draft, visible only to staff.
    Draft,
    /// Issued and entirely unpaid.
    Open,
    /// Partly paid.
    PartiallyPaid,
    /// Paid in full.
    Paid,
    /// Past its due date with an amount due. Shown instead of open and partially paid, and never stored.
    Overdue,
    /// Refunded in full.
    Refunded,
    /// Discarded draft, or an invoice that was fully reversed by a credit note before it was paid.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_shown_as_it_is_stored() {
        use InvoiceStatus as S;
        for (status, name) in [
            (S::Draft, "draft"),
            (S::Open, "open"),
            (S::PartiallyPaid, "partially_paid"),
            (S::Paid, "paid"),
            (S::Overdue, "overdue"),
            (S::Refunded, "refunded"),
            (S::Void, "void"),
        ] {
            assert_eq!((status.to_string().as_str(), serde_json::json!(status)), (name, serde_json::json!(name)));
        }
    }
}
