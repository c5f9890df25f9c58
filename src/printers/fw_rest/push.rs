//! WebSocket client for Moonraker: identifies itself, subscribes to changes in the print's state, and subscribes again
//! after each firmware restart. While the printer is at rest, only state changes are subscribed to, because sensors are
//! never quite still and each of their values would be pushed.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::components::ComponentCache;
use super::spools::BookingCache;
use super::status::{self, FileFactsCache};
use crate::adapter::PrinterError;
use crate::push::{Dialect, PushMessage};
use domain::printer_status::COLD_CELSIUS;

/// JSON pointers to the fields that make up the printer's state.
const STATES: [&str; 4] = ["/webhooks/state", "/print_stats/state", "/print_stats/filename", "/toolhead/homed_axes"];

/// Moonraker's protocol for the push connection.
pub(super) struct MoonrakerDialect {
    api_key: Option<String>,
    facts: Arc<FileFactsCache>,
    spools: Arc<BookingCache>,
    components: Arc<ComponentCache>,
    rest: RestTracker,
    /// Last `PushSelection` sent.
    subscription: PushSelection,
}

impl MoonrakerDialect {
    pub(super) fn new(
        api_key: Option<String>,
        (facts, spools, components): (Arc<FileFactsCache>, Arc<BookingCache>, Arc<ComponentCache>),
    ) -> Self {
        let (rest, subscription) = (RestTracker::default(), PushSelection::default());
        Self { api_key, facts, spools, components, rest, subscription }
    }

    fn identify(&self) -> String {
        let mut params =
            json!({"client_name": "printfloor", "version": env!("CARGO_PKG_VERSION"), "type": "other", "url": ""});
        if let Some(key) = &self.api_key {
            params["api_key"] = json!(key);
        }
        json!({"jsonrpc": "2.0", "method": "server.connection.identify", "params": params, "id": 1}).to_string()
    }
}

/// Part of a printer's values whose changes are pushed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum PushSelection {
    /// State, progress and temperatures; the latter two are pushed up to four times a second.
    #[default]
    Everything,
    /// State, and the temperatures that the heaters are set to.
    States,
}

impl PushSelection {
    /// Builds the message, which replaces the previous subscription.
    fn message(self) -> String {
        let objects = match self {
            Self::Everything => json!({
                "webhooks": ["state"],
                "print_stats": ["state", "filename", "filament_used"],
                "virtual_sdcard": ["progress", "file_position"],
                "extruder": ["temperature", "target"],
                "heater_bed": ["temperature", "target"],
                "toolhead": ["homed_axes"],
            }),
            Self::States => json!({
                "webhooks": ["state"],
                "print_stats": ["state", "filename"],
                "extruder": ["target"],
                "heater_bed": ["target"],
                "toolhead": ["homed_axes"],
            }),
        };
        json!({"jsonrpc": "2.0", "method": "printer.objects.subscribe", "params": {"objects": objects}, "id": 2})
            .to_string()
    }
}

/// Values that show whether a printer is at rest, as last reported.
#[derive(Debug, Default)]
struct RestTracker {
    /// `true` once all values are known.
    is_complete: bool,
    prints: bool,
    /// Temperatures that nozzle and bed are set to, and those measured, in degrees Celsius.
    heats: [[f64; 2]; 2],
}

impl RestTracker {
    /// Updates the values with those in `changed`.
    fn note(&mut self, changed: &Value) {
        if let Some(state) = changed.pointer("/print_stats/state").and_then(Value::as_str) {
            self.prints = matches!(state, "printing" | "paused");
        }
        for (heater, heats) in ["extruder", "heater_bed"].into_iter().zip(&mut self.heats) {
            for (field, celsius) in ["target", "temperature"].into_iter().zip(heats) {
                let reported = changed.get(heater).and_then(|heater| heater.get(field)).and_then(Value::as_f64);
                *celsius = reported.unwrap_or(*celsius);
            }
        }
    }

    /// Returns the subscription that fits.
    fn subscription(&self) -> PushSelection {
        let is_warm = self.heats.iter().any(|[target, actual]| *target > 0.0 || *actual >= COLD_CELSIUS);
        if !self.is_complete || self.prints || is_warm { PushSelection::Everything } else { PushSelection::States }
    }
}

impl MoonrakerDialect {
    /// Returns the message that changes the subscription; `None` if the current one fits.
    fn adjust(&mut self) -> Option<String> {
        let fitting = self.rest.subscription();
        (std::mem::replace(&mut self.subscription, fitting) != fitting).then(|| fitting.message())
    }
}

