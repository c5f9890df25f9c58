//! Orders (decisions §3).

use super::operation::{Named, Resource, get, patch, post};
use super::shape::{
    Shape, date, email, has, id, list, list_of, may, named, object, taken, text, text_like, text_of, time, whole, word,
    yes_no,
};
use super::words::word_of;
use crate::config::checks::SITES;
use crate::domain::order::{OrderKind, OrderStatus};
use crate::http::production::events::EventView;
use crate::http::production::place::{LINES_MOST, QUANTITY_MOST};
use crate::http::production::skus;
use crate::http::wire::ToSchema as _;
use serde_json::{Value, json};

/// The id that examples use for an order.
pub(super) const EXAMPLE: &str = "01890a5d-ac96-774b-bcce-b302099a8065";

const STATE: &str = "invalid_transition";

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Orders",
        about: "Placed, paid, made, shipped. Customers' keys see and make their own; another's order is 404 for them.",
        thing: "order",
        shapes: vec![
            Named { name: "Order", shape: shape(), example: example() },
            Named { name: "Address", shape: address(), example: address_example() },
        ],
        operations: vec![
            get("/api/orders", "listOrders", "List orders")
                .query("status", word_of::<OrderStatus>(), "That stand so.")
                .query("kind", word_of::<OrderKind>(), "Of this kind.")
                .query("site", word(SITES), "Of this site.")
                .query("customerEmail", text(), "Of this customer.")
                .query("email", text(), "As `customerEmail`.")
                .query("q", text(), "With this number, or with this in the customer's address.")
                .header("x-service-site", word(SITES), "As `site`; the query wins.")
                .lists("orders", "Order"),
            post("/api/orders", "placeOrder", "Place an order")
                .about("Prices come from the catalogue and are frozen. `priority` and `dueAt` are set by staff only.")
                .query("site", word(SITES), "As in the body; the body wins.")
                .header("x-service-site", word(SITES), "As `site`; the query wins.")
                .takes(placed(), json!({"lines": [{"skuId": skus::EXAMPLE_ID, "quantity": 2}], "customerEmail": "buyer@example.org"}))
                .creates("Order")
                .no(403, "forbidden", "The key orders for another customer, or sets what staff set."),
            get("/api/orders/{id}", "getOrder", "Show an order").shows("Order"),
            patch("/api/orders/{id}", "updateOrder", "Change an order")
                .about("Unfinished jobs follow priority and due date.")
                .takes(
                    taken([
                        may("notes", text_of(..=1000).or_null()),
                        may("priority", priority()),
                        may("dueAt", time().or_null()),
                        may("shippingAddress", named("Address").or_null()),
                    ]),
                    json!({"priority": 8, "dueAt": "2026-11-20T17:00:00.000Z"}),
                )
                .shows("Order")
                .no(409, STATE, "The order does not stand so that this can change.")
                .no(409, "tax_differs", "The new destination has another tax rate."),
            post("/api/orders/{id}/cancel", "cancelOrder", "Cancel an order")
                .about("A customer may while it is unpaid. `force` gives up printers that do not answer.")
                .may_take(taken([may("force", yes_no().by_default(false))]), json!({}))
                .shows("Order")
                .no(403, "forbidden", "A customer may cancel an order only while it is unpaid.")
                .no(409, STATE, "It is shipped, cancelled or refunded."),
            post("/api/orders/{id}/confirm", "confirmOrder", "Confirm a draft")
                .about("One that costs nothing is paid at once.")
                .takes_nothing()
                .shows("Order")
                .no(409, STATE, "It is no draft."),
            post("/api/orders/{id}/mark-paid", "markOrderPaid", "Record a payment by hand")
                .about("Without an amount, all that is due. Paid in full, its jobs are made.")
                .takes(
                    taken([
                        may("amountCents", whole(1..)),
                        has("method", text_of(1..=50).about("A word for how it was paid.")),
                        may("reference", text_of(..=200).or_null()),
                    ]),
                    json!({"method": "cash"}),
                )
                .shows("Order")
                .no(409, STATE, "It is paid already.")
                .no(409, "not_payable", "It is cancelled or refunded."),
            post("/api/orders/{id}/ship", "shipOrder", "Ship an order")
                .takes(shipment(true), json!({"carrier": "DHL", "trackingNumber": "00340434292135100186", "estimatedDelivery": "2026-11-24"}))
                .shows("Order")
                .no(409, STATE, "It is not ready."),
            get("/api/orders/{id}/timeline", "getOrderTimeline", "Show what happened to an order")
                .about("Oldest first.")
                .answers(object([has("timeline", list(named("Event")))]), json!({"timeline": [EventView::example()]})),
        ],
    }
}

