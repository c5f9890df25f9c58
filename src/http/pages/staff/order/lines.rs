//! Order lines, with their pictures and the progress of their parts.

use maud::{Markup, html};

use crate::staff::job::file_picture;
use crate::staff::sheet::number_class;
use crate::staff::shell::Tone;
use domain::id::Id;
use domain::notation;
use domain::order::{LineParts, Order, OrderLine};
use words::Language;
use words::staff::orders as texts;

/// Function that returns the heading of a column in a language.
type ColumnHeading = fn(Language) -> String;

/// Headings of the columns with numbers.
const NUMBER_COLUMNS: [ColumnHeading; 6] = [
    texts::ordered_column,
    texts::good_column,
    texts::running_column,
    texts::missing_column,
    texts::shipped_column,
    texts::amount_column,
];

/// Renders the lines of an order.
pub(super) fn lines(language: Language, order: &Order) -> Markup {
    html! {
        section class="panel" aria-labelledby="lines" {
            h2 id="lines" class="pad" { (texts::lines(language)) }
            div class="table list" tabindex="0" role="region" aria-label=(texts::order_lines(language)) {
                table {
                    thead {
                        tr {
                            th scope="col" { (texts::item_column(language)) }
                            @for column in NUMBER_COLUMNS { th scope="col" class="number" { (column(language)) } }
                        }
                    }
                    tbody { (rows(language, order)) }
                }
            }
        }
    }
}

fn rows(language: Language, order: &Order) -> Markup {
    let (parts, shipped) = (order.parts(), order.shipped_parts());
    let [ordered, good, running, missing_label, shipped_label, amount] =
        NUMBER_COLUMNS.map(|heading| heading(language));
    html! {
        @for (n, ((line, parts), shipped)) in order.lines.iter().zip(&parts).zip(&shipped).enumerate() {
            @let missing = if order.jobs.is_empty() { 0 } else { parts.missing(line.quantity) };
            tr {
                th scope="row" class="wide" {
                    div class="line-part" {
                        (file_picture(line_file(order, n, line)))
                        div { (item(language, order, line, parts)) }
                    }
                }
                td class="number start" data-label=(ordered) { (line.quantity) }
                td class="number start" data-label=(good) { (parts.good) }
                td class="number start" data-label=(running) { (parts.running) }
                td class=(number_class(missing == 0)) data-label=(missing_label) {
                    @if missing > 0 { span class=(Tone::Attention.class()) { (missing) } } @else { "0" }
                }
                td class=(number_class(*shipped == 0)) data-label=(shipped_label) {
                    (shipped)
                    @if parts.rejected_after_shipping > 0 {
                        " " span class=(Tone::Attention.class()) {
                            (texts::rejected(language, parts.rejected_after_shipping))
                        }
                    }
                }
                td class="number start" data-label=(amount) {
                    @let cents = line.unit_price_cents.saturating_mul(line.quantity.into());
                    (notation::amount(language, cents, &order.currency))
                }
            }
        }
    }
}

/// Renders the name of a line and the progress of its parts.
fn item(language: Language, order: &Order, line: &OrderLine, parts: &LineParts) -> Markup {
    let quantity = u64::from(line.quantity);
    html! {
        span class="ellipsis" title=(line.description) { (line.description) }
        @if line.is_kit() { " " (texts::sets_of_kit(language, parts.good, line.quantity)) }
        @if line.kit_line.is_some() { " " (texts::in_kit(language)) }
        @if !line.is_service() && !order.jobs.is_empty() {
            progress value=(parts.good.min(quantity)) max=(quantity)
                aria-label=(texts::parts_good(language, parts.good, quantity)) {}
        }
    }
}

/// Returns the file whose picture is shown for a line: the file of its SKU at the time of the order or, failing that,
/// the file of one of its jobs.
fn line_file(order: &Order, n: usize, line: &OrderLine) -> Option<Id> {
    let of_jobs = || order.jobs.values().find(|job| job.line as usize == n && job.file_id.is_some());
    line.make.as_ref().and_then(|make| make.file_id).or_else(|| of_jobs()?.file_id)
}

/// Returns the file whose picture represents an order: the file of the first line with one.
pub(in crate::staff) fn order_file(order: &Order) -> Option<Id> {
    order.lines.iter().enumerate().find_map(|(n, line)| line_file(order, n, line))
}
