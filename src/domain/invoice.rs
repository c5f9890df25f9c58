//! Invoice: the amount a customer owes, from the draft to the last credit note.
//!
//! An operator creates an invoice, or the first payment of an order does, in the order's own commit. One created by an
//! operator owns its payments; that of an order follows the order (`follow`): same payments, same state. Issuing
//! creates a [`IssuedDocument`]: an invoice or a credit note with a number from a gapless series, a row that is
//! inserted once and never changed. The rules are grouped: `sums` (tax by rate, the totals), `make` (drafting,
//! issuing), `credit` (credit notes), `money` (the effects of its own [ledger](crate::ledger)), `follow` (the state of
//! an order), `charged` (charges of the processor for a subscription), `pay_link`, `notice` (mails to the customer);
//! `rules` dispatches.
//!
//! | from | on | to | issued |
//! | --- | --- | --- | --- |
//! | none | created by an operator | draft | |
//! | none | the processor charged for a subscription | paid | invoice |
//! | none | the first payment of an order | open, `partially_paid` or paid | invoice |
//! | draft | sent | open; paid if it costs nothing | invoice |
//! | draft | voided | void | |
//! | open | voided, or its order is cancelled | void | credit note over the whole |
//! | open, `partially_paid` | payment received | `partially_paid`; paid when complete | |
//! | `partially_paid` | payment refunded | open when nothing is left | |
//! | paid | partial refund | paid | credit note over the amount no longer covered |
//! | paid | full refund | refunded | credit note over the rest |
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
mod tests;

pub use charged::{ChargedLine, ChargedPeriod};
pub use follow::{NewInvoice, OrderPaymentSummary, OrderToInvoice};
pub use pay_link::{pay_token, read_pay_token};
pub use sums::{Category, Sums};

pub use crate::invoice_status::InvoiceStatus;
pub use crate::ledger::{LedgerCommand, LedgerEffect, Payment};
pub use crate::party::Party;

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::id::Id;
use crate::ledger::{Ledger, LedgerOwner as _};
use crate::time::Timestamp;

/// Maximum number of lines of one invoice, equal to that of an order.
pub const MAX_LINES: usize = 300;

/// Invoiced item with quantity and price.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceLine {
    /// Text of the line.
    pub description: String,
    /// Number of units, at least 1.
    pub quantity: u32,
    /// Net unit price in minor units of the currency.
    pub unit_price_cents: i64,
    /// Tax rate in basis points (1/100 of a percent).
    pub tax_rate_bps: i64,
}

impl InvoiceLine {
    /// Returns the net amount of the line in minor units; `None` on overflow.
    pub fn amount_cents(&self) -> Option<i64> {
        self.unit_price_cents.checked_mul(i64::from(self.quantity))
    }
}

/// Invoiced items and buyer: frozen when the invoice is issued.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceContent {
    /// Invoice lines, at least one.
    pub lines: Vec<InvoiceLine>,
    /// Shipping charge in minor units.
    pub shipping_cents: i64,
    /// Tax rate of the shipping charge in basis points.
    pub shipping_tax_rate_bps: i64,
    /// Discount on the lines in minor units, spread over their tax rates.
    pub discount_cents: i64,
    /// Totals, derived from the other fields.
    pub sums: Sums,
    /// Currency of all amounts as ISO 4217 code in lower case.
    pub currency: String,
    /// Party that the invoice is addressed to.
    pub buyer: Party,
    /// Free text shown to the customer.
    pub notes: Option<String>,
}

/// Type of a document.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// Invoice: type 380 of UNTDID 1001.
    Invoice,
    /// Credit note: type 381 of UNTDID 1001, which reverses an invoice or a part of it.
    CreditNote,
}

/// Issued document. It is inserted once, with a number that the store's writer assigns, and never changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuedDocument {
    /// Identifier of the document.
    pub id: Id,
    /// Invoice that the document belongs to.
    pub invoice_id: Id,
    /// Type: invoice or credit note.
    pub kind: DocumentKind,
    /// Number within its series, counted from 1 without gaps. The writer assigns it; 0 before. It is not part of the
    /// stored document but a column beside it.
    #[serde(skip)]
    pub number: i64,
    /// Time of issue; its year (UTC) is part of the series.
    pub issued_at: Timestamp,
    /// Time at which payment is due.
    pub due_at: Option<Timestamp>,
    /// Time of supply (BT-72); `None` before it leaves for `ship_to`, and in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supplied_at: Option<Timestamp>,
    /// Address of delivery (BG-15); `None` where nobody knows, and for what is no order.
    pub ship_to: Option<Address>,
    /// Invoiced or reversed items, with the totals.
    pub content: InvoiceContent,
    /// Difference between the totals and the payable amount, in minor units: a partial credit note is over exactly the
    /// refunded amount, which may not be the gross of any whole net amount.
    pub rounding_cents: i64,
    /// Amount already paid at issue (for a credit note: already refunded), in minor units.
    pub paid_cents: i64,
    /// Party that issued it, by the settings at that time.
    pub seller: Party,
    /// Reason why nothing is taxed at rate 0; `None` if the settings give no reason.
    pub zero_rate_reason: Option<String>,
    /// Number of the invoiced order.
    pub order_number: Option<String>,
    /// Document that a credit note reverses.
    pub preceding: Option<Id>,
}

