//! Emails to the customer about an invoice: a request for payment, and a receipt.

use super::{Invoice, InvoiceContent, InvoiceStatus};
use crate::aggregate::DecisionContext;
use crate::mail::Mail;
use crate::mail::kind::{self, InvoiceToPay, PaymentReceipt};
use crate::mail::part::{MailFact, MailItem};
use crate::notation;
use words::mails;

impl InvoiceContent {
    /// Returns the invoice lines for an email, each with its net amount.
    fn mail_items(&self) -> Vec<MailItem> {
        let item = |line: &super::InvoiceLine| MailItem {
            quantity: line.quantity,
            what: line.description.clone(),
            amount: line.amount_cents().map(|cents| self.mail_amount(cents)),
        };
        self.lines.iter().map(item).collect()
    }

    /// Returns the amounts for an email, ending with the total; zero amounts other than the total are omitted.
    fn mail_sums(&self) -> Vec<MailFact> {
        let (sums, language) = (&self.sums, self.buyer.language);
        let some = |label: String, cents: i64| (cents != 0).then(|| MailFact::new(&label, self.mail_amount(cents)));
        let total = MailFact::new(&mails::total(language), self.mail_amount(sums.payable_cents()));
        let parts = [
            some(mails::discount(language), -sums.discount_cents),
            some(mails::shipping(language), sums.shipping_cents),
            some(mails::tax(language), sums.tax_cents),
        ];
        parts.into_iter().flatten().chain([total]).collect()
    }

    /// Formats an amount for an email.
    fn mail_amount(&self, cents: i64) -> String {
        notation::amount(self.buyer.language, cents, &self.currency)
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
        let (content, language) = (&self.content, self.content.buyer.language);
        let mut sums = content.mail_sums();
        if self.ledger.kept_cents != 0 {
            sums.push(MailFact::new(&mails::paid(language), content.mail_amount(self.ledger.kept_cents)));
        }
        sums.push(MailFact::new(&mails::to_pay(language), content.mail_amount(self.due_cents())));
        Some(kind::invoice_to_pay(
            cx,
            InvoiceToPay {
                to,
                language,
                invoice: self.id,
                document: self.issued().map(|one| one.id),
                items: content.mail_items(),
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
        let (content, language) = (&self.content, self.content.buyer.language);
        let mut sums = content.mail_sums();
        sums.push(MailFact::new(&mails::paid(language), content.mail_amount(self.ledger.kept_cents)));
        Some(kind::receipt(
            cx,
            PaymentReceipt {
                to,
                language,
                invoice: self.id,
                document: self.issued().map(|one| one.id),
                order_number: self.order_number.clone(),
                items: content.mail_items(),
                sums,
            },
        ))
    }
}
