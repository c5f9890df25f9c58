//! An invoice: what a customer owes, from the draft to the last credit note.
//!
//! An invoice is made by an operator, or by the first payment of an order, in the order's own commit. One that was made
//! by an operator owns its payments; that of an order follows the order (`follow`): same payments, same state. What
//! was issued is a [`Document`]: an invoice or a credit note with a number without gaps, a row that is inserted once
//! and never changed. The rules are grouped: `sums` (tax by rate, the totals), `make` (drafted, issued), `credit`
//! (credit notes), `money` (what its own [ledger](crate::domain::ledger) does to it), `follow` (the state of an order),
//! `charged` (what the processor charged for a subscription), `pay_link`, `notice` (what the customer is mailed);
//! `rules` dispatches.
//!
//! | from | on | to | issued |
//! | --- | --- | --- | --- |
//! | none | an operator makes it | draft | |
//! | none | the processor charged for a subscription | paid | invoice |
//! | none | the first payment of an order | open, `partially_paid` or paid | invoice |
//! | draft | sent | open; paid if it costs nothing | invoice |
//! | draft | voided | void | |
//! | open | voided, or its order is cancelled | void | credit note over the whole |
//! | open, `partially_paid` | money comes | `partially_paid`; paid when all is there | |
//! | `partially_paid` | money goes back | open when nothing is left | |
//! | paid | a part goes back | paid | credit note over what is no longer covered |
//! | paid | all goes back | refunded | credit note over the rest |
//!
//! `overdue` is no state of its own: it is shown instead of open and `partially_paid` once the due date has passed.

mod change;
mod charged;
mod credit;
mod follow;
mod make;
mod money;
mod notice;
mod pay_link;
mod rules;
mod sums;
#[cfg(test)]
pub(crate) mod tests;

pub use charged::{ChargedLine, ChargedPeriod};
pub use follow::{NewInvoice, OrderMoney, OrderToInvoice};
pub use pay_link::{pay_token, read_pay_token};
pub use sums::{Category, Sums};

pub use crate::domain::invoice_status::InvoiceStatus;
pub use crate::domain::ledger::{AtProcessor, LedgerCommand, LedgerEffect, Payment};
pub use crate::domain::party::Party;

use serde::{Deserialize, Serialize};

use crate::domain::id::Id;
use crate::domain::ledger::Payable as _;
use crate::domain::time::Timestamp;

/// Most lines of one invoice; as many as an order has.
pub const MAX_LINES: usize = 300;

/// What is invoiced, how many of it and at which price.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceLine {
    /// What is invoiced, in words.
    pub description: String,
    /// How many units, at least 1.
    pub quantity: u32,
    /// Net price of one unit in minor units of the currency.
    pub unit_price_cents: i64,
    /// Tax rate in basis points (1/100 of a percent).
    pub tax_rate_bps: i64,
}

impl InvoiceLine {
    /// Net amount of the line in minor units; `None` on overflow.
    pub fn amount_cents(&self) -> Option<i64> {
        self.unit_price_cents.checked_mul(i64::from(self.quantity))
    }
}

/// What is invoiced, and to whom: frozen when the invoice is issued.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    /// The lines, at least one.
    pub lines: Vec<InvoiceLine>,
    /// Charge for shipping in minor units.
    pub shipping_cents: i64,
    /// Tax rate of the shipping in basis points.
    pub shipping_tax_rate_bps: i64,
    /// Discount on the lines in minor units, spread over their tax rates.
    pub discount_cents: i64,
    /// The totals, which follow from the rest.
    pub sums: Sums,
    /// Currency of all amounts as ISO 4217 code in lower case.
    pub currency: String,
    /// Whom it is for.
    pub buyer: Party,
    /// Free text that the customer reads.
    pub notes: Option<String>,
}

/// What a document is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// Type 380 of UNTDID 1001.
    Invoice,
    /// Type 381 of UNTDID 1001: it takes back an invoice, or a part of it.
    CreditNote,
}

