//! Payments that a customer's bank is reclaiming (chargebacks). While a dispute is open, an operator is alerted and the
//! ledger is left unchanged; the operators decide whether production continues in the meantime. A lost dispute is
//! recorded like a refund.

use super::at_processor::{Dispute, DisputeState, MAX_UNDER_WAY};
use super::refunds::flag_refunds;
use super::{LOST_DISPUTE, Ledger, LedgerEdit, Payment};
use crate::attention_flag::AttentionFlag;

/// Flag for an owner with a payment that the customer's bank is disputing.
const DISPUTE_OPEN: &str = AttentionFlag::Disputed.word();
/// Flag for an owner with a payment lost to the customer's bank, until the loss is recorded.
const DISPUTE_LOST: &str = AttentionFlag::DisputeLost.word();

/// Applies the processor's report about a dispute. A decided dispute stays decided, regardless of late events.
pub(super) fn disputed(on: &mut LedgerEdit<'_>, dispute: Dispute, reason: &str) {
    let amount = on.amount_text(dispute.amount_cents, dispute.intent.as_ref());
    let what = format!("the customer disputed {amount} of a payment ({reason})");
    let disputes = &mut on.requests_mut().disputes;
    match disputes.iter_mut().find(|one| one.id == dispute.id) {
        // Documents of older releases do not say how much was lost.
        Some(existing)
            if existing.state == DisputeState::Open
                || existing.amount_cents == 0 && existing.state == dispute.state =>
        {
            *existing = dispute;
        }
        Some(_) => {}
        None => {
            disputes.push(dispute);
            // One that was won needs nobody any more.
            let surplus = disputes.len().saturating_sub(MAX_UNDER_WAY);
            let oldest = disputes.iter().position(|one| one.state == DisputeState::Won).unwrap_or_default();
            disputes.drain(oldest..oldest + surplus);
        }
    }
    let open = on.ledger.at_processor.disputes.iter().any(|one| one.state == DisputeState::Open);
    on.raise_flag(DISPUTE_OPEN, open, &format!("{what}: respond at the payment processor before the deadline"));
    let lost = !unbooked(on.ledger).is_empty();
    on.raise_flag(DISPUTE_LOST, lost, &format!("{what}, and the dispute was lost"));
    if lost && book_lost(on) {
        on.money_went();
    }
}

/// Records each lost dispute as a refund, once its payment is known, and clears its flag. Returns whether anything was
/// recorded.
pub(super) fn book_lost(on: &mut LedgerEdit<'_>) -> bool {
    let mut booked = false;
    for Dispute { id, amount_cents, intent, .. } in unbooked(on.ledger) {
        let paid = on.ledger.payments.iter().find(|one| one.is_named(intent.as_ref(), None));
        let Some((paid, currency)) = paid.filter(|_| amount_cents > 0).map(|paid| (paid.id, paid.currency.clone()))
        else {
            continue;
        };
        let lost = Payment {
            amount_cents: -amount_cents,
            currency,
            method: LOST_DISPUTE.to_owned(),
            reference: Some(id),
            refund_of: Some(paid),
            ..on.blank()
        };
        on.add_payment(lost);
        on.refund_recorded();
        booked = true;
    }
    if booked {
        let waits = !unbooked(on.ledger).is_empty();
        on.raise_flag(DISPUTE_LOST, waits, "a disputed amount cannot be assigned to a payment yet");
        // Nothing of it can be given back any more.
        flag_refunds(on, None);
    }
    booked
}

/// Returns the lost disputes that have not been recorded yet.
fn unbooked(of: &Ledger) -> Vec<Dispute> {
    let booked = |id: &str| {
        let is_it = |one: &Payment| one.method == LOST_DISPUTE && one.reference.as_deref() == Some(id);
        of.payments.iter().any(|one| one.amount_cents < 0 && is_it(one))
    };
    let lost = of.at_processor.disputes.iter().filter(|one| one.state == DisputeState::Lost && !booked(&one.id));
    lost.cloned().collect()
}
