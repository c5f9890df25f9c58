//! `OctoPrint`'s raw WebSocket: a session is obtained with the API key; after that, state messages arrive up to twice a
//! second, or every two seconds while the printer is at rest, and only those that contain a change wake the waiter.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::runs::ReportedEnds;
use super::status;
use crate::adapter::{PrinterError, Telemetry};
use crate::push::{Dialect, PushMessage};
use crate::wire::PrinterHttpClient;
use domain::printer_status::{COLD_CELSIUS, WARM_CELSIUS};

/// Factor by which state messages are slowed down while the printer is at rest. Without it, one comes every 0.5 s.
const REST_FACTOR: u32 = 4;
/// Flags of a printer that is in use.
const IN_USE: [&str; 6] = ["printing", "paused", "pausing", "resuming", "cancelling", "finishing"];

/// `OctoPrint`'s protocol for the push connection.
pub(super) struct OctoPrintDialect {
    wire: PrinterHttpClient,
    news: StateFilter,
    ends: Arc<ReportedEnds>,
    /// `true` while state messages are slowed down.
    rests: bool,
}

impl OctoPrintDialect {
    pub(super) fn new(wire: PrinterHttpClient, ends: Arc<ReportedEnds>) -> Self {
        Self { wire, news: StateFilter::default(), ends, rests: false }
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
        (self.news, self.rests) = (StateFilter::default(), false);
        let session = self.session().await?;
        self.ends.add();
        Ok(vec![json!({ "auth": session }).to_string()])
    }

    fn interpret(&mut self, text: &str) -> PushMessage {
        let message = bounded_json::read(text.as_bytes(), bounded_json::ANSWER).unwrap_or_default();
        if matches!(event_type(&message), Some("PrintDone" | "PrintFailed" | "PrintCancelled")) {
            self.ends.add();
        }
        let update = self.news.read(&message);
        let rests = is_resting(&message, update.telemetry.as_ref(), self.rests).unwrap_or(self.rests);
        if rests == std::mem::replace(&mut self.rests, rests) {
            return update;
        }
        let factor = if rests { REST_FACTOR } else { 1 };
        // One that is in use from now on is polled at once, and not only when the next message comes.
        PushMessage { wake: update.wake || !rests, reply: Some(json!({ "throttle": factor }).to_string()), ..update }
    }
}

/// Returns whether a state message shows a printer at rest, neither in use nor heated nor still hot; `None` if the
/// message does not show it. `is_at_rest` is the answer for the message before.
fn is_resting(message: &Value, telemetry: Option<&Telemetry>, is_at_rest: bool) -> Option<bool> {
    let flags = message.get("current").or_else(|| message.get("history"))?.pointer("/state/flags")?;
    if IN_USE.iter().any(|flag| flags.get(flag) == Some(&Value::Bool(true))) {
        return Some(false);
    }
    let heat = telemetry.filter(|heat| heat.nozzle.is_some() || heat.bed.is_some())?;
    let is_heated = heat.heaters.each().any(|heater| heater.target().is_some_and(|tenths| tenths > 0));
    let hot_from = if is_at_rest { WARM_CELSIUS } else { COLD_CELSIUS };
    let is_hot = heat.nozzle.into_iter().chain(heat.bed).any(|celsius| celsius >= hot_from);
    Some(!is_heated && !is_hot)
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn state(flag: &str, temperatures: Value) -> Option<bool> {
        state_after(flag, temperatures, false)
    }

    /// Returns whether the printer is at rest, given whether it was at rest before.
    fn state_after(flag: &str, temperatures: Value, is_at_rest: bool) -> Option<bool> {
        let mut flags = json!({"operational": true});
        flags[flag] = true.into();
        let temps = if temperatures.is_null() { json!([]) } else { json!([temperatures]) };
        let message = json!({"current": {"state": {"flags": flags}, "temps": temps}});
        let telemetry = StateFilter::default().read(&message).telemetry.unwrap();
        is_resting(&message, Some(&telemetry), is_at_rest)
    }

    #[test]
    fn noise_around_one_temperature_does_not_change_the_pace_again_and_again() {
        let at = |actual: f64, is_at_rest| {
            let heat = json!({"tool0": {"actual": actual, "target": 0.0}});
            state_after("ready", heat, is_at_rest)
        };
        assert_eq!([44.9, 45.1, 49.9, 50.1].map(|actual| at(actual, false)), [true, false, false, false].map(Some));
        assert_eq!([44.9, 45.1, 49.9, 50.1].map(|actual| at(actual, true)), [true, true, true, false].map(Some));
    }

    #[test]
    fn a_printer_is_at_rest_while_it_is_ready_and_cold() {
        let heat = |actual: f64, target: f64| json!({"tool0": {"actual": actual, "target": target}});
        assert_eq!(state("ready", heat(21.0, 0.0)), Some(true));
        assert_eq!(state("ready", heat(21.0, 200.0)), Some(false), "it is heated");
        assert_eq!(state("ready", heat(120.0, 0.0)), Some(false), "it is hot");
        assert_eq!(state("ready", Value::Null), None, "it tells no temperatures each time");
        assert_eq!(state("paused", Value::Null), Some(false));
        assert_eq!(is_resting(&json!({"event": {"type": "PrintDone"}}), None, false), None);
    }
}
