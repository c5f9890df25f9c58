//! Table of lines over as many pages as needed, with the table header on each page.

use super::super::canvas::{Align, TagRole};
use super::super::text::{Style, TextLine};
use super::{BODY, FIGURES_INSET, INK, LINE_LEADING, LayoutCursor, RULE, SIDE_MARGIN};
use domain::invoice::InvoiceLine;
use domain::notation::{figure, percent};
use words::{Language, invoices};

const HEAD: Style = Style { size: 8.5, bold: true };
/// Vertical padding of a row in points.
const ROW_PADDING: f32 = 5.0;
/// Height of the table header in points.
const HEAD_HEIGHT: f32 = 20.0;
/// Maximum number of text lines of a description per page; a longer description continues in the next row.
const MAX_TOGETHER: usize = 30;

/// Positions, in points from the left margin, at which the columns of figures end and the description starts.
struct Columns {
    description: f32,
    description_width: f32,
    quantity: f32,
    price: f32,
    tax: f32,
    amount: f32,
}

impl LayoutCursor<'_, '_> {
    fn columns(&self) -> Columns {
        let right = self.right() - FIGURES_INSET;
        let (amount, tax, price, quantity) = (right, right - 92.0, right - 142.0, right - 222.0);
        let description = SIDE_MARGIN + 30.0;
        Columns { description, description_width: quantity - 48.0 - description, quantity, price, tax, amount }
    }

    /// Draws the table of lines.
    pub(super) fn lines(&mut self) {
        let content = &self.view.document.content;
        let (columns, language, currency) = (self.columns(), self.language(), content.currency.clone());
        self.need(HEAD_HEIGHT + 40.0);
        // The table is one part of the document, also where it goes over several pages.
        let (lines, mut y) = (&content.lines, self.y);
        let (bottom, page_top) = (self.canvas.height - super::PAGE_BOTTOM, super::PAGE_TOP);
        let right = self.right();
        self.canvas.part(TagRole::Table, |canvas| {
            let head = |canvas: &mut super::Canvas<'_>, y: f32| {
                canvas.fill((SIDE_MARGIN, y), (right - SIDE_MARGIN, HEAD_HEIGHT), canvas.accent);
                let base = y + 13.5;
                let white = (0xff, 0xff, 0xff);
                canvas.part(TagRole::HeadRow, |canvas| {
                    let mut cell = |x: f32, words: &str, align: Align| {
                        canvas.part(TagRole::HeadCell, |canvas| canvas.text((x, base), words, HEAD, white, align));
                    };
                    cell(SIDE_MARGIN + 8.0, &invoices::line_number(language), Align::Left);
                    cell(columns.description, &invoices::description(language), Align::Left);
                    cell(columns.quantity, &invoices::quantity(language), Align::Right);
                    cell(columns.price, &invoices::unit_price(language), Align::Right);
                    cell(columns.tax, &invoices::tax(language), Align::Right);
                    cell(columns.amount, &invoices::amount(language), Align::Right);
                });
            };
            head(canvas, y);
            y += HEAD_HEIGHT;
            for (n, line) in lines.iter().enumerate() {
                let mut words = canvas.fonts.wrapped(&line.description, BODY, columns.description_width);
                let mut first = true;
                while first || !words.is_empty() {
                    let rest = words.split_off(words.len().min(MAX_TOGETHER));
                    let height = words.len().max(1) as f32 * LINE_LEADING + 2.0 * ROW_PADDING;
                    if y + height > bottom {
                        canvas.next_page();
                        y = page_top;
                        let before = std::mem::replace(&mut canvas.decoration, true);
                        head(canvas, y);
                        canvas.decoration = before;
                        y += HEAD_HEIGHT;
                    }
                    let figures = first.then_some((n, line));
                    row(canvas, &columns, y, words, figures, (language, &currency));
                    y += height;
                    canvas.fill((SIDE_MARGIN, y), (right - SIDE_MARGIN, 0.5), RULE);
                    words = rest;
                    first = false;
                }
            }
        });
        self.y = y;
    }
}

/// Draws one row of the table: lines of a description and, with the first line, the row's figures.
fn row(
    canvas: &mut super::Canvas<'_>,
    columns: &Columns,
    top: f32,
    words: Vec<TextLine>,
    figures: Option<(usize, &InvoiceLine)>,
    (language, currency): (Language, &str),
) {
    let base = top + ROW_PADDING + LINE_LEADING - 3.5;
    canvas.part(TagRole::Row, |canvas| {
        let mut cell = |x: f32, words: &str, align: Align| {
            canvas.part(TagRole::Cell, |canvas| canvas.text((x, base), words, BODY, INK, align));
        };
        if let Some((n, _)) = figures {
            cell(SIDE_MARGIN + 8.0, &(n + 1).to_string(), Align::Left);
        } else {
            cell(SIDE_MARGIN + 8.0, "", Align::Left);
        }
        canvas.part(TagRole::Cell, |canvas| {
            for (n, line) in words.into_iter().enumerate() {
                let at = (columns.description, base + n as f32 * LINE_LEADING);
                canvas.line(at, line, BODY.size, INK, Align::Left);
            }
        });
        let mut cell = |x: f32, words: &str| {
            canvas.part(TagRole::Cell, |canvas| canvas.text((x, base), words, BODY, INK, Align::Right));
        };
        if let Some((_, line)) = figures {
            cell(columns.quantity, &line.quantity.to_string());
            cell(columns.price, &figure(language, line.unit_price_cents, currency));
            cell(columns.tax, &percent(language, line.tax_rate_bps));
            cell(columns.amount, &figure(language, line.amount_cents().unwrap_or(i64::MAX), currency));
        }
    });
}
