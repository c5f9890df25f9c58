//! State of the simulated processor: its objects by ID, in their public form and in order of creation.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fault::ErrorResponse;
use super::params::Params;

/// Maximum number of stored objects, which is far more than any test or demo creates.
const MAX_OBJECTS: usize = 200_000;
/// Maximum and default number of entries per page.
const PAGE: (i64, i64) = (100, 10);

/// Processor objects, and pending events about them.
#[derive(Debug, Default)]
pub(super) struct ProcessorObjects {
    objects: BTreeMap<String, Value>,
    /// Object IDs in order of creation.
    creation_order: Vec<String>,
    /// Payment intent of each session, which is not public until the session is paid.
    pub(super) intents: BTreeMap<String, String>,
    /// Events not yet passed to the courier.
    pub(super) happened: Vec<Value>,
    /// Base URL of the processor's pages.
    pub(super) base_url: String,
    /// Error code for rejected refunds; `None` accepts refunds.
    pub(super) refuses_refunds: Option<String>,
    /// Method and path of each disabled call, with the status that it returns.
    pub(super) refused_calls: Vec<(String, u16)>,
    /// `true` if all customer addresses are rejected.
    pub(super) dislikes_addresses: bool,
}

/// Returns the current time in Unix seconds, from the system clock.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

impl ProcessorObjects {
    /// Returns a new ID with the given prefix.
    pub(super) fn id(prefix: &str) -> String {
        format!("{prefix}_{}", uuid::Uuid::now_v7().simple())
    }

    /// Stores a new object.
    pub(super) fn add(&mut self, object: Value) -> Result<Value, ErrorResponse> {
        if self.creation_order.len() >= MAX_OBJECTS {
            return Err(ErrorResponse::of_status(500));
        }
        let id = object["id"].as_str().unwrap_or_default().to_owned();
        self.creation_order.push(id.clone());
        self.objects.insert(id, object.clone());
        Ok(object)
    }

    /// Returns the object of the given kind, whose ID comes from the path.
    pub(super) fn get(&self, kind: &str, id: &str) -> Result<&Value, ErrorResponse> {
        let object = self.objects.get(id).filter(|object| object["object"] == kind);
        object.ok_or_else(|| ErrorResponse::not_found(&kind.replace('.', "_"), id))
    }

    /// Returns the object of the given kind, whose ID comes from the given parameter.
    pub(super) fn named(&self, kind: &str, id: &str, param: &str) -> Result<&Value, ErrorResponse> {
        self.get(kind, id).map_err(|_| ErrorResponse::no_such(kind, id, param))
    }

    /// Updates fields of an object.
    pub(super) fn change(&mut self, id: &str, members: &Value) -> Value {
        let Some(object) = self.objects.get_mut(id) else { return Value::Null };
        for (name, value) in members.as_object().into_iter().flatten() {
            object[name.as_str()] = value.clone();
        }
        object.clone()
    }

    /// Returns all objects of a kind, newest first.
    pub(super) fn all(&self, kind: &str) -> impl Iterator<Item = &Value> {
        let objects = self.creation_order.iter().rev().filter_map(|id| self.objects.get(id));
        objects.filter(move |object| object["object"] == kind)
    }

    /// Returns a page of the matching objects of a kind, newest first.
    pub(super) fn page(
        &self,
        kind: &str,
        url: &str,
        params: &Params,
        passes: impl Fn(&Value) -> bool,
    ) -> Result<Value, ErrorResponse> {
        let (most, usual) = PAGE;
        let limit = params.integer("limit")?.unwrap_or(usual);
        if !(1..=most).contains(&limit) {
            return Err(ErrorResponse::invalid(format!("This value must be from 1 to {most}"), "limit"));
        }
        let all: Vec<&Value> = self.all(kind).filter(|object| passes(object)).collect();
        let place = |name: &str| match params.text(name) {
            None => Ok(None),
            Some(id) => {
                let position = all.iter().position(|object| object["id"] == id);
                position.map(Some).ok_or_else(|| ErrorResponse::no_such(kind, id, name))
            }
        };
        let (from, to) = match (place("starting_after")?, place("ending_before")?) {
            (Some(after), _) => (after + 1, all.len()),
            (None, Some(before)) => (before.saturating_sub(limit as usize), before),
            (None, None) => (0, all.len()),
        };
        let page: Vec<&Value> = all[from..to].iter().take(limit as usize).copied().collect();
        let has_more = to - from > page.len() || (params.has("ending_before") && from > 0);
        Ok(json!({"object": "list", "data": page, "has_more": has_more, "url": url}))
    }

    /// Records an event about an object, to be sent afterwards.
    pub(super) fn happened(&mut self, kind: &str, object: &Value) {
        let event = json!({
            "id": Self::id("evt"), "object": "event", "type": kind, "created": now(), "api_version": super::API_VERSION,
            "livemode": false, "pending_webhooks": 1, "request": {"id": null, "idempotency_key": null},
            "data": {"object": object},
        });
        self.happened.push(event);
    }
}
