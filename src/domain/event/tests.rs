//! Tests of the names and payloads of events.

use std::collections::BTreeSet;

use api_schema::ToSchema;
use serde_json::json;

use super::data::invoice::{InvoiceData, InvoicePaymentFailedData, InvoiceRefundData};
use super::data::{
    OrderData, OrderPartShippedData, OrderRefundData, OrderShippedData, PrinterCommandData, PrinterData,
    PrinterOfflineData,
};
use super::*;
use crate::invoice_status::InvoiceStatus;
use crate::order_status::{OrderStatus, SentLine, SentShipment, Shipment};
use crate::testing::id;

fn order() -> OrderData {
    OrderData {
        order_id: id(1),
        number: "ORD-000001".to_owned(),
        status: OrderStatus::Paid,
        total_cents: 2_500,
        currency: "usd".to_owned(),
        customer_email: None,
    }
}

fn printer() -> PrinterData {
    PrinterData { printer_id: id(2), name: "Left".to_owned(), last_seen_at: None, job_id: None }
}

fn invoice() -> InvoiceData {
    InvoiceData {
        invoice_id: id(3),
        order_id: None,
        status: InvoiceStatus::Open,
        total_cents: 2_500,
        amount_due_cents: 2_500,
        currency: "usd".to_owned(),
        customer_email: None,
    }
}

/// Checks that the example of a payload in the documentation has exactly the members of the payload. Returns both, the
/// example first.
fn example_and_payload<T: Serialize + ToSchema>(payload: &T) -> [Value; 2] {
    let members = |value: &Value| -> BTreeSet<String> {
        value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let (example, written) = (T::example(), serde_json::to_value(payload).unwrap_or_default());
    assert_eq!(members(&example), members(&written));
    [example, written]
}

#[test]
fn only_outbound_events_have_a_name_that_programs_subscribe_to() {
    for (event, name) in OutboundEvent::ALL.iter().zip(OUTBOUND) {
        assert_eq!((event.word(), OutboundEvent::of(name), json!(event)), (name, Some(*event), json!(name)));
    }
    assert_eq!(OUTBOUND.len(), 12);
    assert_eq!(["order.draft", "LOW_STOCK", ""].map(OutboundEvent::of), [None; 3]);
}

#[test]
fn the_example_of_a_payload_has_the_members_of_the_payload() {
    example_and_payload(&order());
    example_and_payload(&printer());
    example_and_payload(&invoice());
    let [example, _] = example_and_payload(&OrderRefundData { order: order(), refunded_cents: 5 });
    assert_eq!((&example["refundedCents"], &example["status"]), (&json!(500), &json!("paid")));
    let [example, _] = example_and_payload(&PrinterOfflineData { printer: printer(), error: "gone".to_owned() });
    assert_eq!((&example["error"], &example["name"]), (&json!("the printer does not respond"), &json!("Left")));
    let command = PrinterCommandData {
        printer: printer(),
        command: "pause".to_owned(),
        outcome: "done".to_owned(),
        error: None,
        detail: None,
    };
    example_and_payload(&command);
    let [example, _] = example_and_payload(&InvoiceRefundData { invoice: invoice(), refunded_cents: 5 });
    assert_eq!((&example["refundedCents"], &example["orderId"]), (&json!(500), &json!(null)));
    example_and_payload(&InvoicePaymentFailedData { invoice: invoice(), error: None });
}

#[test]
fn a_shipment_is_told_with_its_number_of_parts() {
    let shipment = Shipment {
        carrier: "UPS".to_owned(),
        tracking_number: "1Z999".to_owned(),
        estimated_delivery: "2026-11-05".to_owned(),
    };
    let [_, shipped] = example_and_payload(&OrderShippedData::new(order(), &shipment));
    assert_eq!((&shipped["carrier"], &shipped["trackingNumber"]), (&json!("UPS"), &json!("1Z999")));
    let lines = [(0, 2), (3, 5)].map(|(line, quantity)| SentLine { line, quantity }).to_vec();
    let sent = SentShipment { number: 2, shipment, lines, shipped_at: Timestamp(7) };
    let [_, part] = example_and_payload(&OrderPartShippedData::new(order(), &sent));
    assert_eq!((&part["shipmentNumber"], &part["parts"]), (&json!(2), &json!(7)));
    assert_eq!(part["estimatedDelivery"], "2026-11-05");
}
