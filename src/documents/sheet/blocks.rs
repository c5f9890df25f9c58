//! Heading, parties, totals, payments and closing text of a document.

use super::super::canvas::{Align, TagRole, seller_name};
use super::super::{PdfContent, Renderer};
use super::{
    BODY, FIGURES_INSET, INK, LINE_LEADING, LayoutCursor, MUTED, RULE, SHADE, SIDE_MARGIN, SMALL, STRONG, TITLE,
    kind_words,
};
use domain::country::country_name;
use domain::currency::{figure, format_amount as money};
use domain::invoice::{DocumentKind, InvoiceStatus, Party};
use domain::tax::percent_text;
use domain::time::Timestamp;

/// Maximum width and height of the logo in points.
const LOGO_BOX: (f32, f32) = (170.0, 52.0);
/// Width of the totals, in points.
const TOTALS_WIDTH: f32 = 264.0;

/// Formats a timestamp as a date: `2026-11-22`.
pub(super) fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// Formats basis points as a percentage: `19 %`, `7.25 %`.
pub(super) fn percent(bps: i64) -> String {
    format!("{} %", percent_text(bps))
}

/// Returns the lines of a party's name and postal address.
fn postal(party: &Party) -> Vec<String> {
    let mut lines = vec![party.name.clone()];
    if let Some(address) = &party.address {
        lines.push(address.line1.clone());
        lines.extend(address.line2.clone());
        let region = address.region.as_deref().unwrap_or_default();
        lines.push(format!("{} {} {region}", address.postal_code, address.city));
        lines.push(country_name(&address.country).map_or_else(|| address.country.clone(), str::to_owned));
    }
    lines.retain(|line| !line.trim().is_empty());
    lines
}

impl LayoutCursor<'_, '_> {
    /// Draws the shop's logo or name, and the kind of document.
    pub(super) fn heading(&mut self, renderer: &Renderer) {
        let (top, right, accent) = (self.y, self.right(), self.canvas.accent);
        let document = self.view.document;
        let words = kind_words(document.kind);
        let number = document.number_text();
        let void = document.kind == DocumentKind::Invoice && self.view.status == InvoiceStatus::Void;
        self.canvas.part(TagRole::Title, |canvas| {
            canvas.text((right, top + 18.0), words, TITLE, accent, Align::Right);
            canvas.text((right, top + 36.0), &number, STRONG, INK, Align::Right);
            if void {
                canvas.text((right, top + 50.0), "Void", STRONG, INK, Align::Right);
            }
        });
        match &renderer.logo {
            Some(logo) => {
                self.canvas.logo(logo, (SIDE_MARGIN, top), LOGO_BOX);
            }
            None => {
                let name = seller_name(document).to_owned();
                let style = super::super::text::Style { size: 15.0, bold: true };
                self.canvas.part(TagRole::Paragraph, |canvas| {
                    canvas.text((SIDE_MARGIN, top + 16.0), &name, style, INK, Align::Left);
                });
            }
        }
        self.y = top + 62.0;
        self.canvas.fill((SIDE_MARGIN, self.y), (self.width(), 1.6), accent);
        self.y += 22.0;
    }

    /// Draws the seller, the buyer and the dates.
    pub(super) fn parties(&mut self) {
        let document = self.view.document;
        let (top, third) = (self.y, self.width() / 3.0);
        let seller = {
            let mut lines = postal(&document.seller);
            lines.extend(document.seller.vat_id.as_ref().map(|id| format!("VAT {id}")));
            lines.extend(document.seller.tax_number.as_ref().map(|id| format!("Tax no. {id}")));
            lines
        };
        let buyer = {
            let buyer = &document.content.buyer;
            let mut lines = postal(buyer);
            lines.extend(buyer.email.clone().filter(|email| *email != buyer.name));
            lines.extend(buyer.registered_id().map(|id| format!("VAT {id}")));
            lines.extend(buyer.other_id().map(|id| format!("Tax no. {id}")));
            lines
        };
        let to = if document.kind == DocumentKind::Invoice { "Bill to" } else { "Credit to" };
        let ends = [
            self.column(to, &buyer, SIDE_MARGIN, top, third - 14.0),
            self.column("From", &seller, SIDE_MARGIN + third, top, third - 14.0),
            self.facts(SIDE_MARGIN + 2.0 * third, top),
        ];
        self.y = ends.into_iter().fold(top, f32::max) + 20.0;
    }

