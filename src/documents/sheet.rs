//! Layout of an invoice or credit note: heading, parties, the table of lines over as many pages as needed, totals,
//! payments, and closing text.

mod blocks;
mod lines;

use super::canvas::{Align, Canvas, Rgb, TagRole, seller_name};
use super::text::Style;
use super::{PdfContent, Renderer};
use domain::invoice::{IssuedDocument, Party};
use words::{Language, invoices};

pub(super) const BODY: Style = Style { size: 9.5, bold: false };
pub(super) const STRONG: Style = Style { size: 9.5, bold: true };
pub(super) const SMALL: Style = Style { size: 7.5, bold: false };
pub(super) const TITLE: Style = Style { size: 22.0, bold: true };

pub(super) const INK: Rgb = (0x1c, 0x1f, 0x24);
pub(super) const MUTED: Rgb = (0x5c, 0x63, 0x6e);
pub(super) const RULE: Rgb = (0xd5, 0xd9, 0xdf);
pub(super) const SHADE: Rgb = (0xf3, 0xf5, 0xf8);

/// Distance between lines of text in points.
pub(super) const LINE_LEADING: f32 = 13.5;
/// Left and right page margin in points.
pub(super) const SIDE_MARGIN: f32 = 56.0;
/// Distance between the figures and the right edge of the table and the totals, in points.
pub(super) const FIGURES_INSET: f32 = 6.0;
const PAGE_TOP: f32 = 52.0;
/// Height of the page footer in points.
const PAGE_BOTTOM: f32 = 84.0;

/// Countries that use Letter paper; all others use A4.
const LETTER_COUNTRIES: [&str; 6] = ["US", "CA", "MX", "PH", "CL", "CO"];

/// Returns the width and height, in points, of the paper used in the seller's country.
pub fn page_size(document: &IssuedDocument) -> (f32, f32) {
    let country = document.seller.address.as_ref().map_or("", |address| address.country.as_str());
    if LETTER_COUNTRIES.contains(&country) { (612.0, 792.0) } else { (595.28, 841.89) }
}

/// Layout position while a document is drawn from top to bottom.
pub(super) struct LayoutCursor<'c, 'f> {
    pub(super) canvas: &'c mut Canvas<'f>,
    pub(super) view: &'c PdfContent<'c>,
    /// Distance of the next element from the upper edge of the page.
    pub(super) y: f32,
}

impl LayoutCursor<'_, '_> {
    /// Returns the language of the document.
    pub(super) fn language(&self) -> Language {
        self.view.document.content.buyer.language
    }

    pub(super) fn right(&self) -> f32 {
        self.canvas.width - SIDE_MARGIN
    }

    pub(super) fn width(&self) -> f32 {
        self.canvas.width - 2.0 * SIDE_MARGIN
    }

    /// Returns whether an element of the given height fits on the current page.
    pub(super) fn fits(&self, height: f32) -> bool {
        self.y + height <= self.canvas.height - PAGE_BOTTOM
    }

    /// Starts a new page if less space than the given height is left on the current page.
    pub(super) fn need(&mut self, height: f32) {
        if !self.fits(height) {
            self.next_page();
        }
    }

    pub(super) fn next_page(&mut self) {
        self.canvas.next_page();
        self.y = PAGE_TOP;
    }

    /// Draws a paragraph of wrapped text, starting at the left margin.
    pub(super) fn paragraph(&mut self, text: &str, style: Style, color: Rgb) {
        let (width, leading) = (self.width(), style.size * 1.45);
        let lines = self.canvas.fonts.wrapped(text, style, width);
        for line in lines {
            self.need(leading);
            self.y += leading;
            let at = (SIDE_MARGIN, self.y - leading * 0.28);
            self.canvas.part(TagRole::Paragraph, |canvas| canvas.line(at, line, style.size, color, Align::Left));
        }
    }
}

/// Draws the whole document.
pub fn draw(canvas: &mut Canvas<'_>, renderer: &Renderer, view: &PdfContent<'_>) {
    let mut sheet = LayoutCursor { canvas, view, y: PAGE_TOP };
    sheet.heading(renderer);
    sheet.parties();
    sheet.lines();
    sheet.totals();
    sheet.payments();
    sheet.closing();
    footers(sheet.canvas, renderer, view.document);
}

fn footers(canvas: &mut Canvas<'_>, renderer: &Renderer, document: &IssuedDocument) {
    let own: Vec<String> =
        if renderer.footer.is_empty() { vec![imprint(&document.seller, document)] } else { renderer.footer.clone() };
    let (title, language) = (super::canvas::title(document), document.content.buyer.language);
    canvas.on_each_page(|canvas, page, of| {
        let (width, bottom) = (canvas.width, canvas.height);
        canvas.fill((SIDE_MARGIN, bottom - 66.0), (width - 2.0 * SIDE_MARGIN, 0.6), RULE);
        for (n, line) in own.iter().enumerate() {
            let lines = canvas.fonts.wrapped(line, SMALL, width - 2.0 * SIDE_MARGIN - 110.0);
            if let Some(line) = lines.into_iter().next() {
                let at = (SIDE_MARGIN, bottom - 52.0 + n as f32 * 10.5);
                canvas.line(at, line, SMALL.size, MUTED, Align::Left);
            }
        }
        let words = invoices::page_number(language, page, of);
        canvas.text((width - SIDE_MARGIN, bottom - 52.0), &words, SMALL, MUTED, Align::Right);
        if page > 1 {
            canvas.text((width - SIDE_MARGIN, 34.0), &title, SMALL, MUTED, Align::Right);
        }
    });
}

/// Returns the default footer text, which is used if the settings contain no footer.
fn imprint(seller: &Party, document: &IssuedDocument) -> String {
    let name = Some(seller_name(document).to_owned());
    let parts = [name, seller.email.clone(), seller.phone.clone(), seller.vat_id.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ·  ")
}