#[async_trait]
impl Dialect for MoonrakerDialect {
    async fn greet(&mut self) -> Result<Vec<String>, PrinterError> {
        // The connection was lost, perhaps with a restart, after which Moonraker may have other components.
        self.components.doubt();
        (self.rest, self.subscription) = (RestTracker::default(), PushSelection::Everything);
        // Subscribing fails while the firmware is unavailable; `notify_klippy_ready` is then the time for it.
        Ok(vec![self.identify(), self.subscription.message()])
    }

    fn interpret(&mut self, text: &str) -> PushMessage {
        let message = bounded_json::read(text.as_bytes(), bounded_json::ANSWER).unwrap_or_default();
        match message.get("method").and_then(Value::as_str) {
            // The firmware forgot our subscription.
            Some("notify_klippy_ready") => {
                (self.rest, self.subscription) = (RestTracker::default(), PushSelection::Everything);
                PushMessage { wake: true, reply: Some(self.subscription.message()), ..PushMessage::default() }
            }
            Some("notify_status_update") => {
                let Some(changed) = message.pointer("/params/0") else { return PushMessage::default() };
                self.rest.note(changed);
                let reply = self.adjust();
                // One that is heated from now on is polled at once, because its temperatures are pushed only after
                // that.
                let is_heated = reply.is_some() && self.subscription == PushSelection::Everything;
                let telemetry = Some(status::telemetry(changed, self.facts.now()));
                let wake = is_heated || STATES.iter().any(|at| changed.pointer(at).is_some());
                PushMessage { wake, telemetry, reply, ..PushMessage::default() }
            }
            Some("notify_klippy_shutdown" | "notify_klippy_disconnected" | "notify_history_changed") => {
                PushMessage { wake: true, ..PushMessage::default() }
            }
            // Another spool is active, or Spoolman was lost or found.
            Some("notify_active_spool_set" | "notify_spoolman_status_changed") => {
                self.spools.doubt();
                PushMessage { wake: true, ..PushMessage::default() }
            }
            // The answer to a subscription is a snapshot, perhaps newer than the last poll.
            None if message.get("id").and_then(Value::as_i64) == Some(2) && message.get("result").is_some() => {
                if let Some(snapshot) = message.pointer("/result/status") {
                    self.rest.note(snapshot);
                    self.rest.is_complete = true;
                }
                PushMessage { wake: true, subscribed: true, reply: self.adjust(), ..PushMessage::default() }
            }
            _ => PushMessage::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn dialect() -> MoonrakerDialect {
        MoonrakerDialect::new(None, Default::default())
    }

    fn snapshot(state: &str, target: f64, temperature: f64) -> String {
        let status = json!({
            "print_stats": {"state": state}, "extruder": {"target": target, "temperature": temperature},
            "heater_bed": {"target": 0.0, "temperature": 21.0},
        });
        json!({"jsonrpc": "2.0", "result": {"eventtime": 1.0, "status": status}, "id": 2}).to_string()
    }

    fn update(changed: &Value) -> String {
        json!({"jsonrpc": "2.0", "method": "notify_status_update", "params": [changed, 1.0]}).to_string()
    }

    #[test]
    fn temperatures_are_pushed_only_while_they_change_for_a_reason() {
        let mut dialect = dialect();
        let rests = dialect.interpret(&snapshot("standby", 0.0, 22.0));
        assert!(rests.wake && rests.subscribed);
        let fewer = rests.reply.unwrap();
        assert!(!fewer.contains("temperature") && fewer.contains("target"), "{fewer}");
        // The answer to the smaller subscription changes nothing.
        assert_eq!(dialect.interpret(&snapshot("standby", 0.0, 22.0)).reply, None);
        let heated = dialect.interpret(&update(&json!({"extruder": {"target": 210.0}})));
        assert!(heated.wake, "what it measures is not pushed yet");
        assert!(heated.reply.unwrap().contains("temperature"));
        let warms = dialect.interpret(&update(&json!({"extruder": {"temperature": 60.0}})));
        assert!(!warms.wake && warms.reply.is_none() && warms.telemetry.is_some());
        let off = dialect.interpret(&update(&json!({"extruder": {"target": 0.0}})));
        assert_eq!(off.reply, None, "it cools down");
        let cold = dialect.interpret(&update(&json!({"extruder": {"temperature": 40.0}})));
        assert!(cold.reply.unwrap().contains("printer.objects.subscribe"));
    }

    #[test]
    fn whatever_prints_is_pushed_as_a_whole() {
        let mut dialect = dialect();
        assert_eq!(dialect.interpret(&snapshot("paused", 0.0, 22.0)).reply, None);
        assert!(dialect.interpret(&update(&json!({"print_stats": {"state": "complete"}}))).reply.is_some());
        let again = dialect.interpret(&update(&json!({"print_stats": {"state": "printing"}})));
        assert!(again.wake && again.reply.unwrap().contains("virtual_sdcard"));
    }
}