    /// Draws a heading with lines below it. Returns the position of the lower end.
    fn column(&mut self, heading: &'static str, lines: &[String], x: f32, top: f32, width: f32) -> f32 {
        let mut y = top + 8.0;
        self.canvas.part(TagRole::Heading(heading), |canvas| canvas.text((x, y), heading, SMALL, MUTED, Align::Left));
        for (n, text) in lines.iter().enumerate() {
            let style = if n == 0 { STRONG } else { BODY };
            for line in self.canvas.fonts.wrapped(text, style, width) {
                y += LINE_LEADING;
                self.canvas.part(TagRole::Paragraph, |canvas| canvas.line((x, y), line, style.size, INK, Align::Left));
            }
        }
        y
    }

    /// Draws the dates and references on the right.
    fn facts(&mut self, x: f32, top: f32) -> f32 {
        let PdfContent { document, preceding, .. } = *self.view;
        let mut facts = vec![("Issued", day(document.issued_at))];
        facts.extend(document.supplied_at.map(|at| ("Supplied", day(at))));
        facts.extend(document.due_at.map(|due| ("Due", day(due))));
        facts.extend(preceding.map(|(number, _)| ("For invoice", number.to_owned())));
        facts.extend(preceding.map(|(_, at)| ("Invoice date", day(at))));
        facts.extend(document.order_number.clone().map(|number| ("Order", number)));
        facts.push(("Currency", document.content.currency.to_uppercase()));
        let (mut y, right) = (top + 8.0, self.right());
        for (name, value) in facts {
            self.canvas.part(TagRole::Paragraph, |canvas| {
                canvas.text((x, y), name, BODY, MUTED, Align::Left);
                canvas.text((right, y), &value, BODY, INK, Align::Right);
            });
            y += LINE_LEADING;
        }
        y - LINE_LEADING
    }

    /// Draws the totals on the right, always together on one page.
    pub(super) fn totals(&mut self) {
        let document = self.view.document;
        let (sums, currency) = (&document.content.sums, &document.content.currency);
        let mut rows = vec![("Subtotal".to_owned(), figure(sums.subtotal_cents, currency))];
        if sums.discount_cents != 0 {
            rows.push(("Discount".to_owned(), figure(-sums.discount_cents, currency)));
        }
        if sums.shipping_cents != 0 {
            rows.push(("Shipping".to_owned(), figure(sums.shipping_cents, currency)));
        }
        for category in &sums.categories {
            if category.rate_bps != 0 || sums.categories.len() > 1 {
                let words = format!("Tax {} on {}", percent(category.rate_bps), figure(category.net_cents, currency));
                rows.push((words, figure(category.tax_cents, currency)));
            }
        }
        if document.rounding_cents != 0 {
            rows.push(("Rounding".to_owned(), figure(document.rounding_cents, currency)));
        }
        let total = if document.kind == DocumentKind::Invoice { "Total" } else { "Total credit" };
        self.need(rows.len() as f32 * 15.0 + 60.0);
        self.y += 10.0;
        // Words and figures stand within the bar as those of the table stand within its head.
        let (edge, accent) = (self.right() - TOTALS_WIDTH, self.canvas.accent);
        let (left, right) = (edge + 10.0, self.right() - FIGURES_INSET);
        let mut y = self.y;
        self.canvas.part(TagRole::Table, |canvas| {
            for (name, value) in &rows {
                y += 15.0;
                canvas.part(TagRole::Row, |canvas| {
                    canvas.part(TagRole::Cell, |canvas| canvas.text((left, y), name, BODY, MUTED, Align::Left));
                    canvas.part(TagRole::Cell, |canvas| canvas.text((right, y), value, BODY, INK, Align::Right));
                });
            }
            y += 9.0;
            canvas.fill((edge, y), (TOTALS_WIDTH, 26.0), SHADE);
            canvas.fill((edge, y), (3.0, 26.0), accent);
            y += 17.5;
            let style = super::super::text::Style { size: 12.0, bold: true };
            canvas.part(TagRole::Row, |canvas| {
                canvas.part(TagRole::Cell, |canvas| canvas.text((left, y), total, style, INK, Align::Left));
                let value = money(document.payable_cents(), currency);
                canvas.part(TagRole::Cell, |canvas| canvas.text((right, y), &value, style, INK, Align::Right));
            });
        });
        self.y = y + 16.0;
    }

