//! WebSocket client for Moonraker: identifies itself, subscribes to changes in the print's state, and subscribes again
//! after each firmware restart.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::components::ComponentCache;
use super::spools::BookingCache;
use super::status::{self, FileFactsCache};
use crate::adapter::PrinterError;
use crate::push::{Dialect, PushMessage};

/// JSON pointers to the fields that make up the printer's state.
const STATES: [&str; 4] = ["/webhooks/state", "/print_stats/state", "/print_stats/filename", "/toolhead/homed_axes"];

/// Moonraker's protocol for the push connection.
pub(super) struct MoonrakerDialect {
    api_key: Option<String>,
    facts: Arc<FileFactsCache>,
    spools: Arc<BookingCache>,
    components: Arc<ComponentCache>,
}

impl MoonrakerDialect {
    pub(super) fn new(
        api_key: Option<String>,
        (facts, spools, components): (Arc<FileFactsCache>, Arc<BookingCache>, Arc<ComponentCache>),
    ) -> Self {
        Self { api_key, facts, spools, components }
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

/// Builds the subscription to changes in state, print progress and heaters; the latter two are pushed up to four times
/// a second.
fn subscribe() -> String {
    let objects = json!({
        "webhooks": ["state"],
        "print_stats": ["state", "filename", "filament_used"],
        "virtual_sdcard": ["progress", "file_position"],
        "extruder": ["temperature", "target"],
        "heater_bed": ["temperature", "target"],
        "toolhead": ["homed_axes"],
    });
    json!({"jsonrpc": "2.0", "method": "printer.objects.subscribe", "params": {"objects": objects}, "id": 2})
        .to_string()
}

#[async_trait]
impl Dialect for MoonrakerDialect {
    async fn greet(&mut self) -> Result<Vec<String>, PrinterError> {
        // The connection was lost, perhaps with a restart, after which Moonraker may have other components.
        self.components.doubt();
        // Subscribing fails while the firmware is unavailable; `notify_klippy_ready` is then the time for it.
        Ok(vec![self.identify(), subscribe()])
    }

    fn interpret(&mut self, text: &str) -> PushMessage {
        let message = bounded_json::read(text.as_bytes(), bounded_json::ANSWER).unwrap_or_default();
        match message.get("method").and_then(Value::as_str) {
            // The firmware forgot our subscription.
            Some("notify_klippy_ready") => {
                PushMessage { wake: true, reply: Some(subscribe()), ..PushMessage::default() }
            }
            Some("notify_status_update") => {
                let Some(changed) = message.pointer("/params/0") else { return PushMessage::default() };
                let telemetry = Some(status::telemetry(changed, self.facts.now()));
                PushMessage {
                    wake: STATES.iter().any(|at| changed.pointer(at).is_some()),
                    telemetry,
                    ..PushMessage::default()
                }
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
                PushMessage { wake: true, subscribed: true, ..PushMessage::default() }
            }
            _ => PushMessage::default(),
        }
    }
}
