//! Checkouts: the amount due is collected through one processor session at a time. A session that is no longer
//! suitable, because something was paid or payment is no longer accepted, is closed at the processor. `received`
//! applies the payments.

use super::at_processor::{Checkout, CheckoutResult, CheckoutState, MAX_UNDER_WAY};
use super::{LedgerEdit, LedgerStage};
use crate::refusal::Refusal;

/// Starts a checkout at the processor. A current checkout for the same amount is reused, so that all requests use the
/// same session.
pub(super) fn check_out(
    on: &mut LedgerEdit<'_>,
    title: &str,
    success_url: &str,
    cancel_url: &str,
) -> Result<(), Refusal> {
    let due = on.ledger.to_check_out(on.terms)?;
    let new_checkout = |number| Checkout {
        number,
        amount_cents: due,
        title: Some(title.to_owned()),
        success_url: success_url.to_owned(),
        cancel_url: cancel_url.to_owned(),
        state: CheckoutState::Wanted,
    };
    let existing = on.ledger.checkout().filter(|existing| existing.amount_cents == due).cloned();
    let stands = existing.as_ref().is_some_and(|one| !matches!(one.state, CheckoutState::Failed { .. }));
    if stands {
        return Ok(());
    }
    // The same request under the same key finds a session that was made without our knowing.
    let same = |one: &Checkout| {
        let was = (one.title.as_deref(), &*one.success_url, &*one.cancel_url);
        was == (Some(title), success_url, cancel_url)
    };
    let again = existing.filter(|one| !one.is_refused() && same(one));
    drop_checkout(on);
    let under_way = on.requests_mut();
    under_way.checkouts += u32::from(again.is_none());
    under_way.checkout = Some(new_checkout(under_way.checkouts));
    Ok(())
}

/// Records the outcome of creating a session for a checkout.
pub(super) fn checkout_made(on: &mut LedgerEdit<'_>, number: u32, news: &CheckoutResult) {
    let current = on.ledger.checkout().filter(|checkout| checkout.number == number).cloned();
    // An answer that comes late is as good as any.
    let waits = current.as_ref().is_some_and(|checkout| checkout.session().is_none() && !checkout.is_refused());
    match (news, current) {
        (CheckoutResult::Made { session, url, expires_at }, Some(checkout)) if waits => {
            let (session, url, expires_at) = (session.clone(), url.clone(), *expires_at);
            on.know_session(Some(session.clone()));
            let state = CheckoutState::Open { session, url, expires_at };
            on.requests_mut().checkout = Some(Checkout { state, ..checkout });
            on.session_made();
        }
        (CheckoutResult::Made { session, .. }, current) => {
            let is_current = current.is_some_and(|checkout| checkout.session() == Some(session.as_str()));
            if !is_current && !on.ledger.paid_by_session(session) {
                close(on, session.clone());
            }
        }
        (CheckoutResult::Failed { refused, amount, reason }, Some(checkout)) if waits => {
            let state = CheckoutState::Failed { refused: *refused, amount: *amount, reason: reason.clone() };
            on.requests_mut().checkout = Some(Checkout { state, ..checkout });
        }
        (CheckoutResult::Failed { .. }, _) => {}
    }
}

/// Forgets a session that can no longer be paid.
pub(super) fn forget_session(on: &mut LedgerEdit<'_>, session: &str) {
    if on.ledger.at_processor.closing.iter().any(|one| one == session) {
        on.requests_mut().closing.retain(|one| one != session);
    }
    if on.ledger.checkout().is_some_and(|checkout| checkout.session() == Some(session)) {
        on.requests_mut().checkout = None;
    }
    if on.ledger.payment_session.as_deref() == Some(session) && !on.ledger.paid_by_session(session) {
        on.know_session(None);
    }
}

/// Ends a checkout that no longer matches the amount due, either after a payment or refund, or because payment is no
/// longer accepted.
pub(super) fn settle_checkout(on: &mut LedgerEdit<'_>) {
    let Some(checkout) = on.ledger.checkout() else { return };
    let paid = checkout.session().is_some_and(|session| on.ledger.paid_by_session(session));
    let fits = on.terms.stage == LedgerStage::Payable && checkout.amount_cents == on.ledger.to_pay(on.terms);
    if paid || !fits {
        drop_checkout(on);
    }
}

/// Discards the checkout; its session is closed, unless a payment arrived through it.
fn drop_checkout(on: &mut LedgerEdit<'_>) {
    if on.ledger.checkout().is_none() {
        return;
    }
    let session = on.requests_mut().checkout.take().and_then(|checkout| checkout.session().map(str::to_owned));
    if let Some(session) = session.filter(|session| !on.ledger.paid_by_session(session)) {
        close(on, session);
    }
}

fn close(on: &mut LedgerEdit<'_>, session: String) {
    let closing = &mut on.requests_mut().closing;
    if !closing.contains(&session) {
        closing.push(session);
    }
    let surplus = closing.len().saturating_sub(MAX_UNDER_WAY);
    closing.drain(..surplus);
}

impl Checkout {
    /// Returns the processor's ID for the session, if there is one yet.
    pub fn session(&self) -> Option<&str> {
        match &self.state {
            CheckoutState::Open { session, .. } => Some(session),
            CheckoutState::Wanted | CheckoutState::Failed { .. } => None,
        }
    }

    /// Returns whether the processor rejected the session.
    const fn is_refused(&self) -> bool {
        matches!(self.state, CheckoutState::Failed { refused: true, .. })
    }
}
