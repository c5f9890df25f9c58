//! Heading, parties, totals, payments and closing text of a document.

use super::super::canvas::{Align, SheetHeading, TagRole, seller_name};
use super::super::{PdfContent, Renderer};
use super::{
    BODY, FIGURES_INSET, INK, LINE_LEADING, LayoutCursor, MUTED, RULE, SHADE, SIDE_MARGIN, SMALL, STRONG, TITLE,
};
use domain::country::country_name_in;
use domain::invoice::{DocumentKind, InvoiceStatus, IssuedDocument, Party, Payment};
use domain::notation::{amount as money, document_day as day, figure, percent};
use words::{Language, invoices};

/// Maximum width and height of the logo in points.
const LOGO_BOX: (f32, f32) = (170.0, 52.0);
/// Width of the totals, in points.
const TOTALS_WIDTH: f32 = 264.0;

/// Returns the lines of a party's name and postal address.
fn postal(language: Language, party: &Party) -> Vec<String> {
    let mut lines = vec![party.name.clone()];
    if let Some(address) = &party.address {
        lines.push(address.line1.clone());
        lines.extend(address.line2.clone());
        let region = address.region.as_deref().unwrap_or_default();
        lines.push(format!("{} {} {region}", address.postal_code, address.city));
        lines.push(country_name_in(language, &address.country).map_or_else(|| address.country.clone(), str::to_owned));
    }
    lines.retain(|line| !line.trim().is_empty());
    lines
}

