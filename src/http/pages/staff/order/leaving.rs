//! Shipments of an order: those already made, and the forms for shipping all or some of the good parts.

use maud::{Markup, html};

use super::order_path;
use crate::design::{Icon, icon};
use crate::frame::time;
use crate::staff::ORDERS_PATH;
use crate::staff::acts::{CARRIER_LABEL, DELIVERY_LABEL, PART_PREFIX, SOME_PARTS_FIELD, TICKED_WORD};
use crate::staff::shell::hidden;
use domain::order::{Order, OrderLine, SentShipment};

/// Renders a shipment that has been made.
pub(super) fn parcel(order: &Order, sent: &SentShipment) -> Markup {
    let inside = sent.lines.iter().filter_map(|one| Some((one.quantity, order.lines.get(one.line as usize)?)));
    let title = format!("parcel-{}", sent.number);
    html! {
        section class="panel pad" aria-labelledby=(title) {
            h2 id=(title) { "Shipment " (sent.number) }
            ul class="rows" { @for (quantity, line) in inside { li { (quantity) " × " (line.description) } } }
            p class="soft" {
                (sent.shipment.carrier) " " (sent.shipment.tracking_number) ", " (time(sent.shipped_at))
                @if !sent.shipment.estimated_delivery.is_empty() { ", expected there on " (sent.shipment.estimated_delivery) }
            }
            a class="btn" href={ (ORDERS_PATH) "/" (order.id) "/shipments/" (sent.number) } { (icon(Icon::Printer)) "Packing list" }
        }
    }
}

/// Renders the fields for carrier and tracking. `of` makes their HTML IDs unique, because the page contains two such
/// forms.
fn way(of: &str) -> Markup {
    html! {
        div class="field" {
            label for={ "f-carrier-" (of) } { (CARRIER_LABEL) }
            input id={ "f-carrier-" (of) } name="carrier" maxlength="100" required;
        }
        div class="field" {
            label for={ "f-tracking-" (of) } { "Tracking number" }
            input id={ "f-tracking-" (of) } name="trackingNumber" maxlength="100";
        }
        div class="field" {
            label for={ "f-delivery-" (of) } { (DELIVERY_LABEL) }
            input id={ "f-delivery-" (of) } name="estimatedDelivery" type="date";
        }
    }
}

/// Returns the lines with parts that can be shipped, with their indices and the number of parts. For a kit, complete
/// sets are counted.
fn leaving_lines(order: &Order) -> Vec<(usize, &OrderLine, u64)> {
    let lines = order.lines.iter().zip(order.parts_there()).enumerate();
    lines
        .map(|(n, (line, there))| (n, line, there))
        .filter(|(_, line, there)| line.kit_line.is_none() && !line.is_service() && *there > 0)
        .collect()
}

/// Renders the form for shipping all good parts of an order that is ready, as the order's primary action.
pub(super) fn ship_all(order: &Order) -> Markup {
    let parts: u64 = leaving_lines(order).iter().map(|(_, _, there)| there).sum();
    html! {
        details {
            summary class="btn primary" {
                (icon(Icon::Truck))
                " Ship " @if parts > 0 { (parts) @if parts == 1 { " part…" } @else { " parts…" } } @else { "…" }
            }
            form class="panel pad tools" method="post" action=(order_path(order.id, "ship")) data-quiet="" {
                (hidden())
                (way("all"))
                div class="field" {
                    label for="f-short" { "The customer takes fewer parts" }
                    input id="f-short" name="acceptShort" type="checkbox" value=(TICKED_WORD);
                }
                button type="submit" { "Ship all of it" }
            }
        }
    }
}

/// Renders the form for a partial shipment while the remaining parts are still in production.
pub(super) fn ship_some(order: &Order) -> Markup {
    let lines = leaving_lines(order);
    html! {
        @if !lines.is_empty() {
            details {
                summary { "Ship some parts" }
                p { "They leave in a shipment of their own. The order is shipped with the shipment by which its last part leaves." }
                form class="tools" method="post" action=(order_path(order.id, "ship")) data-quiet="" {
                    (hidden())
                    input type="hidden" name=(SOME_PARTS_FIELD) value=(TICKED_WORD);
                    @for (n, line, there) in &lines {
                        div class="field" {
                            label for={ "f-part-" (n) } { (line.description) ", of " (there) @if line.is_kit() { " complete sets" } }
                            input id={ "f-part-" (n) } name={ (PART_PREFIX) (n) } type="number" inputmode="numeric" min="0" max=(there) value="0";
                        }
                    }
                    (way("some"))
                    button class="second" type="submit" { "Ship these parts" }
                }
            }
        }
    }
}
