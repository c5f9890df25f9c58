//! Body of a delivery: an envelope around the event, built once and identical byte for byte on every attempt, because
//! the signature covers it.

use serde_json::{Map, Value};

use crate::endpoint::{DueEvent, Endpoint};
use crate::event::{Event, NumberedEvent};

/// Builds the envelope `{id, event, timestamp, data}`, with the fields in this order. The fields of `data` are sorted
/// by name, because the databases do not preserve their order.
pub fn envelope(event: &Event) -> String {
    let [id, kind, at] = [event.id.to_string(), event.event.clone(), event.timestamp.to_string()].map(Value::String);
    format!(r#"{{"id":{id},"event":{kind},"timestamp":{at},"data":{}}}"#, sorted(&event.data))
}

/// Returns the events after the endpoint's cursor that the endpoint is subscribed to, with their envelopes. Events from
/// before their type was added are left out.
pub fn due<'a>(endpoint: &Endpoint, events: impl IntoIterator<Item = &'a NumberedEvent>) -> Vec<DueEvent> {
    let is_subscribed = |e: &&NumberedEvent| {
        let kind = &e.event.event;
        let is_later = endpoint.subscribed_after.get(kind).is_none_or(|start| e.seq > *start);
        e.seq > endpoint.cursor && is_later && endpoint.events.contains(kind)
    };
    let of = |e: &NumberedEvent| DueEvent {
        event_id: e.event.id,
        seq: e.seq,
        event: e.event.event.clone(),
        body: envelope(&e.event),
    };
    events.into_iter().filter(is_subscribed).map(of).collect()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            Value::Object(members.into_iter().map(|(name, v)| (name.clone(), sorted(v))).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}
