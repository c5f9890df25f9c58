//! Invoice: the amount a customer owes, from the draft to the last credit note.
//!
//! An invoice is created either by an operator or with the first payment of an order, in the order's own commit. An
//! invoice created by an operator owns its payments; an order's invoice follows the order (`follow`): it has the same
//! payments and the same state. Issuing creates an [`IssuedDocument`]: an invoice or a credit note with a number from a
//! gapless series, stored as a row that is inserted once and never changed. The rules are grouped: `sums` (tax by rate,
//! the totals), `make` (drafting, issuing), `credit` (credit notes), `money` (the effects of the invoice's own
//! [ledger](crate::ledger)), `follow` (the order's state), `charged` (subscription charges by the processor),
//! `pay_link`, `notice` (emails to the customer); `rules` dispatches commands to them.
//!
//! | from | on | to | issued |
//! | --- | --- | --- | --- |
//! | none | created by an operator | draft | |
//! | none | the processor charged for a subscription | paid | invoice |
//! | none | the first payment of an order | open, `partially_paid` or paid | invoice |
//! | draft | sent | open; paid if it costs nothing | invoice |
//! | draft | voided | void | |
//! | open | voided, or its order is cancelled | void | credit note for the whole amount |
//! | open, `partially_paid` | payment received | `partially_paid`; paid when complete | |
//! | `partially_paid` | payment refunded | open when nothing is left | |
//! | paid | partial refund | paid | credit note for the amount no longer covered |
//! | paid | full refund | refunded | credit note for the rest |
//!
//! `overdue` is not a stored status: it is shown instead of open and `partially_paid` once the due date has passed.

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

/// Maximum number of lines per invoice; the same as per order.
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
    /// Returns the net amount of the line in minor units, or `None` on overflow.
    pub fn amount_cents(&self) -> Option<i64> {
        self.unit_price_cents.checked_mul(i64::from(self.quantity))
    }
}

/// Invoiced items and buyer, frozen when the invoice is issued.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvoiceContent {
    /// Invoice lines, at least one.
    pub lines: Vec<InvoiceLine>,
    /// Shipping charge in minor units.
    pub shipping_cents: i64,
    /// Tax rate for shipping, in basis points.
    pub shipping_tax_rate_bps: i64,
    /// Discount on the lines, in minor units, distributed over their tax rates.
    pub discount_cents: i64,
    /// Totals, derived from the other fields.
    pub sums: Sums,
    /// Currency of all amounts as a lowercase ISO 4217 code.
    pub currency: String,
    /// Party that the invoice is addressed to.
    pub buyer: Party,
    /// Free text shown to the customer.
    pub notes: Option<String>,
}

/// Type of document.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// Invoice: type 380 in UNTDID 1001.
    Invoice,
    /// Credit note, which reverses all or part of an invoice: type 381 in UNTDID 1001.
    CreditNote,
}

/// Issued document. It is inserted once, with a number assigned by the store's writer, and never changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuedDocument {
    /// Identifier of the document.
    pub id: Id,
    /// Invoice that the document belongs to.
    pub invoice_id: Id,
    /// Type of the document: invoice or credit note.
    pub kind: DocumentKind,
    /// Number within its series, starting at 1 without gaps; 0 until the writer assigns it. Stored in a separate column
    /// rather than in the document.
    #[serde(skip)]
    pub number: i64,
    /// Time of issue; its year (in UTC) is part of the series.
    pub issued_at: Timestamp,
    /// Time at which payment is due.
    pub due_at: Option<Timestamp>,
    /// Time of supply (BT-72); `None` if the goods had not yet been shipped to `ship_to`, and in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supplied_at: Option<Timestamp>,
    /// Delivery address (BG-15); `None` if it is unknown, or if the invoice is not for an order.
    pub ship_to: Option<Address>,
    /// Invoiced or reversed items, with the totals.
    pub content: InvoiceContent,
    /// Difference between the totals and the payable amount, in minor units. A partial credit note must be for exactly
    /// the refunded amount, which may not equal the gross of any whole net amount.
    pub rounding_cents: i64,
    /// Amount already paid (for a credit note: refunded) at the time of issue, in minor units.
    pub paid_cents: i64,
    /// Party that issued the document, according to the settings at that time.
    pub seller: Party,
    /// Reason why no tax is charged at rate 0, if the settings give one.
    pub zero_rate_reason: Option<String>,
    /// Number of the invoiced order.
    pub order_number: Option<String>,
    /// Document that a credit note reverses.
    pub preceding: Option<Id>,
}