/// What was issued. It is inserted once, with a number that the store's writer fills in, and never changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Identifier of the document.
    pub id: Id,
    /// The invoice that it belongs to.
    pub invoice_id: Id,
    /// Invoice or credit note.
    pub kind: DocumentKind,
    /// Counts the documents of its series from 1, without gaps. The writer fills it in; 0 before, and it is no part of
    /// the stored document but a column beside it.
    #[serde(skip)]
    pub number: i64,
    /// When it was issued; its year (UTC) is part of the series.
    pub issued_at: Timestamp,
    /// When it is to be paid.
    pub due_at: Option<Timestamp>,
    /// When what is invoiced was supplied (BT-72); `None` in documents of older releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supplied_at: Option<Timestamp>,
    /// What is invoiced or taken back, with the totals.
    pub content: Content,
    /// Difference between the totals and what is to be paid, in minor units: a credit note over a part is over exactly
    /// what went back, which no net amount may give with its tax.
    pub rounding_cents: i64,
    /// What was paid of it when it was issued (of a credit note: what went back), in minor units.
    pub paid_cents: i64,
    /// Who issued it, as the settings said then.
    pub seller: Party,
    /// Why nothing is taxed where the rate is 0; `None` where the settings give no reason.
    pub zero_rate_reason: Option<String>,
    /// Number of the order that it is for, as people see it.
    pub order_number: Option<String>,
    /// The document that a credit note takes back.
    pub preceding: Option<Id>,
}

/// The series of the documents of this kind that are issued in this year.
pub fn series_of(kind: DocumentKind, year: &str) -> String {
    let prefix = match kind {
        DocumentKind::Invoice => "INV",
        DocumentKind::CreditNote => "CN",
    };
    format!("{prefix}-{year}")
}

impl Document {
    /// What is to be paid of it in all, in minor units.
    pub fn payable_cents(&self) -> i64 {
        self.content.sums.total_cents.saturating_add(self.rounding_cents)
    }

    /// The series whose numbers have no gap: `INV-2026`, `CN-2026`.
    pub fn series(&self) -> String {
        series_of(self.kind, self.issued_at.to_string().get(..4).unwrap_or("1970"))
    }

    /// The number as people see it: `INV-2026-000123`.
    pub fn number_text(&self) -> String {
        format!("{}-{:06}", self.series(), self.number)
    }
}

/// A document as its invoice remembers it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentHead {
    /// Identifier of the document.
    pub id: Id,
    /// Invoice or credit note.
    pub kind: DocumentKind,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// What is to be paid, or went back, in minor units.
    pub payable_cents: i64,
}

/// A link by which whoever has it can pay the invoice. Its token is signed, and follows from the invoice and `number`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PayLink {
    /// Counts the links of the invoice from 1; those before it were revoked.
    pub number: u32,
    /// When it ends by itself; `None` for one that does not.
    pub expires_at: Option<Timestamp>,
}

/// An invoice with its payments and the heads of what was issued.
///
/// Invariants: `content` is frozen once a document is issued; documents are only added; the credit notes together are
/// over what is no longer covered by money, never more than the invoice is over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    /// Identifier of the invoice.
    pub id: Id,
    /// Counts the changes that people made, from 1.
    pub revision: i64,
    /// Where it stands; never [`InvoiceStatus::Overdue`].
    pub status: InvoiceStatus,
    /// The site that it belongs to.
    pub site: String,
    /// The order that it follows; `None` for one that an operator made.
    pub order_id: Option<Id>,
    /// Number of the order, as people see it.
    pub order_number: Option<String>,
    /// The customer's e-mail address in lower case.
    pub customer_email: Option<String>,
    /// What is invoiced.
    pub content: Content,
    /// When it is to be paid, as an operator said; `None` counts the settings' days from its issue.
    pub due_at: Option<Timestamp>,
    /// When what is invoiced was supplied; `None` where it had not been when the invoice was issued, or nobody knows:
    /// then the day of the issue counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supplied_at: Option<Timestamp>,
    /// When it was issued; `None` for a draft.
    pub issued_at: Option<Timestamp>,
    /// When it was paid in full; a later refund keeps it.
    pub paid_at: Option<Timestamp>,
    /// Payments in its currency less their refunds, in minor units.
    pub kept_cents: i64,
    /// Payments and refunds, oldest first.
    pub payments: Vec<Payment>,
    /// What was issued, oldest first.
    pub documents: Vec<DocumentHead>,
    /// Reasons for which a person must look at its money: `refund_due`, `amount_mismatch`, `refund_failed`,
    /// `disputed`, `dispute_lost`. Those of an order's invoice are on the order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The processor's checkout session for it, if one is known; that of an order's invoice is the order's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_session: Option<String>,
    /// What is under way at the payment processor.
    #[serde(default, skip_serializing_if = "AtProcessor::is_idle")]
    pub at_processor: AtProcessor,
    /// The link by which it can be paid; `None` while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pay_link: Option<PayLink>,
    /// How many links were made so far.
    #[serde(default)]
    pub pay_links: u32,
    /// Number of the order's commit whose money it followed last.
    #[serde(default)]
    pub followed: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Invoice {
    /// The status as it is shown at a time: overdue where money is due and the date has passed.
    pub fn shown_status(&self, now: Timestamp) -> InvoiceStatus {
        let owing = matches!(self.status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
        let late = self.due_at.is_some_and(|due_at| due_at < now);
        if owing && late && self.due_cents() > 0 { InvoiceStatus::Overdue } else { self.status }
    }

    /// What is still to be paid, in minor units; 0 unless it is open or partially paid.
    pub fn due_cents(&self) -> i64 {
        self.to_pay()
    }

    /// The document by which it was issued; `None` for a draft.
    pub fn issued(&self) -> Option<&DocumentHead> {
        self.documents.iter().find(|one| one.kind == DocumentKind::Invoice)
    }

    /// What its credit notes are over together, in minor units.
    pub fn credited_cents(&self) -> i64 {
        let notes = self.documents.iter().filter(|one| one.kind == DocumentKind::CreditNote);
        notes.fold(0, |sum: i64, note| sum.saturating_add(note.payable_cents))
    }

    /// Whether it belongs to the customer with this e-mail address, in lower case, and was issued.
    pub fn shown_to(&self, email: &str) -> bool {
        self.issued_at.is_some() && self.customer_email.as_deref() == Some(email)
    }
}

/// What an operator says of a draft.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DraftInvoice {
    /// Whom it is for.
    pub buyer: Party,
    /// The customer's e-mail address.
    pub customer_email: Option<String>,
    /// The site; `None` takes the configured default.
    pub site: Option<String>,
    /// Currency; `None` takes the configured default.
    pub currency: Option<String>,
    /// The lines, each with whether its tax rate was given; else it is that of the buyer's address.
    pub lines: Vec<(InvoiceLine, bool)>,
    /// Charge for shipping in minor units.
    pub shipping_cents: i64,
    /// Discount on the lines in minor units.
    pub discount_cents: i64,
    /// When it is to be paid; `None` counts the settings' days from its issue.
    pub due_at: Option<Timestamp>,
    /// Free text that the customer reads.
    pub notes: Option<String>,
}

