//! Emails to the customer about an invoice: a request for payment, and a receipt.

use super::{Invoice, InvoiceContent, InvoiceStatus};
use crate::aggregate::DecisionContext;
use crate::currency::format_amount;
use crate::mail::Mail;
use crate::mail::kind::{self, InvoiceToPay, PaymentReceipt};
use crate::mail::part::{MailFact, MailItem};

impl InvoiceContent {
    /// Returns the invoice lines for an email, each with its net amount.
    fn mail_items(&self) -> Vec<MailItem> {
        let item = |line: &super::InvoiceLine| MailItem {
            quantity: line.quantity,
            what: line.description.clone(),
            amount: line.amount_cents().map(|cents| format_amount(cents, &self.currency)),
        };
        self.lines.iter().map(item).collect()
    }

    /// Returns the amounts for an email, ending with the total; zero amounts other than the total are omitted.
    fn mail_sums(&self) -> Vec<MailFact> {
        let sums = &self.sums;
        let some =
            |label: &str, cents: i64| (cents != 0).then(|| MailFact::new(label, format_amount(cents, &self.currency)));
        let total = MailFact::new("Total", format_amount(sums.payable_cents(), &self.currency));
        let parts = [
            some("Discount", -sums.discount_cents),
            some("Shipping", sums.shipping_cents),
            some("Tax", sums.tax_cents),
        ];
        parts.into_iter().flatten().chain([total]).collect()
    }
}

impl Invoice {
    /// Returns the emails to the customer for a commit that changes the invoice from `before` to the current state.
    pub(super) fn notices(&self, cx: &DecisionContext<'_>, before: Option<&Self>) -> Vec<Mail> {
        let was = |of: fn(&Self) -> bool| before.is_some_and(of);
        let paid = self.paid_at.is_some() && !was(|before| before.paid_at.is_some());
        let issued = self.issued_at.is_some() && !was(|before| before.issued_at.is_some());
        let receipt = self.receipt(cx).filter(|_| paid);
        let to_pay = self.to_pay(cx).filter(|_| issued);
        receipt.into_iter().chain(to_pay).collect()
    }

    /// Builds the invoice email for the commit that issues the invoice. Returns `None` if nothing is due, no email
    /// address is known, or the shop sends invoices by other means.
    fn to_pay(&self, cx: &DecisionContext<'_>) -> Option<Mail> {
        let to = self.customer_email.clone().filter(|_| cx.rules.invoice_notices && self.due_cents() > 0)?;
        let mut sums = self.content.mail_sums();
        if self.ledger.kept_cents != 0 {
            sums.push(MailFact::new("Paid", format_amount(self.ledger.kept_cents, &self.content.currency)));
        }
        sums.push(MailFact::new("To be paid", format_amount(self.due_cents(), &self.content.currency)));
        Some(kind::invoice_to_pay(
            cx,
            InvoiceToPay {
                to,
                invoice: self.id,
                document: self.issued().map(|one| one.id),
                items: self.content.mail_items(),
                sums,
                due_at: self.due_at,
            },
        ))
    }

    /// Builds the receipt email for the commit that marks the invoice as paid. Returns `None` if nothing was due, no
    /// email address is known, or the shop sends receipts by other means.
    pub fn receipt(&self, cx: &DecisionContext<'_>) -> Option<Mail> {
        let to = self.customer_email.clone().filter(|_| cx.rules.receipts)?;
        if self.status != InvoiceStatus::Paid || self.content.sums.payable_cents() == 0 {
            return None;
        }
        let mut sums = self.content.mail_sums();
        sums.push(MailFact::new("Paid", format_amount(self.ledger.kept_cents, &self.content.currency)));
        Some(kind::receipt(
            cx,
            PaymentReceipt {
                to,
                invoice: self.id,
                document: self.issued().map(|one| one.id),
                order_number: self.order_number.clone(),
                items: self.content.mail_items(),
                sums,
            },
        ))
    }
}
