//! Reading of events about money that goes back: refunds that fail, and payments that a customer's bank takes back.

use super::{AMOUNT, EventError, EventMembers, PaymentEffect};
use crate::domain::ledger::DisputeState;

/// What an event says of a payment that the customer's bank takes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisputeNews {
    /// The processor's id of the dispute, `dp_...`.
    pub id: String,
    /// How much it is about, in minor units.
    pub amount_cents: i64,
    /// The processor's word for why.
    pub reason: String,
    /// How it stands.
    pub state: DisputeState,
}

/// Reads a refund; only one that failed has a use here, since the others are told by their charge.
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

/// Reads a dispute. A status that is not known counts as one that a person must look at.
pub(super) fn dispute(object: &EventMembers<'_>) -> Result<DisputeNews, EventError> {
    let state = match object.text("status")?.as_deref() {
        Some("won" | "warning_closed" | "prevented") => DisputeState::Won,
        Some("lost") => DisputeState::Lost,
        _ => DisputeState::Open,
    };
    Ok(DisputeNews {
        id: object.required_text("id")?,
        amount_cents: amount(object)?,
        reason: object.text("reason")?.unwrap_or_else(|| "no reason given".to_owned()),
        state,
    })
}

fn amount(object: &EventMembers<'_>) -> Result<i64, EventError> {
    object.amount("amount")?.ok_or_else(|| object.wrong("amount", AMOUNT))
}
