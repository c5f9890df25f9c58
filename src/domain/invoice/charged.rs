//! What the payment processor charged a customer for a period of a subscription: an invoice of ours that is issued and
//! paid at once. The processor charges what its price says, without tax on top and without saying how much of it is
//! tax, so the invoice is over exactly that, at the rate 0.

use super::change::InvoiceChange;
use super::{DraftInvoice, Invoice, InvoiceLine, Party, Payment};
use crate::domain::aggregate::DecisionContext;
use crate::domain::id::Id;
use crate::domain::ledger::{LedgerChange as _, PROCESSOR};
use crate::domain::refusal::Refusal;

/// What is written on the one line of an invoice whose parts do not add up to what was charged.
const WHOLE_LINE: &str = "Subscription";

/// A part of what was charged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChargedLine {
    /// What it is, in words.
    pub description: String,
    /// How many.
    pub quantity: u32,
    /// For all of them, in minor units; negative for what was not used of the period before.
    pub amount_cents: i64,
}

/// A period of a subscription that was paid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChargedPeriod {
    /// The customer, as their record says.
    pub buyer: Party,
    /// Their address, by which they see the invoice.
    pub customer_email: Option<String>,
    /// What was charged, in minor units.
    pub amount_cents: i64,
    /// Currency as ISO 4217 code in lower case.
    pub currency: String,
    /// What for.
    pub lines: Vec<ChargedLine>,
    /// The processor's id of its invoice, `in_...`.
    pub processor_invoice: String,
    /// The payment intent, where the processor has named it; another event names it later.
    pub intent: Option<String>,
    /// What the processor calls its invoice, for people.
    pub number: String,
}

impl ChargedPeriod {
    /// Our lines: the processor's where they add up to what was charged and none is negative, else one over the whole.
    fn lines(&self) -> Vec<InvoiceLine> {
        let line = |description: &str, quantity: u32, unit_price_cents| InvoiceLine {
            description: description.to_owned(),
            quantity,
            unit_price_cents,
            tax_rate_bps: 0,
        };
        let sum = self.lines.iter().try_fold(0i64, |sum, one| sum.checked_add(one.amount_cents));
        let whole = sum != Some(self.amount_cents) || self.lines.iter().any(|one| one.amount_cents < 0);
        if whole || self.lines.is_empty() {
            return vec![line(WHOLE_LINE, 1, self.amount_cents)];
        }
        let split = |one: &ChargedLine| {
            let count = i64::from(one.quantity);
            if count > 0 && one.amount_cents % count == 0 {
                line(&one.description, one.quantity, one.amount_cents / count)
            } else {
                line(&one.description, 1, one.amount_cents)
            }
        };
        self.lines.iter().map(split).collect()
    }
}

impl<'a> InvoiceChange<'a> {
    /// The invoice of a period, issued and paid.
    pub(super) fn charged(cx: &'a DecisionContext<'a>, id: Id, period: &ChargedPeriod) -> Result<Self, Refusal> {
        let draft = DraftInvoice {
            buyer: period.buyer.clone(),
            customer_email: period.customer_email.clone(),
            currency: Some(period.currency.clone()),
            lines: period.lines().into_iter().map(|line| (line, true)).collect(),
            due_at: Some(cx.now),
            notes: Some(format!("Paid by subscription; the payment processor calls it {}.", period.number)),
            ..DraftInvoice::default()
        };
        let mut change = Self::of(cx, Invoice::draft(cx, id, &draft)?);
        change.send()?;
        change.add_payment(Payment {
            id: cx.ids.id(),
            owner_id: id,
            amount_cents: period.amount_cents,
            currency: change.invoice.content.currency.clone(),
            method: PROCESSOR.to_owned(),
            reference: Some(period.intent.as_ref().unwrap_or(&period.processor_invoice).clone()),
            // As long as the intent is not known, the payment goes by the name of the processor's invoice.
            session: Some(period.processor_invoice.clone()),
            whole: false,
            refund_of: None,
            failed_cents: 0,
            created_at: cx.now,
        });
        change.money_came(period.amount_cents, true);
        Ok(change)
    }
}