/// Returns the number series of this kind of document in this year.
pub fn series_of(kind: DocumentKind, year: &str) -> String {
    let prefix = match kind {
        DocumentKind::Invoice => "INV",
        DocumentKind::CreditNote => "CN",
    };
    format!("{prefix}-{year}")
}

impl IssuedDocument {
    /// Returns the total payable amount, in minor units.
    pub fn payable_cents(&self) -> i64 {
        self.content.sums.total_cents.saturating_add(self.rounding_cents)
    }

    /// Returns the gapless number series: `INV-2026`, `CN-2026`.
    pub fn series(&self) -> String {
        series_of(self.kind, self.issued_at.to_string().get(..4).unwrap_or("1970"))
    }

    /// Returns the document number as printed: `INV-2026-000123`.
    pub fn number_text(&self) -> String {
        format!("{}-{:06}", self.series(), self.number)
    }
}

/// Summary of a document, stored in its invoice.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentHead {
    /// Identifier of the document.
    pub id: Id,
    /// Type: invoice or credit note.
    pub kind: DocumentKind,
    /// Time of issue.
    pub issued_at: Timestamp,
    /// Amount payable or refunded, in minor units.
    pub payable_cents: i64,
}

/// Link that lets anyone who has it pay the invoice. Its token is signed and derived from the invoice and `number`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PayLink {
    /// Number of the link, counted from 1 per invoice; earlier ones were revoked.
    pub number: u32,
    /// Time at which it expires; `None` if it does not.
    pub expires_at: Option<Timestamp>,
}

/// Invoice with its payments and the summaries of its documents.
///
/// Invariants: `content` is frozen once a document is issued; documents are only added; the credit notes together cover
/// the amount no longer covered by payments, never more than the invoice amount.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    /// Identifier of the invoice.
    pub id: Id,
    /// Version counted from 1, which only changes made by users increment.
    pub revision: i64,
    /// Stored status; never [`InvoiceStatus::Overdue`].
    pub status: InvoiceStatus,
    /// Site that the invoice belongs to.
    pub site: String,
    /// Order that the invoice follows; `None` if an operator created it.
    pub order_id: Option<Id>,
    /// Human-readable number of the invoiced order.
    pub order_number: Option<String>,
    /// The customer's e-mail address in lower case.
    pub customer_email: Option<String>,
    /// Invoiced items and buyer.
    pub content: InvoiceContent,
    /// Due time set by an operator; `None` means the number of days after issue from the settings.
    pub due_at: Option<Timestamp>,
    /// Time of supply; `None` where it had not been when the invoice was issued, or nobody knows:
    /// then the day of the issue counts, unless `ship_to` says that it is still to be delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supplied_at: Option<Timestamp>,
    /// Address of delivery; `None` where nobody knows, and for what is no order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ship_to: Option<Address>,
    /// Time of issue; `None` for a draft.
    pub issued_at: Option<Timestamp>,
    /// Time at which it was paid in full; a later refund does not clear it.
    pub paid_at: Option<Timestamp>,
    /// Payments and refunds, and the requests in flight at the payment processor. For an order's invoice, whose
    /// requests the order has, a copy of the order's payments.
    #[serde(flatten)]
    pub ledger: Ledger,
    /// Issued documents, oldest first.
    pub documents: Vec<DocumentHead>,
    /// Payment problems that need an operator's attention: `refund_due`, `amount_mismatch`, `refund_failed`,
    /// `disputed`, `dispute_lost`. Those of an order's invoice are on the order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Link by which it can be paid; `None` while there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pay_link: Option<PayLink>,
    /// Number of links created so far.
    #[serde(default)]
    pub pay_links: u32,
    /// Number of the order's commit whose payments it followed last.
    #[serde(default)]
    pub followed: i64,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl Invoice {
    /// Returns the status to show at this time: overdue if money is due and the due date has passed.
    pub fn shown_status(&self, now: Timestamp) -> InvoiceStatus {
        let owing = matches!(self.status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
        let late = self.due_at.is_some_and(|due_at| due_at < now);
        if owing && late && self.due_cents() > 0 { InvoiceStatus::Overdue } else { self.status }
    }

    /// Returns the amount still due, in minor units; 0 unless it is open or partially paid.
    pub fn due_cents(&self) -> i64 {
        self.ledger.to_pay(&self.terms())
    }

    /// Returns the document with which it was issued; `None` for a draft.
    pub fn issued(&self) -> Option<&DocumentHead> {
        self.documents.iter().find(|one| one.kind == DocumentKind::Invoice)
    }

    /// Returns the total of its credit notes, in minor units.
    pub fn credited_cents(&self) -> i64 {
        let notes = self.documents.iter().filter(|one| one.kind == DocumentKind::CreditNote);
        notes.fold(0, |sum: i64, note| sum.saturating_add(note.payable_cents))
    }

    /// Returns whether it was issued and belongs to the customer with this e-mail address, in lower case.
    pub fn shown_to(&self, email: &str) -> bool {
        self.issued_at.is_some() && self.customer_email.as_deref() == Some(email)
    }
}

/// Draft of an invoice, as an operator enters it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DraftInvoice {
    /// Party that the invoice is addressed to.
    pub buyer: Party,
    /// The customer's e-mail address.
    pub customer_email: Option<String>,
    /// Site of the invoice; `None` uses the configured default.
    pub site: Option<String>,
    /// Currency; `None` uses the configured default.
    pub currency: Option<String>,
    /// Lines, each with whether its tax rate was specified; otherwise the rate of the buyer's address applies.
    pub lines: Vec<(InvoiceLine, bool)>,
    /// Shipping charge in minor units.
    pub shipping_cents: i64,
    /// Discount on the lines in minor units.
    pub discount_cents: i64,
    /// Time at which payment is due; `None` means the number of days after issue from the settings.
    pub due_at: Option<Timestamp>,
    /// Free text shown to the customer.
    pub notes: Option<String>,
}

