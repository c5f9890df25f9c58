//! Parsing of events about returned money: failed refunds and disputed payments.

use super::{AMOUNT, EventError, EventMembers, PaymentEffect};
use crate::ledger::DisputeState;

/// Dispute of a payment, as reported by an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisputeUpdate {
    /// The processor's ID for the dispute, `dp_...`.
    pub id: String,
    /// Disputed amount, in minor units.
    pub amount_cents: i64,
    /// The processor's code for the reason for the dispute.
    pub reason: String,
    /// Current state of the dispute.
    pub state: DisputeState,
}

/// Parses a refund. Only failed refunds are relevant here, because successful ones are reported by the event for their
/// charge.
pub(super) fn refund(kind: &str, object: &EventMembers<'_>) -> Result<PaymentEffect, EventError> {
    Ok(match object.text("status")?.as_deref() {
        Some("failed" | "canceled") => PaymentEffect::RefundFailed {
            amount_cents: amount(object)?,
            reason: object.text("failure_reason")?.unwrap_or_else(|| "it failed".to_owned()),
            refund: object.text("id")?,
        },
        _ => PaymentEffect::Ignored { kind: kind.to_owned() },
    })
}

/// Parses a dispute. An unknown status is treated as one that requires an operator.
pub(super) fn dispute(object: &EventMembers<'_>) -> Result<DisputeUpdate, EventError> {
    let state = match object.text("status")?.as_deref() {
        Some("won" | "warning_closed" | "prevented") => DisputeState::Won,
        Some("lost") => DisputeState::Lost,
        _ => DisputeState::Open,
    };
    Ok(DisputeUpdate {
        id: object.required_text("id")?,
        amount_cents: amount(object)?,
        reason: object.text("reason")?.unwrap_or_else(|| "no reason given".to_owned()),
        state,
    })
}

fn amount(object: &EventMembers<'_>) -> Result<i64, EventError> {
    object.amount("amount")?.ok_or_else(|| object.wrong("amount", AMOUNT))
}
