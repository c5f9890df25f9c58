//! Commands that the server acknowledged. Whatever happens later, each of them must be found in the final data.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// Command with an idempotency key.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Path of the request.
    pub path: String,
    /// Idempotency key, the same for every repetition.
    pub key: String,
    /// Body, the same for every repetition.
    pub body: Value,
}

/// Response to a command.
pub enum ShopReply {
    /// Carried out; the response body.
    Done(Value),
    /// Refused with this code.
    Refused(String),
    /// No conclusive response: the command is repeated with the same key.
    Unanswered,
}

/// Acknowledged command.
#[derive(Clone, Debug)]
pub struct AcknowledgedErrand {
    /// Command.
    pub errand: Errand,
    /// ID of the changed aggregate.
    pub id: Value,
    /// Version of the aggregate after the change.
    pub version: Value,
}

impl AcknowledgedErrand {
    /// Creates an acknowledgement from the body of a response.
    pub fn new(errand: &Errand, body: &Value) -> Self {
        Self { errand: errand.clone(), id: body["id"].clone(), version: body["version"].clone() }
    }
}

/// All acknowledged commands in the order of acknowledgement, each with its time in milliseconds since the start of the
/// simulation, and the keys of all commands sent.
#[derive(Default)]
pub struct Acknowledgements {
    all: Mutex<Vec<(i64, AcknowledgedErrand)>>,
    /// Path and idempotency key of each command.
    keys: Mutex<BTreeSet<(String, String)>>,
}

impl Acknowledgements {
    /// Adds a command that was acknowledged at this time.
    pub fn add(&self, at: i64, one: AcknowledgedErrand) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
    }

    /// Records that a command is sent, for the first time or again.
    pub fn note_key(&self, errand: &Errand) {
        let key = (errand.path.clone(), errand.key.clone());
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
    }

    /// Records that an event from the payment processor is sent; its ID counts as a key.
    pub fn note_event(&self, body: &str) {
        let id = serde_json::from_str::<Value>(body).unwrap_or_default()["id"].to_string();
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).insert((String::new(), id));
    }

    /// Returns the number of distinct commands and events sent, without repetitions.
    pub fn key_count(&self) -> usize {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns the commands acknowledged at this time or later.
    pub fn since(&self, at: i64) -> Vec<AcknowledgedErrand> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|(then, _)| *then >= at).map(|(_, one)| one.clone()).collect()
    }
}
