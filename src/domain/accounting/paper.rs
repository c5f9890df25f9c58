//! Documents as sent to the accounting system: lines whose net amounts and taxes add up to exactly the document's
//! total.
//!
//! A document rounds the tax once per rate, whereas accounting systems expect a tax for every line. The tax of each
//! rate is therefore distributed over its lines, shipping and discount, and the cents left by rounding are added to the
//! largest of them.

use crate::currency;
use crate::invoice::{Category, DocumentKind, IssuedDocument};
use crate::time::Timestamp;

/// Maximum length of a line description at the provider, in characters.
const MAX_DESCRIPTION_CHARS: usize = 4_000;
/// Contact name for a buyer with neither name nor email address.
const UNNAMED_BUYER: &str = "Customer without a name";
/// Maximum length of a contact name at the provider, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Document line as it appears in the accounting system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountingDocumentLine {
    /// Text of the line.
    pub description: String,
    /// Number of units, at least 1.
    pub quantity: u32,
    /// Net price of one unit in minor units.
    pub unit_cents: i64,
    /// Net amount in minor units; negative for a discount.
    pub net_cents: i64,
    /// Tax on the net amount in minor units.
    pub tax_cents: i64,
    /// Tax rate in basis points.
    pub rate_bps: i64,
}

/// Document as it appears in the accounting system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountingDocument {
    /// Document kind: invoice or credit note.
    pub kind: DocumentKind,
    /// Document number as printed.
    pub number: String,
    /// Number of the order that the document is for.
    pub reference: Option<String>,
    /// Time of issue.
    pub issued_at: Timestamp,
    /// Time at which payment is due.
    pub due_at: Option<Timestamp>,
    /// ISO 4217 code in lowercase.
    pub currency: String,
    /// Contact name of the buyer; unique because it includes the email address.
    pub contact_name: String,
    /// Email address of the buyer, in lowercase.
    pub contact_email: Option<String>,
    /// Lines with net amount and tax; they add up to exactly `total_cents`.
    pub lines: Vec<AccountingDocumentLine>,
    /// Amount to be paid or refunded, in minor units.
    pub total_cents: i64,
}

impl AccountingDocument {
    /// Converts an invoice or credit note to its accounting form.
    pub fn of(document: &IssuedDocument) -> Self {
        let content = &document.content;
        let mut lines: Vec<AccountingDocumentLine> = Vec::with_capacity(content.lines.len() + 2);
        for category in &content.sums.categories {
            lines.extend(of_rate(document, category));
        }
        if document.rounding_cents != 0 {
            lines.push(plain("Rounding", document.rounding_cents, 0));
        }
        let email = content.buyer.email.as_deref().map(|email| email.trim().to_lowercase());
        let name = content.buyer.name.trim();
        let contact_name = match &email {
            Some(email) if name.is_empty() || name.eq_ignore_ascii_case(email) => email.clone(),
            Some(email) => format!("{name} ({email})"),
            None if name.is_empty() => UNNAMED_BUYER.to_owned(),
            None => name.to_owned(),
        };
        Self {
            kind: document.kind,
            number: document.number_text(),
            reference: document.order_number.clone(),
            issued_at: document.issued_at,
            due_at: document.due_at,
            currency: content.currency.clone(),
            contact_name: first(&one_line(&contact_name), MAX_NAME_CHARS),
            contact_email: email.filter(|email| !email.is_empty()),
            lines,
            total_cents: document.payable_cents(),
        }
    }

    /// Formats an amount as a decimal number for the provider: `12.34`.
    pub fn amount(&self, cents: i64) -> String {
        currency::plain(cents, &self.currency)
    }
}

fn first(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Replaces control characters, and the angle brackets that the provider forbids in names, with spaces.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '<' | '>') { ' ' } else { c }).collect()
}

fn plain(description: &str, net_cents: i64, rate_bps: i64) -> AccountingDocumentLine {
    let description = description.to_owned();
    AccountingDocumentLine { description, quantity: 1, unit_cents: net_cents, net_cents, tax_cents: 0, rate_bps }
}

/// Builds the lines for one tax rate, including shipping and discount; their taxes add up to the total tax at that
/// rate.
fn of_rate(document: &IssuedDocument, category: &Category) -> Vec<AccountingDocumentLine> {
    let rate_bps = category.rate_bps;
    let of_it = document.content.lines.iter().filter(|line| line.tax_rate_bps == rate_bps);
    let mut lines: Vec<AccountingDocumentLine> = of_it
        .map(|line| AccountingDocumentLine {
            description: first(&line.description, MAX_DESCRIPTION_CHARS),
            quantity: line.quantity,
            unit_cents: line.unit_price_cents,
            net_cents: line.amount_cents().unwrap_or(0),
            tax_cents: 0,
            rate_bps,
        })
        .collect();
    if category.shipping_cents != 0 {
        lines.push(plain("Shipping", category.shipping_cents, rate_bps));
    }
    if category.discount_cents != 0 {
        lines.push(plain("Discount", category.discount_cents.saturating_neg(), rate_bps));
    }
    for line in &mut lines {
        line.tax_cents = (i128::from(line.net_cents) * i128::from(rate_bps) / 10_000) as i64;
    }
    let left = category.tax_cents - lines.iter().map(|line| line.tax_cents).sum::<i64>();
    if let Some(largest) = lines.iter_mut().max_by_key(|line| line.net_cents) {
        largest.tax_cents += left;
    }
    lines
}

#[cfg(test)]
mod tests;