/// What can be asked of an invoice.
#[derive(Clone, Debug)]
pub enum InvoiceCommand {
    /// Makes a draft.
    Create(Box<DraftInvoice>),
    /// Replaces what a draft says.
    Update {
        /// The version that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// The whole draft as it will be.
        draft: Box<DraftInvoice>,
    },
    /// Issues a draft: its number is taken with this commit.
    Send,
    /// Gives a draft up, or takes an open invoice back by a credit note over the whole.
    Void,
    /// An operator has received money.
    MarkPaid {
        /// Amount in minor units; `None` is the amount due. More is refused with 400.
        amount_cents: Option<i64>,
        /// How it was paid, in a word.
        method: String,
        /// The operator's own reference.
        reference: Option<String>,
    },
    /// An operator gives money back: records what was given by hand, or has the processor pay back what it took.
    Refund {
        /// The payment that goes back; `None`: those of the processor, the newest first, else the newest of which
        /// something is left.
        payment: Option<Id>,
        /// Amount in minor units; `None` is all that is left.
        amount_cents: Option<i64>,
        /// Whether the processor can be asked for it.
        at_processor: bool,
    },
    /// An operator gave money back by other means than it came: of what was recorded by hand, or what came back of a
    /// refund of the processor that failed.
    RefundOtherwise {
        /// The payment that goes back; must be named.
        payment: Option<Id>,
        /// Amount in minor units; `None` is all that waits.
        amount_cents: Option<i64>,
        /// How it was given back, in a word.
        method: String,
    },
    /// What concerns its checkouts, refunds and payments at the processor.
    Ledger(LedgerCommand),
    /// The processor charged a customer for a subscription: issued and paid at once.
    Charge(Box<ChargedPeriod>),
    /// Makes a link by which it can be paid; one that was there is revoked.
    OpenPayLink {
        /// When it ends by itself.
        expires_at: Option<Timestamp>,
    },
    /// Revokes the link.
    ClosePayLink,
    /// The money of its order, as it is now.
    Follow(Box<OrderMoney>),
}

/// An invoice's answer to a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum InvoiceAnswer {
    /// The invoice after the change.
    Invoice(Box<Invoice>),
    /// To its order: it was heard. `void` means that the invoice is void and the order's money needs another one.
    Followed {
        /// Whether the invoice is void.
        void: bool,
    },
}

/// What a commit of an invoice writes besides the invoice itself.
#[derive(Clone, PartialEq, Debug)]
pub enum InvoiceRow {
    /// A document that is issued: inserted once, with the next number of its series.
    Issued(Box<Document>),
    /// A payment of its own as it is now, by which it is listed and found (insert or replace).
    Payment(Payment),
}
