//! What people and programs hear of a material: low stock (production spec §1 rule 5, decisions §5) and discrepancies.

use crate::domain::aggregate::DecisionContext;
use crate::domain::amount::Amount;
use crate::domain::event::Event;
use crate::domain::mail::Mail;
use crate::domain::material::Material;
use serde_json::json;

/// Events and mail of one alert.
pub(super) struct Alert {
    pub(super) events: Vec<Event>,
    pub(super) messages: Vec<Mail>,
}

/// `inventory.low` for subscribers, `LOW_STOCK` for workflow automation, mail and the agent gateway.
pub(super) fn low(cx: &DecisionContext<'_>, material: &Material) -> Alert {
    let (fields, available) = (&material.fields, material.available());
    let unit = fields.kind.unit();
    let data = json!({
        "materialId": material.id,
        "name": fields.name,
        "available": available,
        "reorderPoint": fields.reorder_point,
        "reorderQuantity": fields.reorder_quantity,
        "unit": unit,
    });
    let events = ["inventory.low", "LOW_STOCK"].map(|event| event_of(cx, material, event, data.clone()));
    let messages = Mail::to_operators(
        cx,
        &format!("Low stock: {}", fields.name),
        &format!(
            "{available} {unit} of {} are available, {} {unit} are on hand.\nThe reorder point is {} {unit}; order {} {unit}.\n",
            fields.name, material.quantity, fields.reorder_point, fields.reorder_quantity
        ),
    );
    Alert { events: events.into(), messages }
}

/// Stock on hand is not what the shop counted on: a print used `beyond` more than there was, or what is there no longer
/// covers what is reserved.
pub(super) fn discrepancy(cx: &DecisionContext<'_>, material: &Material, beyond: Amount) -> Alert {
    let (name, unit) = (&material.fields.name, material.fields.kind.unit());
    let data = json!({
        "materialId": material.id,
        "name": name,
        "quantity": material.quantity,
        "reserved": material.reserved,
        "consumedBeyondStock": beyond,
        "unit": unit,
    });
    let text = if beyond > Amount::ZERO {
        format!("Prints used {beyond} {unit} of {name} more than was on hand. Please count it.\n")
    } else {
        format!(
            "{} {unit} of {name} are on hand, but {} {unit} are reserved for jobs. Please count it and reorder.\n",
            material.quantity, material.reserved
        )
    };
    Alert {
        events: vec![event_of(cx, material, "inventory.discrepancy", data)],
        messages: Mail::to_operators(cx, &format!("Stock discrepancy: {name}"), &text),
    }
}

fn event_of(cx: &DecisionContext<'_>, material: &Material, event: &str, data: serde_json::Value) -> Event {
    Event::new(cx, event, ("material", material.id), None, data)
}