impl LayoutCursor<'_, '_> {
    /// Draws the shop's logo or name, and the kind of document.
    pub(super) fn heading(&mut self, renderer: &Renderer) {
        let (top, right, accent) = (self.y, self.right(), self.canvas.accent);
        let document = self.view.document;
        let language = self.language();
        let words = match document.kind {
            DocumentKind::Invoice => invoices::invoice_heading(language),
            DocumentKind::CreditNote => invoices::credit_note_heading(language),
        };
        let number = document.number_text();
        let void = document.kind == DocumentKind::Invoice && self.view.status == InvoiceStatus::Void;
        self.canvas.part(TagRole::Title, |canvas| {
            canvas.text((right, top + 18.0), &words, TITLE, accent, Align::Right);
            canvas.text((right, top + 36.0), &number, STRONG, INK, Align::Right);
            if void {
                canvas.text((right, top + 50.0), &invoices::void_mark(language), STRONG, INK, Align::Right);
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
        let (document, language) = (self.view.document, self.language());
        let (top, third) = (self.y, self.width() / 3.0);
        let vat_id = |id: &str| invoices::vat_id(language, id);
        let tax_number = |id: &str| invoices::tax_number(language, id);
        let seller = {
            let mut lines = postal(language, &document.seller);
            lines.extend(document.seller.vat_id.as_deref().map(vat_id));
            lines.extend(document.seller.tax_number.as_deref().map(tax_number));
            lines
        };
        let buyer = {
            let buyer = &document.content.buyer;
            let mut lines = postal(language, buyer);
            lines.extend(buyer.email.clone().filter(|email| *email != buyer.name));
            lines.extend(buyer.registered_id().map(vat_id));
            lines.extend(buyer.other_id().map(tax_number));
            lines
        };
        let is_invoice = document.kind == DocumentKind::Invoice;
        let to = if is_invoice { SheetHeading::BillTo } else { SheetHeading::CreditTo };
        let ends = [
            self.column(to, &buyer, SIDE_MARGIN, top, third - 14.0),
            self.column(SheetHeading::Issuer, &seller, SIDE_MARGIN + third, top, third - 14.0),
            self.facts(SIDE_MARGIN + 2.0 * third, top),
        ];
        self.y = ends.into_iter().fold(top, f32::max) + 20.0;
    }

    /// Draws a heading with lines below it. Returns the position of the lower end.
    fn column(&mut self, heading: SheetHeading, lines: &[String], x: f32, top: f32, width: f32) -> f32 {
        let mut y = top + 8.0;
        let words = heading.text(self.language());
        self.canvas.part(TagRole::Heading(heading), |canvas| canvas.text((x, y), &words, SMALL, MUTED, Align::Left));
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
        let (PdfContent { document, preceding, .. }, language) = (*self.view, self.language());
        let mut facts = vec![(invoices::issued_on(language), day(language, document.issued_at))];
        facts.extend(document.supplied_at.map(|at| (invoices::supplied_on(language), day(language, at))));
        facts.extend(document.due_at.map(|due| (invoices::due_on(language), day(language, due))));
        facts.extend(preceding.map(|(number, _)| (invoices::credited_invoice(language), number.to_owned())));
        facts.extend(preceding.map(|(_, at)| (invoices::credited_invoice_date(language), day(language, at))));
        facts.extend(document.order_number.clone().map(|number| (invoices::order(language), number)));
        facts.push((invoices::currency(language), document.content.currency.to_uppercase()));
        let (mut y, right) = (top + 8.0, self.right());
        for (name, value) in facts {
            self.canvas.part(TagRole::Paragraph, |canvas| {
                canvas.text((x, y), &name, BODY, MUTED, Align::Left);
                canvas.text((right, y), &value, BODY, INK, Align::Right);
            });
            y += LINE_LEADING;
        }
        y - LINE_LEADING
    }

    /// Draws the totals on the right, always together on one page.
    pub(super) fn totals(&mut self) {
        let (document, language) = (self.view.document, self.language());
        let (rows, currency) = (sums_of(document), &document.content.currency);
        let total = match document.kind {
            DocumentKind::Invoice => invoices::invoice_total(language),
            DocumentKind::CreditNote => invoices::credit_note_total(language),
        };
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
                canvas.part(TagRole::Cell, |canvas| canvas.text((left, y), &total, style, INK, Align::Left));
                let value = money(language, document.payable_cents(), currency);
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
        let (y, language) = (self.y, self.language());
        let heading = SheetHeading::Payments;
        self.canvas.part(TagRole::Heading(heading), |canvas| {
            canvas.text((SIDE_MARGIN, y), &heading.text(language), STRONG, INK, Align::Left);
        });
        let open = matches!(status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
        for payment in payments {
            self.need(14.0);
            self.y += 14.0;
            let (y, right) = (self.y, self.right());
            let words = payment_words(language, payment);
            let words = self.canvas.fonts.wrapped(&words, BODY, self.width() - 190.0).into_iter().next();
            self.canvas.part(TagRole::Paragraph, |canvas| {
                canvas.text((SIDE_MARGIN, y), &day(language, payment.created_at), BODY, MUTED, Align::Left);
                if let Some(words) = words {
                    canvas.line((SIDE_MARGIN + 70.0, y), words, BODY.size, INK, Align::Left);
                }
                let amount = money(language, payment.listed().0, &payment.currency);
                canvas.text((right, y), &amount, BODY, INK, Align::Right);
            });
        }
        self.need(26.0);
        self.y += 7.0;
        let (y, right, width) = (self.y, self.right(), self.width());
        self.canvas.fill((SIDE_MARGIN, y), (width, 0.6), RULE);
        self.y += 14.0;
        let due = if open { (total - kept_cents).max(0) } else { 0 };
        let words = due_words(language, status, due);
        let (y, amount) = (self.y, money(language, due, currency));
        self.canvas.part(TagRole::Paragraph, |canvas| {
            canvas.text((SIDE_MARGIN, y), &words, STRONG, INK, Align::Left);
            canvas.text((right, y), &amount, STRONG, INK, Align::Right);
        });
        self.y += 8.0;
    }

    /// Draws the payment instructions, the reason for tax exemption, and notes.
    pub(super) fn closing(&mut self) {
        let PdfContent { document, status, preceding, voided_by, .. } = *self.view;
        let language = self.language();
        let mut words = Vec::new();
        if document.kind == DocumentKind::Invoice && status == InvoiceStatus::Void {
            words.push(match voided_by {
                Some(number) => invoices::void_by_text(language, number),
                None => invoices::void_text(language),
            });
        }
        let open = matches!(status, InvoiceStatus::Open | InvoiceStatus::PartiallyPaid);
        if document.kind == DocumentKind::Invoice && open && document.payable_cents() > 0 {
            words.push(payment_request(document));
        }
        if let Some((number, at)) = preceding {
            words.push(invoices::credit_text(language, number, &day(language, at)));
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

/// Returns the rows above the total: label and figure.
fn sums_of(document: &IssuedDocument) -> Vec<(String, String)> {
    let (sums, language) = (&document.content.sums, document.content.buyer.language);
    let in_figures = |cents: i64| figure(language, cents, &document.content.currency);
    let mut rows = vec![(invoices::subtotal(language), in_figures(sums.subtotal_cents))];
    if sums.discount_cents != 0 {
        rows.push((invoices::discount(language), in_figures(-sums.discount_cents)));
    }
    if sums.shipping_cents != 0 {
        rows.push((invoices::shipping(language), in_figures(sums.shipping_cents)));
    }
    for category in &sums.categories {
        if category.rate_bps != 0 || sums.categories.len() > 1 {
            let rate = percent(language, category.rate_bps);
            let words = invoices::tax_of_net(language, &rate, &in_figures(category.net_cents));
            rows.push((words, in_figures(category.tax_cents)));
        }
    }
    if document.rounding_cents != 0 {
        rows.push((invoices::rounding(language), in_figures(document.rounding_cents)));
    }
    rows
}

/// Describes a payment or refund, with its method and the reference that customers may see.
fn payment_words(language: Language, payment: &Payment) -> String {
    let method = invoices::payment_method(language, &payment.method, &payment.method.replace('_', " "));
    let reference = payment.shown_reference().unwrap_or_default();
    match payment.listed().1 {
        "failed" => invoices::refund_failed(language, &method, reference),
        "refunded" => invoices::payment_refunded(language, &method, reference),
        _ => invoices::payment_received(language, &method, reference),
    }
}

/// Returns the sentence that asks for payment: until when, to which account, and with which reference.
fn payment_request(document: &IssuedDocument) -> String {
    let (seller, language, number) = (&document.seller, document.content.buyer.language, document.number_text());
    let account = seller.iban.as_ref().map(|iban| {
        let (name, iban) = (seller_name(document), in_fours(iban));
        match &seller.bic {
            Some(bic) => invoices::account_with_bic(language, name, &iban, bic),
            None => invoices::account(language, name, &iban),
        }
    });
    match (document.due_at.map(|due| day(language, due)), account) {
        (Some(date), Some(account)) => invoices::pay_by_to_text(language, &date, &account, &number),
        (Some(date), None) => invoices::pay_by_text(language, &date, &number),
        (None, Some(account)) => invoices::pay_to_text(language, &account, &number),
        (None, None) => invoices::pay_text(language, &number),
    }
}

/// Returns the label for the amount due, which is in minor units.
fn due_words(language: Language, status: InvoiceStatus, due_cents: i64) -> String {
    match status {
        InvoiceStatus::Refunded => invoices::refunded(language),
        // It was paid in part, and all of that went back.
        InvoiceStatus::Void => invoices::nothing_due(language),
        _ if due_cents > 0 => invoices::amount_due(language),
        _ => invoices::paid_in_full(language),
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
    use crate::sample;
    use domain::time::Timestamp;

    /// Writes a text of a document in each language.
    fn in_each_language<T>(document: &IssuedDocument, write: impl Fn(&IssuedDocument) -> T) -> [T; 2] {
        Language::ALL.map(|language| {
            let mut document = document.clone();
            document.content.buyer.language = language;
            write(&document)
        })
    }

    #[test]
    fn a_request_for_payment_says_what_is_set() {
        let mut document = sample::document("Vase".to_owned());
        let number = document.number_text();
        assert_eq!(
            in_each_language(&document, payment_request),
            [
                format!("Please pay the amount due and quote {number} as the payment reference."),
                format!("Bitte zahlen Sie den offenen Betrag unter Angabe der Rechnungsnummer {number}.")
            ]
        );
        document.due_at = Some(Timestamp(86_400_000));
        assert_eq!(
            in_each_language(&document, payment_request),
            [
                format!("Please pay the amount due by 1970-01-02 and quote {number} as the payment reference."),
                format!(
                    "Bitte zahlen Sie den offenen Betrag bis zum 02.01.1970 unter Angabe der Rechnungsnummer {number}."
                )
            ]
        );
        document.seller.iban = Some("DE89370400440532013000".to_owned());
        document.seller.bic = Some("COBADEFFXXX".to_owned());
        let account = "Sample, IBAN DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX";
        assert_eq!(
            in_each_language(&document, payment_request),
            [
                format!("Please transfer the amount due by 1970-01-02 to {account}. Payment reference: {number}."),
                format!(
                    "Bitte überweisen Sie den offenen Betrag bis zum 02.01.1970 an {account}. Verwendungszweck: {number}."
                )
            ]
        );
    }

    #[test]
    fn sums_are_written_as_in_each_language() {
        let mut document = sample::document("Vase".to_owned());
        document.content.sums.subtotal_cents = 123_456;
        document.content.sums.shipping_cents = 990;
        let [english, german] = in_each_language(&document, sums_of)
            .map(|rows| rows.into_iter().map(|(label, figure)| format!("{label}: {figure}")).collect::<Vec<_>>());
        assert_eq!(english, ["Subtotal: 1,234.56", "Shipping: 9.90"]);
        assert_eq!(german, ["Zwischensumme: 1.234,56", "Versand: 9,90"]);
    }

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
            assert_eq!(due_words(Language::English, status, due), expected, "{status}");
        }
    }
}
