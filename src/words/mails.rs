//! Messages for emails to customers.

use fluent_bundle::FluentValue;

use crate::messages;

/// Content of a shipment, seen from its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShipmentContent {
    /// The order, with nothing sent before and nothing missing.
    Whole,
    /// A part of the order, with more to come.
    Part,
    /// Everything not sent before.
    Rest,
    /// Parts that replace others sent before.
    Replacement,
}

/// Way in which a shipment reaches the customer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShipmentWay {
    /// Sent by a carrier.
    Parcel,
    /// Picked up by the customer.
    Pickup,
}

impl From<ShipmentContent> for FluentValue<'_> {
    fn from(content: ShipmentContent) -> Self {
        Self::from(match content {
            ShipmentContent::Whole => "whole",
            ShipmentContent::Part => "part",
            ShipmentContent::Rest => "rest",
            ShipmentContent::Replacement => "replacement",
        })
    }
}

impl From<ShipmentWay> for FluentValue<'_> {
    fn from(way: ShipmentWay) -> Self {
        Self::from(match way {
            ShipmentWay::Parcel => "parcel",
            ShipmentWay::Pickup => "pickup",
        })
    }
}

messages! {
    "mails":

    customer_footer(shop: &str);
    invoice_label();
    credit_note_label();

    more_items(count: usize);
    item_of_kit(item: &str, kit: &str);
    discount();
    shipping();
    tax();
    total();
    paid();
    to_pay();

    sign_in_subject();
    sign_in_text(minutes: u64);
    sign_in_link();

    receipt_subject();
    receipt_text();
    order_receipt_subject(number: &str);
    order_receipt_text(number: &str);
    receipt_link();

    invoice_subject();
    invoice_text();
    due_invoice_text(date: &str);
    invoice_link();

    quote_subject(number: &str);
    quote_text(number: &str);
    limited_quote_text(number: &str, date: &str);
    quote_link();

    shipment_sentence(content: ShipmentContent, way: ShipmentWay, number: &str);
    shipment_text(sentence: &str);
    partial_shipment_text(sentence: &str);
    carrier();
    tracking_number();
    expected_delivery();
    tracking_link();
    order_link();
    promise_met(promised: &str, ready: &str);
    promise_broken(promised: &str, ready: &str);
    promise_overdue(promised: &str);
    promise_open(promised: &str);

    exported_invoices();
    exported_quotes();
    export_subject(records: &str);
    export_text(records: &str, rows: u64, until: &str);
    export_link();
    failed_export_subject(records: &str);
    failed_export_text(records: &str, attempts: u32);
}
