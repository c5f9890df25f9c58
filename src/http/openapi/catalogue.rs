//! Catalogue of all event types with their data, and the `webhooks` section of the document, which describes the
//! requests that endpoints receive.

use serde_json::{Value, json};
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, HttpMethod, PathItem, Paths, Required, ResponseBuilder};

use super::shape::{Shape, id, named, object, required, text, time, word};
use crate::operation::NamedSchema;
use crate::wire::{Components, Flattened, Member, ToSchema};
use domain::event::data::invoice::{
    InvoiceData, InvoiceFlaggedData, InvoicePaymentData, InvoicePaymentFailedData, InvoiceRefundData,
};
use domain::event::data::late::OrderLateData;
use domain::event::data::quote::QuoteData;
use domain::event::data::restore::ShopRestoredData;
use domain::event::data::{
    CustomRequestData, DiscrepancyData, EndpointDisabledData, EventData, EventKind, JobData, JobSignedOffData,
    LowStockData, OrderData, OrderFlaggedData, OrderPartShippedData, OrderPaymentFailedData, OrderRefundData,
    OrderShippedData, PaymentUnmatchedData, PrinterActData, PrinterCommandData, PrinterData,
    PrinterFailureSuspectedData, PrinterFaultData, PrinterMaintenanceDueData, PrinterMaintenanceLoggedData,
    PrinterOfflineData, TestData,
};
use domain::event::{OutboundEvent, TEST};

const EXAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8072";
const EXAMPLE_TIME: &str = "2026-11-02T10:00:00.000Z";

/// Description of an event type.
pub struct Entry {
    /// Event type, with its name and a description of when it is sent.
    pub kind: EventKind,
    /// Name of the payload schema; `None` for events that are only available from `/api/events`.
    pub sent_as: Option<&'static str>,
    /// Fields of the event's data.
    pub members: Vec<Member>,
    /// Example of the event's data.
    pub example: Value,
    data_name: &'static str,
    add: fn(&mut Components),
}

impl Entry {
    /// Builds an example of the payload that endpoints receive.
    pub fn envelope(&self) -> Value {
        json!({"id": EXAMPLE_ID, "event": self.kind.name, "timestamp": EXAMPLE_TIME, "data": self.example})
    }

    fn schema(&self) -> Shape {
        object([
            required("id", id().about("The same on every attempt: `webhook-id`.")),
            required("event", word([self.kind.name]).about("Event type.")),
            required("timestamp", time().about("Time of the event.")),
            required("data", named(self.data_name).about("Event data; its fields depend on the event type.")),
        ])
    }
}

/// Returns every event type, starting with those that endpoints receive.
pub fn all() -> Vec<Entry> {
    let mut all = Vec::new();
    entries::<OrderData>(&mut all);
    entries::<OrderLateData>(&mut all);
    entries::<OrderShippedData>(&mut all);
    entries::<JobData>(&mut all);
    entries::<LowStockData>(&mut all);
    entries::<PrinterOfflineData>(&mut all);
    entries::<PrinterFaultData>(&mut all);
    entries::<PrinterFailureSuspectedData>(&mut all);
    entries::<PrinterCommandData>(&mut all);
    entries::<PrinterMaintenanceDueData>(&mut all);
    entries::<PrinterMaintenanceLoggedData>(&mut all);
    entries::<ShopRestoredData>(&mut all);
    entries::<TestData>(&mut all);
    entries::<OrderPartShippedData>(&mut all);
    entries::<JobSignedOffData>(&mut all);
    entries::<OrderFlaggedData>(&mut all);
    entries::<OrderPaymentFailedData>(&mut all);
    entries::<OrderRefundData>(&mut all);
    entries::<DiscrepancyData>(&mut all);
    entries::<PrinterData>(&mut all);
    entries::<PrinterActData>(&mut all);
    entries::<InvoiceData>(&mut all);
    entries::<InvoiceFlaggedData>(&mut all);
    entries::<InvoicePaymentData>(&mut all);
    entries::<InvoicePaymentFailedData>(&mut all);
    entries::<InvoiceRefundData>(&mut all);
    entries::<CustomRequestData>(&mut all);
    entries::<QuoteData>(&mut all);
    entries::<EndpointDisabledData>(&mut all);
    entries::<PaymentUnmatchedData>(&mut all);
    all.sort_by_key(|entry| entry.sent_as.is_none());
    all
}

