//! Table of lines over as many pages as needed, with the table header on each page.

use super::super::canvas::{Align, TagRole};
use super::super::text::{Style, TextLine};
use super::blocks::percent;
use super::{BODY, FIGURES_INSET, INK, LINE_LEADING, LayoutCursor, RULE, SIDE_MARGIN};
use domain::currency::figure;
use domain::invoice::InvoiceLine;

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
        let (columns, currency) = (self.columns(), content.currency.clone());
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
                    cell(SIDE_MARGIN + 8.0, "No.", Align::Left);
                    cell(columns.description, "Description", Align::Left);
                    cell(columns.quantity, "Quantity", Align::Right);
                    cell(columns.price, "Unit price", Align::Right);
                    cell(columns.tax, "Tax", Align::Right);
                    cell(columns.amount, "Amount", Align::Right);
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
                    row(canvas, &columns, y, words, figures, &currency);
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
    currency: &str,
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
            cell(columns.price, &figure(line.unit_price_cents, currency));
            cell(columns.tax, &percent(line.tax_rate_bps));
            cell(columns.amount, &figure(line.amount_cents().unwrap_or(i64::MAX), currency));
        }
    });
}
