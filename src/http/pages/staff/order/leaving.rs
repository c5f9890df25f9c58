//! Shipments of an order: those already made, and the form for shipping all or some of the good parts.

use maud::{Markup, html};

use super::order_path;
use crate::design::{Icon, icon};
use crate::frame::time;
use crate::staff::ORDERS_PATH;
use crate::staff::acts::{DELIVERY_LABEL, PART_PREFIX, PICKED_UP_FIELD, SOME_PARTS_FIELD, WHOLE_FIELD};
use crate::staff::orders::{StaffOrderHandles, carrier_name};
use crate::staff::shell::hidden_once;
use domain::notation;
use domain::order::{Order, OrderLine, OrderStatus, SentShipment, ShipmentSuggestion};
use http::wire::TICKED_WORD;
use store::queries::OrderFilter;
use words::Language;
use words::staff::orders as texts;

/// Maximum number of shipped orders read to suggest how the next one is shipped.
const MAX_SHIPPED_READ: u64 = 5;

/// ID of the field for the tracking number. A parcel with only some of the parts is followed by another, which by
/// default takes the rest, so that only its tracking number remains to be entered.
const TRACKING_ID: &str = "f-tracking";

/// Renders a shipment that has been made.
pub(super) fn parcel(language: Language, order: &Order, sent: &SentShipment) -> Markup {
    let inside = sent.lines.iter().filter_map(|one| Some((one.quantity, order.lines.get(one.line as usize)?)));
    let title = format!("parcel-{}", sent.number);
    html! {
        section class="panel pad" aria-labelledby=(title) {
            h2 id=(title) { (texts::shipment(language, sent.number)) }
            ul class="rows" { @for (quantity, line) in inside { li { (quantity) " × " (line.description) } } }
            p class="soft" {
                (carrier_name(language, sent)) " " (sent.shipment.tracking_number) ", " (time(language, sent.shipped_at))
                @if !sent.shipment.estimated_delivery.is_empty() { ", " (delivery(language, sent)) }
            }
            a class="btn" href={ (ORDERS_PATH) "/" (order.id) "/shipments/" (sent.number) } {
                (icon(Icon::Printer)) (texts::packing_list(language))
            }
        }
    }
}

/// Returns when a shipment is expected to arrive. English pages show the date as it was typed.
fn delivery(language: Language, sent: &SentShipment) -> String {
    let typed = &sent.shipment.estimated_delivery;
    match language {
        Language::English => texts::expected_delivery_on(language, typed),
        Language::German => texts::expected_delivery_on(language, &notation::typed_date(language, typed)),
    }
}

/// Suggests carrier and delivery date of the next shipment, by the last one of the order or, before its first, by the
/// last one of the order placed last among those that are shipped. Pickups do not count.
pub(super) async fn suggest_shipment(app: &StaffOrderHandles, order: &Order) -> ShipmentSuggestion {
    if !matches!(order.status, OrderStatus::Printing | OrderStatus::Ready) {
        return ShipmentSuggestion::default();
    }
    let (now, clock) = (app.orders.environment.now(), &app.config.shop.time_zone);
    let suggest = |order: &Order| order.shipments.iter().rev().find_map(|sent| sent.suggest_next(now, clock));
    if let Some(suggestion) = suggest(order) {
        return suggestion;
    }
    let filter = OrderFilter { status: Some(OrderStatus::Shipped), ..OrderFilter::default() };
    // A page is not worth failing for a suggestion.
    let orders = app.orders.queries.newest_orders(&filter, MAX_SHIPPED_READ).await.unwrap_or_default();
    orders.iter().filter_map(|versioned| versioned.state.as_ref()).find_map(suggest).unwrap_or_default()
}

/// Renders the fields for carrier and tracking.
fn way(language: Language, suggestion: &ShipmentSuggestion) -> Markup {
    html! {
        div class="field" {
            label for="f-carrier" { (texts::carrier_field(language)) }
            input id="f-carrier" name="carrier" maxlength="100" required value=(suggestion.carrier);
        }
        div class="field" {
            label for=(TRACKING_ID) { (texts::tracking_field(language)) }
            input id=(TRACKING_ID) name="trackingNumber" maxlength="100" autocomplete="off" required;
        }
        div class="field" {
            label for="f-delivery" { (DELIVERY_LABEL(language)) }
            input id="f-delivery" name="estimatedDelivery" type="date" required value=(suggestion.estimated_delivery);
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

/// Returns the fields of the form with the values at which everything leaves a short order that its customer accepts.
fn whole_order(lines: &[(usize, &OrderLine, u64)]) -> String {
    let parts = lines.iter().map(|(n, _, there)| format!("{PART_PREFIX}{n}={there}"));
    parts.chain([format!("acceptShort={TICKED_WORD}")]).collect::<Vec<_>>().join(" ")
}

/// Renders the form for a shipment, with all parts that can be shipped. A pickup needs neither carrier nor date.
fn ship_form(language: Language, order: &Order, class: &str, suggestion: &ShipmentSuggestion) -> Markup {
    let lines = leaving_lines(order);
    let is_short = order.status == OrderStatus::Ready && order.lacks_parts();
    let next = (order.status == OrderStatus::Ready).then_some(TRACKING_ID);
    html! {
        form class="tools" method="post" action=(order_path(order.id, "ship")) data-quiet="" data-next=[next] {
            (hidden_once())
            @if !lines.is_empty() { input type="hidden" name=(SOME_PARTS_FIELD) value=(TICKED_WORD); }
            @if is_short { input type="hidden" name=(WHOLE_FIELD) value=(whole_order(&lines)); }
            @for (n, line, there) in &lines {
                div class="field" {
                    label for={ "f-part-" (n) } {
                        @if line.is_kit() { (texts::sets_field(language, &line.description, *there)) }
                        @else { (texts::parts_field(language, &line.description, *there)) }
                    }
                    input id={ "f-part-" (n) } name={ (PART_PREFIX) (n) } type="number" inputmode="numeric" min="0" max=(there) value=(there);
                }
            }
            (way(language, suggestion))
            @if is_short {
                div class="field" {
                    label for="f-short" { (texts::accept_short_field(language)) }
                    input id="f-short" name="acceptShort" type="checkbox" value=(TICKED_WORD);
                }
            }
            button type="submit" class=(class) { (icon(Icon::Truck)) " " (texts::ship(language)) }
            button type="submit" class="btn" name=(PICKED_UP_FIELD) value=(TICKED_WORD) formnovalidate {
                (texts::mark_picked_up(language))
            }
        }
    }
}

/// Renders the form for shipping the good parts of an order that is ready, as the order's primary action; nothing for
/// any other order.
pub(super) fn ship_ready(language: Language, order: &Order, suggestion: &ShipmentSuggestion) -> Markup {
    html! {
        @if order.status == OrderStatus::Ready {
            section class="card" aria-labelledby="ship" {
                h2 id="ship" { (texts::new_shipment(language)) }
                p class="soft" { (texts::new_shipment_text(language)) }
                (ship_form(language, order, "btn primary", suggestion))
            }
        }
    }
}

/// Renders the form for a partial shipment while the remaining parts are still in production.
pub(super) fn ship_some(language: Language, order: &Order, suggestion: &ShipmentSuggestion) -> Markup {
    html! {
        @if order.status == OrderStatus::Printing && !leaving_lines(order).is_empty() {
            details {
                summary class="btn" { (icon(Icon::Truck)) " " (texts::ship_some(language)) }
                div class="panel pad" {
                    p { (texts::ship_some_text(language)) }
                    (ship_form(language, order, "btn", suggestion))
                }
            }
        }
    }
}