/// Returns the number series for the given type of document and year.
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

    /// Returns the gapless number series, such as `INV-2026` or `CN-2026`.
    pub fn series(&self) -> String {
        series_of(self.kind, self.issued_at.to_string().get(..4).unwrap_or("1970"))
    }

    /// Returns the document number as printed, such as `INV-2026-000123`.
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
    /// Type of the document: invoice or credit note.
    pub kind: DocumentKind,
    /// Time of issue.
    pub issued_at: Timestamp,
    /// Amount payable or refunded, in minor units.
    pub payable_cents: i64,
}

/// Link that lets anyone who has it pay the invoice. The link's token is signed and derived from the invoice and
/// `number`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PayLink {
    /// Number of the link, starting at 1 for each invoice; all earlier links are revoked.
    pub number: u32,
    /// Time at which the link expires, if it does.
    pub expires_at: Option<Timestamp>,
}

/// Invoice with its payments and document summaries.
///
/// Invariants: `content` is frozen once a document is issued; documents are only ever added; the credit notes together
/// cover exactly the amount no longer covered by payments, and never more than the invoice amount.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invoice {
    /// Identifier of the invoice.
    pub id: Id,
    /// Version, starting at 1, incremented only by changes made by users.
    pub revision: i64,
    /// Stored status, which is never [`InvoiceStatus::Overdue`].
    pub status: InvoiceStatus,
    /// Site that the invoice belongs to.
    pub site: String,
    /// Order that the invoice follows; `None` if an operator created it.
    pub order_id: Option<Id>,
    /// Human-readable number of the invoiced order.
    pub order_number: Option<String>,
    /// The customer's email address in lowercase.
    pub customer_email: Option<String>,
    /// Invoiced items and buyer.
    pub content: InvoiceContent,
    /// Due time set by an operator; if `None`, the payment term from the settings applies, in days after issue.
    pub due_at: Option<Timestamp>,
    /// Time of supply; `None` if the goods had not been supplied when the invoice was issued, or if the time is
    /// unknown. In that case the issue date applies, unless `ship_to` shows that delivery is still to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supplied_at: Option<Timestamp>,
    /// Delivery address; `None` if it is unknown, or if the invoice is not for an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ship_to: Option<Address>,
    /// Time of issue; `None` for a draft.
    pub issued_at: Option<Timestamp>,
    /// Time at which the invoice was paid in full; a later refund does not clear it.
    pub paid_at: Option<Timestamp>,
    /// Payments and refunds, and the pending requests to the payment processor. For an order's invoice, a copy of the
    /// order's payments; the requests belong to the order.
    #[serde(flatten)]
    pub ledger: Ledger,
    /// Issued documents, oldest first.
    pub documents: Vec<DocumentHead>,
    /// Payment problems that need an operator's attention: `refund_due`, `amount_mismatch`, `refund_failed`,
    /// `disputed`, `dispute_lost`. For an order's invoice, the flags are set on the order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Link for paying the invoice, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pay_link: Option<PayLink>,
    /// Number of pay links created so far.
    #[serde(default)]
    pub pay_links: u32,
    /// Number of the order commit whose payments were last applied.
    #[serde(default)]
    pub followed: i64,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl Invoice {
    /// Returns the status to show at the given time: overdue if there is an amount due and the due date has passed.
    pub fn shown_status(&self, now: Timestamp) -> InvoiceStatus {
        let owing = matches!(self.status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
        let late = self.due_at.is_some_and(|due_at| due_at < now);
        if owing && late && self.due_cents() > 0 { InvoiceStatus::Overdue } else { self.status }
    }

    /// Returns the amount still due, in minor units; 0 unless the invoice is open or partially paid.
    pub fn due_cents(&self) -> i64 {
        self.ledger.to_pay(&self.terms())
    }

    /// Returns the summary of the document that issued the invoice; `None` for a draft.
    pub fn issued(&self) -> Option<&DocumentHead> {
        self.documents.iter().find(|one| one.kind == DocumentKind::Invoice)
    }

    /// Returns the total amount of the invoice's credit notes, in minor units.
    pub fn credited_cents(&self) -> i64 {
        let notes = self.documents.iter().filter(|one| one.kind == DocumentKind::CreditNote);
        notes.fold(0, |sum: i64, note| sum.saturating_add(note.payable_cents))
    }

    /// Returns whether the invoice was issued and belongs to the customer with the given email address, which must be
    /// in lowercase.
    pub fn shown_to(&self, email: &str) -> bool {
        self.issued_at.is_some() && self.customer_email.as_deref() == Some(email)
    }
}

/// Draft of an invoice as entered by an operator.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DraftInvoice {
    /// Party that the invoice is addressed to.
    pub buyer: Party,
    /// The customer's email address.
    pub customer_email: Option<String>,
    /// Site of the invoice; `None` uses the configured default.
    pub site: Option<String>,
    /// Currency; `None` uses the configured default.
    pub currency: Option<String>,
    /// Lines, each with a flag that indicates whether its tax rate was specified; otherwise the rate for the buyer's
    /// address applies.
    pub lines: Vec<(InvoiceLine, bool)>,
    /// Shipping charge in minor units.
    pub shipping_cents: i64,
    /// Discount on the lines in minor units.
    pub discount_cents: i64,
    /// Time at which payment is due; if `None`, the payment term from the settings applies, in days after issue.
    pub due_at: Option<Timestamp>,
    /// Free text shown to the customer.
    pub notes: Option<String>,
}