/// Commands on an invoice.
#[derive(Clone, Debug)]
pub enum InvoiceCommand {
    /// Creates a draft.
    Create(Box<DraftInvoice>),
    /// Replaces the content of a draft.
    Update {
        /// Version that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// Complete new draft.
        draft: Box<DraftInvoice>,
    },
    /// Issues a draft: this commit assigns its number.
    Send,
    /// Discards a draft, or reverses an open invoice by a credit note over the whole.
    Void,
    /// Records a payment that an operator received.
    MarkPaid {
        /// Amount in minor units; `None` for the amount due. More is refused with 400.
        amount_cents: Option<i64>,
        /// Payment method, as a single word.
        method: String,
        /// Reference of the operator's choice.
        reference: Option<String>,
    },
    /// Refunds a payment: records a manual refund, or has the processor refund a payment that it took.
    Refund {
        /// Payment to refund; `None` for those of the processor, newest first, otherwise the newest that is not fully
        /// refunded.
        payment: Option<Id>,
        /// Amount in minor units; `None` for everything that is left.
        amount_cents: Option<i64>,
        /// `true` if the processor can be asked for the refund.
        at_processor: bool,
    },
    /// Records a refund made by other means than the payment: of a payment recorded manually, or after a refund by the
    /// processor failed.
    RefundOtherwise {
        /// Payment that was refunded; required.
        payment: Option<Id>,
        /// Amount in minor units; `None` for everything that is pending.
        amount_cents: Option<i64>,
        /// Refund method, as a single word.
        method: String,
    },
    /// Handles its checkouts, refunds and payments at the processor.
    Ledger(LedgerCommand),
    /// Issues a paid invoice for a subscription charge of the processor.
    Charge(Box<ChargedPeriod>),
    /// Creates a pay link; an existing one is revoked.
    OpenPayLink {
        /// Time at which the link expires.
        expires_at: Option<Timestamp>,
    },
    /// Revokes the pay link.
    ClosePayLink,
    /// Applies the current payments of its order.
    Follow(Box<OrderPaymentSummary>),
}

/// Answer to a command on an invoice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InvoiceAnswer {
    /// Invoice after the change.
    #[serde(rename = "Invoice")]
    pub invoice: Box<Invoice>,
}

impl AsRef<Invoice> for InvoiceAnswer {
    fn as_ref(&self) -> &Invoice {
        &self.invoice
    }
}

/// Row that a commit of an invoice writes besides its snapshot row.
#[derive(Clone, PartialEq, Debug)]
pub enum InvoiceRow {
    /// Document to issue: inserted once, with the next number of its series.
    Issued(Box<IssuedDocument>),
    /// Current state of the invoice's own payment, for listing and lookup (insert or replace).
    Payment(Payment),
}
