//! Order lines, with their pictures and the progress of their parts.

use maud::{Markup, html};

use crate::frame::money;
use crate::staff::job::file_picture;
use crate::staff::shell::Tone;
use domain::id::Id;
use domain::order::{Order, OrderLine};

/// Renders the lines of an order.
pub(super) fn lines(order: &Order) -> Markup {
    html! {
        section class="panel order-lines" aria-labelledby="lines" {
            h2 id="lines" class="pad" { "Lines" }
            div class="table list" tabindex="0" role="region" aria-label="Order lines" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Item" } th scope="col" class="number" { "Ordered" }
                            th scope="col" class="number" { "Good" } th scope="col" class="number" { "In progress" }
                            th scope="col" class="number" { "Missing" } th scope="col" class="number" { "Shipped" }
                            th scope="col" class="number" { "Amount" }
                        }
                    }
                    tbody { (rows(order)) }
                }
            }
        }
    }
}

fn rows(order: &Order) -> Markup {
    let (parts, shipped) = (order.parts(), order.shipped_parts());
    html! {
        @for (n, ((line, parts), shipped)) in order.lines.iter().zip(&parts).zip(&shipped).enumerate() {
            @let missing = if order.jobs.is_empty() { 0 } else { parts.missing(line.quantity) };
            tr {
                th scope="row" {
                    div class="line-part" {
                        (file_picture(line_file(order, n, line)))
                        div {
                            span class="ellipsis" title=(line.description) { (line.description) }
                            @if line.is_kit() { " (kit: " (parts.good) " of " (line.quantity) " sets complete)" }
                            @if line.kit_line.is_some() { " (in a kit)" }
                            @if !line.is_service() && !order.jobs.is_empty() {
                                progress value=(parts.good.min(line.quantity.into())) max=(line.quantity)
                                    aria-label={ (parts.good) " of " (line.quantity) " good" } {}
                            }
                        }
                    }
                }
                td class="number" data-label="Ordered" { (line.quantity) }
                td class="number" data-label="Good" { (parts.good) }
                td class="number" data-label="In progress" { (parts.running) }
                td class=(number_class(missing == 0)) data-label="Missing" {
                    @if missing > 0 { span class=(Tone::Attention.class()) { (missing) } } @else { "0" }
                }
                td class=(number_class(*shipped == 0)) data-label="Shipped" {
                    (shipped)
                    @if parts.rejected_after_shipping > 0 {
                        " " span class=(Tone::Attention.class()) { (parts.rejected_after_shipping) " rejected" }
                    }
                }
                td class="number" data-label="Amount" {
                    (money(line.unit_price_cents.saturating_mul(line.quantity.into()), &order.currency))
                }
            }
        }
    }
}

/// Returns the CSS class for a number; phones do not show numbers that are zero.
fn number_class(is_zero: bool) -> &'static str {
    if is_zero { "number spare" } else { "number" }
}

/// Returns the file whose picture is shown for a line: that of its SKU at the time of the order or, failing that, that
/// of one of its jobs.
fn line_file(order: &Order, n: usize, line: &OrderLine) -> Option<Id> {
    let of_jobs = || order.jobs.values().find(|job| job.line as usize == n && job.file_id.is_some());
    line.make.as_ref().and_then(|make| make.file_id).or_else(|| of_jobs()?.file_id)
}