pub(super) fn priority() -> Shape {
    whole(0..=9).about("Higher first.")
}

fn placed() -> Shape {
    let line = taken([has("skuId", id()), has("quantity", whole(1..=i64::from(QUANTITY_MOST)))]);
    taken([
        has("lines", list_of(line, 1..=LINES_MOST)),
        may("customerEmail", email().or_null()),
        may("notes", text_of(..=1000).or_null()),
        may("priority", priority()),
        may("dueAt", time().or_null()),
        may("shippingAddress", named("Address").or_null()),
        may("site", word(SITES).or_null()),
    ])
}

fn address() -> Shape {
    taken([
        has("line1", text_of(1..=200)),
        may("line2", text_of(..=200).or_null()),
        has("city", text_of(1..=100)),
        may("region", text_of(..=100).or_null()),
        has("postalCode", text_of(1..=20)),
        has("country", text_like("^[A-Za-z]{2}$").about("ISO 3166-1, two letters.")),
    ])
}

fn address_example() -> Value {
    json!({"line1": "1 Main Street", "line2": null, "city": "Springfield", "region": "IL", "postalCode": "62701", "country": "US"})
}

fn shipment(new: bool) -> Shape {
    let short = || if new { text_of(1..=100) } else { text() };
    let members = [has("carrier", short()), has("trackingNumber", short()), has("estimatedDelivery", date())];
    if new { taken(members) } else { object(members) }
}

fn line() -> Shape {
    object([
        has("skuId", id()),
        has("quantity", whole(1..)),
        has("unitPriceCents", whole(0..)),
        has("description", text().about("The product's name when it was ordered.")),
        has("taxRateBps", whole(0..).about("Basis points.")),
        may(
            "jobs",
            object([has("total", whole(0..)), has("completed", whole(0..))])
                .about("Its plates and how many are done; once there are jobs, where one order is shown."),
        ),
    ])
}

fn payment() -> Shape {
    object([
        has("id", id()),
        has("amountCents", whole(..).about("Negative for refunds.")),
        has("currency", text()),
        has("method", text()),
        has("reference", text().or_null()),
        has("createdAt", time()),
    ])
}

fn shape() -> Shape {
    object([
        has("id", id()),
        has("number", text_like("^ORD-[0-9]{6,}$")),
        has("kind", word_of::<OrderKind>()),
        has("status", word_of::<OrderStatus>()),
        has("site", word(SITES)),
        has("customerId", id().or_null()),
        has("customerEmail", text().or_null()),
        has("lines", list(line())),
        has("currency", text_like("^[a-z]{3}$")),
        has("subtotalCents", whole(0..)),
        has("shippingCents", whole(0..)),
        has("taxCents", whole(0..)),
        has("discountCents", whole(0..)),
        has("totalCents", whole(0..)),
        has("payments", list(payment()).about("Oldest first; empty in lists.")),
        has("shipment", shipment(false).or_null()),
        has(
            "flags",
            list(text())
                .about("What a person must look at: `refund_due`, `amount_mismatch`, `all_jobs_cancelled`, ..."),
        ),
        has("shippingAddress", named("Address").or_null()),
        has("priority", priority()),
        has("dueAt", time().or_null()),
        has("notes", text().or_null()),
        has("paidAt", time().or_null()),
        has("createdAt", time()),
        has("updatedAt", time()),
        has("version", whole(1..)),
    ])
}

fn example() -> Value {
    json!({
        "id": EXAMPLE, "number": "ORD-000123", "kind": "manual", "status": "paid", "site": "support", "customerId": null,
        "customerEmail": "buyer@example.org",
        "lines": [{
            "skuId": skus::EXAMPLE_ID, "quantity": 2, "unitPriceCents": 1250, "description": "Vase", "taxRateBps": 0,
            "jobs": {"total": 2, "completed": 1},
        }],
        "currency": "usd", "subtotalCents": 2500, "shippingCents": 0, "taxCents": 0, "discountCents": 0, "totalCents": 2500,
        "payments": [{
            "id": "01890a5d-ac96-774b-bcce-b302099a8066", "amountCents": 2500, "currency": "usd", "method": "cash",
            "reference": null, "createdAt": "2026-11-02T10:00:00.000Z",
        }],
        "shipment": null, "flags": [], "shippingAddress": null, "priority": 5, "dueAt": null, "notes": null,
        "paidAt": "2026-11-02T10:00:00.000Z", "createdAt": "2026-11-02T09:55:00.000Z",
        "updatedAt": "2026-11-02T10:00:00.000Z", "version": 3,
    })
}
