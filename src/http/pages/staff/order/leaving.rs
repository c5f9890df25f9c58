//! Shipments of an order: those that have left, and the forms for shipping all good parts or a partial shipment.

use maud::{Markup, html};

use super::order_path;
use crate::frame::time;
use crate::staff::ORDERS_PATH;
use crate::staff::acts::{PART_PREFIX, SOME_PARTS_FIELD, TICKED_WORD};
use crate::staff::shell::hidden;
use domain::order::{Order, OrderLine, OrderStatus, SentShipment};

/// Renders a shipment that has left.
pub(super) fn parcel(order: &Order, sent: &SentShipment) -> Markup {
    let inside = sent.lines.iter().filter_map(|one| Some((one.quantity, order.lines.get(one.line as usize)?)));
    let title = format!("parcel-{}", sent.number);
    html! {
        section class="card" aria-labelledby=(title) {
            h2 id=(title) { "Shipment " (sent.number) }
            ul class="rows" { @for (quantity, line) in inside { li { (quantity) " × " (line.description) } } }
            p class="soft" {
                (sent.shipment.carrier) " " (sent.shipment.tracking_number) ", " (time(sent.shipped_at))
                @if !sent.shipment.estimated_delivery.is_empty() { ", expected there on " (sent.shipment.estimated_delivery) }
            }
            p { a href={ (ORDERS_PATH) "/" (order.id) "/shipments/" (sent.number) } { "Packing list" } }
        }
    }
}

/// Renders the fields for carrier and tracking. `of` makes their HTML ids unique, because the page has two such forms.
fn way(of: &str) -> Markup {
    html! {
        div class="field" {
            label for={ "f-carrier-" (of) } { "Carrier, or pickup" }
            input id={ "f-carrier-" (of) } name="carrier" maxlength="100" required;
        }
        div class="field" {
            label for={ "f-tracking-" (of) } { "Tracking number" }
            input id={ "f-tracking-" (of) } name="trackingNumber" maxlength="100";
        }
        div class="field" {
            label for={ "f-delivery-" (of) } { "Expected delivery" }
            input id={ "f-delivery-" (of) } name="estimatedDelivery" type="date";
        }
    }
}

/// Renders the shipping forms: for all good parts once the order is ready, or for some parts while others are still in
/// production.
pub(super) fn ship(order: &Order) -> Markup {
    let there = order.parts_there();
    // A kit leaves by its sets.
    let lines: Vec<(usize, &OrderLine, u64)> = order
        .lines
        .iter()
        .zip(there)
        .enumerate()
        .map(|(n, (line, there))| (n, line, there))
        .filter(|(_, line, there)| line.kit_line.is_none() && !line.is_service() && *there > 0)
        .collect();
    html! {
        @if order.status == OrderStatus::Ready {
            details {
                summary { "Ship what is good and has not left" }
                form class="tools" method="post" action=(order_path(order.id, "ship")) data-quiet="" {
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
