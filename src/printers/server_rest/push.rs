//! `OctoPrint`'s raw WebSocket: a session is obtained with the API key; after that, state messages arrive up to twice a
//! second, and only those that contain a change wake the waiter.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::runs::ReportedEnds;
use super::status;
use crate::adapter::PrinterError;
use crate::push::{Dialect, PushMessage};
use crate::wire::PrinterHttpClient;

/// `OctoPrint`'s protocol for the push connection.
pub(super) struct OctoPrintDialect {
    wire: PrinterHttpClient,
    news: StateFilter,
    ends: Arc<ReportedEnds>,
}

impl OctoPrintDialect {
    pub(super) fn new(wire: PrinterHttpClient, ends: Arc<ReportedEnds>) -> Self {
        Self { wire, news: StateFilter::default(), ends }
    }

    /// Obtains a session for the push socket (`name:session`), which requires only the API key.
    async fn session(&self) -> Result<String, PrinterError> {
        let login = self.wire.post("api/login", &[], Some(&json!({"passive": true}))).await?;
        let field = |name: &str| login.get(name).and_then(Value::as_str);
        field("name")
            .zip(field("session"))
            .map(|(name, session)| format!("{name}:{session}"))
            .ok_or_else(|| PrinterError::BadAnswer("no session".into()))
    }
}

#[async_trait]
impl Dialect for OctoPrintDialect {
    async fn greet(&mut self) -> Result<Vec<String>, PrinterError> {
        self.news = StateFilter::default();
        let session = self.session().await?;
        self.ends.add();
        Ok(vec![json!({ "auth": session }).to_string()])
    }

    fn interpret(&mut self, text: &str) -> PushMessage {
        let message = bounded_json::read(text.as_bytes(), bounded_json::ANSWER).unwrap_or_default();
        if matches!(event_type(&message), Some("PrintDone" | "PrintFailed" | "PrintCancelled")) {
            self.ends.add();
        }
        self.news.read(&message)
    }
}

/// Returns the type of an event, such as `PrintDone`; `None` for other messages.
fn event_type(message: &Value) -> Option<&str> {
    Some(message.get("event")?.get("type").and_then(Value::as_str).unwrap_or_default())
}

/// Filter that detects changes in the constant stream of messages.
#[derive(Default)]
pub(super) struct StateFilter {
    /// State flags and selected file from the last state message.
    last_state: Option<(Value, Value)>,
}

impl StateFilter {
    pub(super) fn read(&mut self, message: &Value) -> PushMessage {
        if let Some(kind) = event_type(message) {
            let wake = kind.starts_with("Print") || matches!(kind, "EStop" | "Connected" | "Disconnected" | "Error");
            return PushMessage { wake, ..PushMessage::default() };
        }
        let Some(current) = message.get("current").or_else(|| message.get("history")) else {
            return PushMessage::default();
        };
        let part = |at: &str| current.pointer(at).cloned().unwrap_or_default();
        let now = (part("/state/flags"), part("/job/file/path"));
        let wake = self.last_state.as_ref() != Some(&now);
        self.last_state = Some(now);
        let logs = message.pointer("/current/logs").and_then(Value::as_array).into_iter().flatten();
        let console = logs.filter_map(|line| line.as_str().map(str::to_owned)).collect();
        // State messages come only to a session that was accepted.
        PushMessage { wake, subscribed: true, telemetry: Some(status::telemetry(current)), console, reply: None }
    }
}