    /// Draws the payments, refunds and amount due, which appear only on invoices.
    pub(super) fn payments(&mut self) {
        let PdfContent { document, status, payments, .. } = *self.view;
        if document.kind != DocumentKind::Invoice || payments.is_empty() {
            return;
        }
        let total = document.payable_cents();
        let currency = &document.content.currency;
        let own = payments.iter().filter(|one| one.currency == *currency);
        let kept_cents = own.fold(0i64, |sum, one| sum.saturating_add(one.net_cents())).max(0);
        self.need(64.0);
        self.y += 16.0;
        let y = self.y;
        let heading = "Payments";
        self.canvas.part(TagRole::Heading(heading), |canvas| {
            canvas.text((SIDE_MARGIN, y), heading, STRONG, INK, Align::Left);
        });
        let open = matches!(status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
        for payment in payments {
            self.need(14.0);
            self.y += 14.0;
            let (y, right) = (self.y, self.right());
            let (cents, status) = payment.listed();
            let what = match status {
                "failed" => "refund failed",
                "refunded" => "refunded",
                _ => "received",
            };
            let reference = payment.shown_reference().unwrap_or_default();
            let words = format!("{what}, {} {reference}", payment.method.replace('_', " "));
            let words = self.canvas.fonts.wrapped(&words, BODY, self.width() - 190.0).into_iter().next();
            self.canvas.part(TagRole::Paragraph, |canvas| {
                canvas.text((SIDE_MARGIN, y), &day(payment.created_at), BODY, MUTED, Align::Left);
                if let Some(words) = words {
                    canvas.line((SIDE_MARGIN + 70.0, y), words, BODY.size, INK, Align::Left);
                }
                let amount = money(cents, &payment.currency);
                canvas.text((right, y), &amount, BODY, INK, Align::Right);
            });
        }
        self.need(26.0);
        self.y += 7.0;
        let (y, right, width) = (self.y, self.right(), self.width());
        self.canvas.fill((SIDE_MARGIN, y), (width, 0.6), RULE);
        self.y += 14.0;
        let due = if open { (total - kept_cents).max(0) } else { 0 };
        let words = due_words(status, due);
        let (y, amount) = (self.y, money(due, currency));
        self.canvas.part(TagRole::Paragraph, |canvas| {
            canvas.text((SIDE_MARGIN, y), words, STRONG, INK, Align::Left);
            canvas.text((right, y), &amount, STRONG, INK, Align::Right);
        });
        self.y += 8.0;
    }

    /// Draws the payment instructions, the reason for tax exemption, and notes.
    pub(super) fn closing(&mut self) {
        let PdfContent { document, status, preceding, voided_by, .. } = *self.view;
        let mut words = Vec::new();
        if document.kind == DocumentKind::Invoice && status == InvoiceStatus::Void {
            let by = voided_by.map(|number| format!(" and credited by credit note {number}")).unwrap_or_default();
            words.push(format!("This invoice is void{by}. No payment is due."));
        }
        let open = matches!(status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
        if document.kind == DocumentKind::Invoice && open && document.payable_cents() > 0 {
            let by = document.due_at.map(|due| format!(" by {}", day(due))).unwrap_or_default();
            let seller = &document.seller;
            let to = seller.iban.as_ref().map(|iban| {
                let bic = seller.bic.as_ref().map(|bic| format!(", BIC {bic}")).unwrap_or_default();
                format!(" to {}, IBAN {}{bic}", seller_name(document), in_fours(iban))
            });
            let to = to.unwrap_or_default();
            words.push(format!("Please pay{by}{to}, quoting {}.", document.number_text()));
        }
        if let Some((number, at)) = preceding {
            words.push(format!("This credit note credits the amount above to invoice {number} of {}.", day(at)));
        }
        if document.content.sums.categories.iter().any(|one| one.rate_bps == 0) {
            words.extend(document.zero_rate_reason.clone());
        }
        words.extend(document.content.notes.clone());
        if !words.is_empty() {
            self.need(40.0);
            self.y += 18.0;
        }
        for text in words {
            self.paragraph(&text, BODY, INK);
            self.y += 5.0;
        }
    }
}

/// Returns the label for the amount due, which is in minor units.
fn due_words(status: InvoiceStatus, due_cents: i64) -> &'static str {
    match status {
        InvoiceStatus::Refunded => "Refunded",
        // It was paid in part, and all of that went back.
        InvoiceStatus::Void => "No payment due",
        _ if due_cents > 0 => "Amount due",
        _ => "Paid in full",
    }
}

/// Formats a bank account number in groups of four characters.
fn in_fours(iban: &str) -> String {
    let letters: Vec<char> = iban.chars().collect();
    letters.chunks(4).map(|four| four.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_paid_is_called_so() {
        let words = [
            (InvoiceStatus::Open, 500, "Amount due"),
            (InvoiceStatus::PartiallyPaid, 1, "Amount due"),
            (InvoiceStatus::Paid, 0, "Paid in full"),
            (InvoiceStatus::Refunded, 0, "Refunded"),
            (InvoiceStatus::Void, 0, "No payment due"),
        ];
        for (status, due, expected) in words {
            assert_eq!(due_words(status, due), expected, "{status}");
        }
    }
}
