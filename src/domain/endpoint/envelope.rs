//! What is sent: the envelope of production spec §6, byte for byte the same on every attempt.

use crate::domain::endpoint::{Due, Endpoint};
use crate::domain::event::{Event, Numbered};
use serde_json::{Map, Value};

/// The envelope `{id, event, timestamp, data}` in this order; the members of `data` are sorted by name, so that the bytes
/// do not depend on where the event was kept.
pub fn envelope(event: &Event) -> String {
    let [id, kind, at] = [event.id.to_string(), event.event.clone(), event.timestamp.to_string()].map(Value::String);
    format!(r#"{{"id":{id},"event":{kind},"timestamp":{at},"data":{}}}"#, sorted(&event.data))
}

/// The events of these that the endpoint subscribed to and has not followed yet, with their envelopes.
pub fn due<'a>(endpoint: &Endpoint, events: impl IntoIterator<Item = &'a Numbered>) -> Vec<Due> {
    let wanted = |e: &&Numbered| e.seq > endpoint.cursor && endpoint.events.contains(&e.event.event);
    let of =
        |e: &Numbered| Due { event_id: e.event.id, seq: e.seq, event: e.event.event.clone(), body: envelope(&e.event) };
    events.into_iter().filter(wanted).map(of).collect()
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
