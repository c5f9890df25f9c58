//! All that the simulated processor knows: its objects by their ids, as it shows them, in the order of their making.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fault::Fault;
use super::params::Params;

/// Most objects that are kept; a test or demo never makes so many.
const MAX_OBJECTS: usize = 200_000;
/// Most and usual entries of a page.
const PAGE: (i64, i64) = (100, 10);

/// The objects, and what is happening to them.
#[derive(Debug, Default)]
pub(super) struct Books {
    objects: BTreeMap<String, Value>,
    /// Ids in the order of making.
    made: Vec<String>,
    /// The payment intent of a session that nobody is shown before it is paid.
    pub(super) intents: BTreeMap<String, String>,
    /// Events that were not handed to the courier yet.
    pub(super) happened: Vec<Value>,
    /// Where its pages are.
    pub(super) base_url: String,
    /// The word for which refunds are refused.
    pub(super) refuses_refunds: Option<String>,
    /// Method and path of calls that do nothing, and the status that they are answered with.
    pub(super) refused_calls: Vec<(String, u16)>,
    /// Whether it takes no address of a customer.
    pub(super) dislikes_addresses: bool,
}

/// Seconds since 1970, by the machine's clock.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

impl Books {
    /// A new id.
    pub(super) fn id(prefix: &str) -> String {
        format!("{prefix}_{}", uuid::Uuid::now_v7().simple())
    }

    /// Keeps a new object.
    pub(super) fn add(&mut self, object: Value) -> Result<Value, Fault> {
        if self.made.len() >= MAX_OBJECTS {
            return Err(Fault::of_status(500));
        }
        let id = object["id"].as_str().unwrap_or_default().to_owned();
        self.made.push(id.clone());
        self.objects.insert(id, object.clone());
        Ok(object)
    }

    /// An object of this kind, which the path names.
    pub(super) fn get(&self, kind: &str, id: &str) -> Result<&Value, Fault> {
        let found = self.objects.get(id).filter(|object| object["object"] == kind);
        found.ok_or_else(|| Fault::not_found(&kind.replace('.', "_"), id))
    }

    /// An object of this kind, which a parameter names.
    pub(super) fn named(&self, kind: &str, id: &str, param: &str) -> Result<&Value, Fault> {
        self.get(kind, id).map_err(|_| Fault::no_such(kind, id, param))
    }

    /// Changes members of an object.
    pub(super) fn change(&mut self, id: &str, members: &Value) -> Value {
        let Some(object) = self.objects.get_mut(id) else { return Value::Null };
        for (name, value) in members.as_object().into_iter().flatten() {
            object[name.as_str()] = value.clone();
        }
        object.clone()
    }

    /// All of a kind, newest first.
    pub(super) fn all(&self, kind: &str) -> impl Iterator<Item = &Value> {
        let objects = self.made.iter().rev().filter_map(|id| self.objects.get(id));
        objects.filter(move |object| object["object"] == kind)
    }

    /// A page of those of a kind that pass, newest first.
    pub(super) fn page(
        &self,
        kind: &str,
        url: &str,
        params: &Params,
        passes: impl Fn(&Value) -> bool,
    ) -> Result<Value, Fault> {
        let (most, usual) = PAGE;
        let limit = params.integer("limit")?.unwrap_or(usual);
        if !(1..=most).contains(&limit) {
            return Err(Fault::invalid(format!("This value must be from 1 to {most}"), "limit"));
        }
        let all: Vec<&Value> = self.all(kind).filter(|object| passes(object)).collect();
        let place = |name: &str| match params.text(name) {
            None => Ok(None),
            Some(id) => {
                let found = all.iter().position(|object| object["id"] == id);
                found.map(Some).ok_or_else(|| Fault::no_such(kind, id, name))
            }
        };
        let (from, to) = match (place("starting_after")?, place("ending_before")?) {
            (Some(after), _) => (after + 1, all.len()),
            (None, Some(before)) => (before.saturating_sub(limit as usize), before),
            (None, None) => (0, all.len()),
        };
        let shown: Vec<&Value> = all[from..to].iter().take(limit as usize).copied().collect();
        let has_more = to - from > shown.len() || (params.has("ending_before") && from > 0);
        Ok(json!({"object": "list", "data": shown, "has_more": has_more, "url": url}))
    }

    /// Something happened to an object: an event of it is sent.
    pub(super) fn happened(&mut self, kind: &str, object: &Value) {
        let event = json!({
            "id": Self::id("evt"), "object": "event", "type": kind, "created": now(), "api_version": super::API_VERSION,
            "livemode": false, "pending_webhooks": 1, "request": {"id": null, "idempotency_key": null},
            "data": {"object": object},
        });
        self.happened.push(event);
    }
}
