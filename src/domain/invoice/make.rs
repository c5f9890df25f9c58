//! Drafting and issuing invoices.

use super::sums::Sums;
use super::{
    DocumentHead, DocumentKind, DraftInvoice, Invoice, InvoiceContent, InvoiceLine, InvoiceRow, InvoiceStatus,
    IssuedDocument, MAX_LINES, credit,
};
use crate::aggregate::DecisionContext;
use crate::bounds::MAX_CENTS;
use crate::event::Event;
use crate::event::data::invoice::InvoiceData;
use crate::id::Id;
use crate::ledger::Ledger;
use crate::refusal::{Faults, Refusal};
use crate::tax::tax_bps;
use crate::time::DAY_MS;

/// Builds the content with its totals. All errors are reported together.
fn content(cx: &DecisionContext<'_>, draft: &DraftInvoice) -> Result<InvoiceContent, Refusal> {
    let mut faults = Faults::default();
    faults.check(!draft.lines.is_empty(), "lineItems", "must have at least one line");
    let many = format!("has {} lines; an invoice can have at most {MAX_LINES}", draft.lines.len());
    faults.check(draft.lines.len() <= MAX_LINES, "lineItems", many);
    for (n, (line, _)) in draft.lines.iter().enumerate() {
        let price = 0..=MAX_CENTS;
        faults.check(line.quantity >= 1, &format!("lineItems.{n}.quantity"), "must be at least 1");
        let path = format!("lineItems.{n}.unitPriceCents");
        faults.check(price.contains(&line.unit_price_cents), &path, "must not be negative or too large");
        let path = format!("lineItems.{n}.taxRateBps");
        faults.check((0..=10_000).contains(&line.tax_rate_bps), &path, "must be from 0 to 10000");
    }
    faults.check((0..=MAX_CENTS).contains(&draft.shipping_cents), "shippingCents", "must not be negative");
    faults.check(draft.discount_cents >= 0, "discountCents", "must not be negative");
    faults.refuse()?;
    let bps = tax_bps(cx.rules, draft.buyer.address.as_ref());
    let own = |(line, rated): &(InvoiceLine, bool)| {
        if *rated { line.clone() } else { InvoiceLine { tax_rate_bps: bps, ..line.clone() } }
    };
    let lines: Vec<InvoiceLine> = draft.lines.iter().map(own).collect();
    let subtotal = lines.iter().try_fold(0i64, |sum, line| sum.checked_add(line.amount_cents()?));
    if subtotal.is_some_and(|subtotal| draft.discount_cents > subtotal) {
        return Err(Refusal::field("discountCents", "must not exceed the sum of the lines"));
    }
    let sums = Sums::of(&lines, (draft.shipping_cents, bps), draft.discount_cents)
        .ok_or_else(|| Refusal::field("lineItems", "the total is too large; split the invoice"))?;
    Ok(InvoiceContent {
        lines,
        shipping_cents: draft.shipping_cents,
        shipping_tax_rate_bps: bps,
        discount_cents: draft.discount_cents,
        sums,
        currency: draft.currency.as_ref().unwrap_or(&cx.rules.currency).to_lowercase(),
        buyer: draft.buyer.clone(),
        notes: draft.notes.clone(),
    })
}

impl Invoice {
    /// Returns a draft with the given content that has no owner yet.
    pub(super) fn blank(cx: &DecisionContext<'_>, id: Id, site: String, content: InvoiceContent) -> Self {
        Self {
            id,
            revision: 1,
            status: InvoiceStatus::Draft,
            site,
            order_id: None,
            order_number: None,
            customer_email: None,
            content,
            due_at: None,
            supplied_at: None,
            ship_to: None,
            issued_at: None,
            paid_at: None,
            ledger: Ledger::default(),
            documents: Vec::new(),
            flags: Vec::new(),
            pay_link: None,
            pay_links: 0,
            followed: 0,
            created_at: cx.now,
            updated_at: cx.now,
        }
    }

    /// Creates a draft from an operator's input.
    pub(super) fn draft(cx: &DecisionContext<'_>, id: Id, draft: &DraftInvoice) -> Result<Self, Refusal> {
        let site = draft.site.clone().unwrap_or_else(|| cx.rules.site.clone());
        Ok(Self {
            customer_email: draft.customer_email.as_ref().map(|email| email.trim().to_lowercase()),
            due_at: draft.due_at,
            ..Self::blank(cx, id, site, content(cx, draft)?)
        })
    }