/// Commands that change an invoice.
#[derive(Clone, Debug)]
pub enum InvoiceCommand {
    /// Creates a draft.
    Create(Box<DraftInvoice>),
    /// Replaces the content of a draft.
    Update {
        /// Version that the caller read; rejected with 412 if the invoice has changed since.
        if_version: Option<i64>,
        /// Complete new draft.
        draft: Box<DraftInvoice>,
    },
    /// Issues a draft; the commit assigns the invoice number.
    Send,
    /// Discards a draft, or reverses an open invoice with a credit note for the full amount.
    Void,
    /// Records a payment received by an operator.
    MarkPaid {
        /// Amount in minor units; `None` for the amount due. A larger amount is rejected with 400.
        amount_cents: Option<i64>,
        /// Payment method, as a single word.
        method: String,
        /// Reference chosen by the operator.
        reference: Option<String>,
    },
    /// Refunds a payment: records a manual refund, or has the processor refund a payment that it collected.
    Refund {
        /// Payment to refund. If `None`, the processor's payments are refunded, newest first, or otherwise the newest
        /// payment that is not fully refunded.
        payment: Option<Id>,
        /// Amount in minor units; `None` for the full remaining amount.
        amount_cents: Option<i64>,
        /// `true` if the refund can be requested from the processor.
        at_processor: bool,
    },
    /// Records a refund made by means other than the original payment, either because the payment was recorded manually
    /// or because a refund by the processor failed.
    RefundOtherwise {
        /// Refunded payment; required.
        payment: Option<Id>,
        /// Amount in minor units; `None` for the full outstanding amount.
        amount_cents: Option<i64>,
        /// Refund method, as a single word.
        method: String,
    },
    /// Applies a command concerning checkouts, refunds or the processor's payments.
    Ledger(LedgerCommand),
    /// Issues a paid invoice for a subscription charge made by the processor.
    Charge(Box<ChargedPeriod>),
    /// Creates a pay link; the current one, if any, is revoked.
    OpenPayLink {
        /// Time at which the link expires.
        expires_at: Option<Timestamp>,
    },
    /// Revokes the pay link.
    ClosePayLink,
    /// Applies the current payments of the invoice's order.
    Follow(Box<OrderPaymentSummary>),
}

/// Response to a command on an invoice.
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

/// Row that an invoice commit writes in addition to the snapshot row.
#[derive(Clone, PartialEq, Debug)]
pub enum InvoiceRow {
    /// Document to issue: inserted once, with the next number in its series.
    Issued(Box<IssuedDocument>),
    /// Payment of the invoice itself, to insert or replace, for listing and lookup.
    Payment(Payment),
}
