//! Invoices for subscription periods charged by the payment processor, which are issued and paid at the same time. The
//! processor adds no tax to its price and does not state how much of it is tax, so the invoice is for exactly the
//! charged amount, at a tax rate of 0.

use super::change::InvoiceChange;
use super::{DraftInvoice, Invoice, InvoiceLine, Party, Payment};
use crate::aggregate::DecisionContext;
use crate::id::Id;
use crate::ledger::PROCESSOR;
use crate::refusal::Refusal;

/// Text of the only line on an invoice for a charge whose parts do not add up.
const WHOLE_LINE: &str = "Subscription";

/// Line item of a charge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChargedLine {
    /// Text of the line.
    pub description: String,
    /// Number of units.
    pub quantity: u32,
    /// Amount for all units, in minor units; negative for an unused part of the previous period.
    pub amount_cents: i64,
}

/// Paid period of a subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChargedPeriod {
    /// Customer, as recorded in the customer's record.
    pub buyer: Party,
    /// The customer's email address, which determines who can see the invoice.
    pub customer_email: Option<String>,
    /// Charged amount, in minor units.
    pub amount_cents: i64,
    /// Currency as a lowercase ISO 4217 code.
    pub currency: String,
    /// Line items of the charge.
    pub lines: Vec<ChargedLine>,
    /// The processor's ID for its own invoice, such as `in_...`.
    pub processor_invoice: String,
    /// Payment intent, if the processor has already provided it; otherwise a later event will.
    pub intent: Option<String>,
    /// The processor's invoice number.
    pub number: String,
}

impl ChargedPeriod {
    /// Returns the invoice lines: the processor's lines if they add up to the charge and none is negative, otherwise a
    /// single line for the full amount.
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
    /// Builds the issued and paid invoice for a period.
    pub(super) fn charged(cx: &'a DecisionContext<'a>, id: Id, period: &ChargedPeriod) -> Result<Self, Refusal> {
        let draft = DraftInvoice {
            buyer: period.buyer.clone(),
            customer_email: period.customer_email.clone(),
            currency: Some(period.currency.clone()),
            lines: period.lines().into_iter().map(|line| (line, true)).collect(),
            due_at: Some(cx.now),
            notes: Some(format!("Paid by subscription; invoice {} of the payment processor.", period.number)),
            ..DraftInvoice::default()
        };
        let mut change = Self::of(cx, Invoice::draft(cx, id, &draft)?);
        change.send()?;
        let payment = Payment {
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
        };
        change.edit_ledger(|on| {
            on.add_payment(payment);
            on.money_came(period.amount_cents, true);
        });
        Ok(change)
    }
}