    /// Replaces the content of a draft with new input from an operator.
    pub(super) fn redraft(&mut self, cx: &DecisionContext<'_>, draft: &DraftInvoice) -> Result<(), Refusal> {
        if self.status != InvoiceStatus::Draft {
            return Err(Refusal::transition("the invoice cannot be changed", self.status));
        }
        let new = Self::draft(cx, self.id, draft)?;
        (self.content, self.due_at) = (new.content, new.due_at);
        (self.customer_email, self.site) = (new.customer_email, new.site);
        Ok(())
    }

    /// Issues the invoice now, which freezes its content. `paid_cents` is the amount already paid.
    pub(super) fn issue(&mut self, cx: &DecisionContext<'_>, paid_cents: i64) -> InvoiceRow {
        self.issued_at = Some(cx.now);
        let days = cx.rules.invoices.payment_days.saturating_mul(DAY_MS);
        self.due_at.get_or_insert(cx.now.plus_ms(days));
        self.status = InvoiceStatus::Open;
        let content = self.content.clone();
        let paid_cents = paid_cents.clamp(0, content.sums.payable_cents());
        let rounding = content.sums.rounding_cents;
        self.document(cx, DocumentKind::Invoice, content, rounding, paid_cents)
    }

    /// Issues a credit note for the given amount, in minor units; `back` is `true` if the money was refunded and
    /// `false` if it was never paid. Returns `None` if there is nothing to reverse.
    pub(super) fn credit(&mut self, cx: &DecisionContext<'_>, amount_cents: i64, back: bool) -> Option<InvoiceRow> {
        let total = self.content.sums.payable_cents();
        let whole = self.credited_cents() == 0 && amount_cents == total;
        if amount_cents <= 0 && (back || !whole) {
            return None;
        }
        let notes = self.documents.iter().filter(|one| one.kind == DocumentKind::CreditNote);
        let before: Vec<i64> = notes.map(|one| one.payable_cents).collect();
        let part = if whole { None } else { credit::part_of(&self.content, &before, amount_cents) };
        let all = || (InvoiceContent { notes: None, ..self.content.clone() }, self.content.sums.rounding_cents);
        let (content, rounding) = part.unwrap_or_else(all);
        Some(self.document(cx, DocumentKind::CreditNote, content, rounding, if back { amount_cents } else { 0 }))
    }

    fn document(
        &mut self,
        cx: &DecisionContext<'_>,
        kind: DocumentKind,
        content: InvoiceContent,
        rounding_cents: i64,
        paid_cents: i64,
    ) -> InvoiceRow {
        // An order is invoiced with its first payment, before it leaves. No document then states a supply: the day of a
        // payment in advance is that of the issue, which no law wants to be said twice (Article 226 (7) of Directive
        // 2006/112/EC, § 14 (4) no. 6 of the German UStG), and where it goes to is said instead. Of the rest, and where
        // nobody knows where it goes to, the day of the issue is taken for that of the supply.
        let issue_counts = self.ship_to.is_none();
        let document = IssuedDocument {
            id: cx.ids.id(),
            invoice_id: self.id,
            kind,
            number: 0,
            issued_at: cx.now,
            due_at: self.due_at.filter(|_| kind == DocumentKind::Invoice),
            supplied_at: self.supplied_at.or(self.issued_at.filter(|_| issue_counts)),
            ship_to: self.ship_to.clone(),
            content,
            rounding_cents,
            paid_cents,
            seller: cx.rules.invoices.seller.clone(),
            zero_rate_reason: cx.rules.invoices.zero_rate_reason.clone(),
            order_number: self.order_number.clone(),
            preceding: self.issued().map(|one| one.id),
        };
        self.documents.push(DocumentHead {
            id: document.id,
            kind,
            issued_at: document.issued_at,
            payable_cents: document.payable_cents(),
        });
        InvoiceRow::Issued(Box::new(document))
    }

    /// Builds the payload for events about the invoice.
    pub(super) fn data(&self) -> InvoiceData {
        InvoiceData {
            invoice_id: self.id,
            order_id: self.order_id,
            status: self.status,
            total_cents: self.content.sums.payable_cents(),
            amount_due_cents: self.due_cents(),
            currency: self.content.currency.clone(),
            customer_email: self.customer_email.clone(),
        }
    }

    /// Builds an event about the invoice.
    pub(super) fn event(&self, cx: &DecisionContext<'_>, name: &str) -> Event {
        Event::new(cx, name, ("invoice", self.id), self.order_id, &self.data())
    }
}