fn entries<D: EventData + ToSchema + Flattened>(all: &mut Vec<Entry>) {
    let sent_as = |name: &str| match OutboundEvent::of(name) {
        Some(event) => Some(event.schema_name()),
        None => (name == TEST).then_some("WebhookTestEvent"),
    };
    all.extend(D::KINDS.iter().map(|kind| Entry {
        kind: *kind,
        sent_as: sent_as(kind.name),
        members: D::members(),
        example: D::example(),
        data_name: D::NAME.unwrap_or_default(),
        add: Components::add::<D>,
    }));
}

/// Returns the schemas of the payloads that endpoints receive.
pub fn schemas() -> Vec<NamedSchema> {
    let mut components = Components::default();
    let mut webhook_schemas = Vec::new();
    for entry in all() {
        let Some(name) = entry.sent_as else { continue };
        (entry.add)(&mut components);
        webhook_schemas.push(NamedSchema {
            name,
            shape: entry.schema().about(entry.kind.when),
            example: entry.envelope(),
        });
    }
    let data = components.into_schemas().map(|(name, shape, example)| NamedSchema { name, shape, example });
    data.chain(webhook_schemas).collect()
}

/// Builds the `webhooks` section: one request from the server per event type that endpoints can receive.
pub fn webhooks() -> Paths {
    let mut paths = Paths::new();
    for entry in all() {
        let Some(name) = entry.sent_as else { continue };
        let content = ContentBuilder::new().schema(Some(named(name))).example(Some(entry.envelope())).build();
        let body =
            RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True)).build();
        let header = |name: &str, about: &str| {
            let header = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Header);
            header.required(Required::True).schema(Some(text())).description(Some(about)).build()
        };
        let answer = ResponseBuilder::new().description("Delivered. Any other status is retried later.").build();
        let operation = OperationBuilder::new()
            .tag(super::tags::WEBHOOKS)
            .operation_id(Some(format!("on{}", name.trim_end_matches("Event"))))
            .summary(Some(entry.kind.name))
            .description(Some(entry.kind.when))
            .securities(Some([]))
            .parameter(header("X-Service-Signature", "`sha256=` followed by the hexadecimal HMAC of the raw body."))
            .parameter(header("X-Service-Delivery", "ID of the delivery, the same on every attempt."))
            .parameter(header("webhook-id", "ID of the event, the same on every attempt."))
            .parameter(header("webhook-timestamp", "Time of the attempt, in seconds since 1970."))
            .parameter(header(
                "webhook-signature",
                "`v1,` followed by the Standard Webhooks signature; several signatures are separated by spaces.",
            ))
            .request_body(Some(body))
            .response("2XX", answer);
        paths.paths.insert(entry.kind.name.to_owned(), PathItem::new(HttpMethod::Post, operation.build()));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::OUTBOUND;

    #[test]
    fn every_event_that_can_be_subscribed_to_is_described_once() {
        let all = all();
        for word in OUTBOUND.into_iter().chain([TEST]) {
            let entries: Vec<_> = all.iter().filter(|entry| entry.kind.name == word).collect();
            assert_eq!(entries.len(), 1, "{word}");
            assert!(entries.iter().all(|entry| entry.sent_as.is_some()), "{word}");
        }
        for entry in &all {
            assert_eq!(all.iter().filter(|other| other.kind.name == entry.kind.name).count(), 1, "{}", entry.kind.name);
            for member in entry.members.iter().filter(|member| member.required) {
                assert!(entry.example.get(member.name).is_some(), "{}: {}", entry.kind.name, member.name);
            }
        }
    }
}
