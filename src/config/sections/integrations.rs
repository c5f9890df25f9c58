//! Settings for integrations: external systems that receive events and states and respond to queries.

use serde::Deserialize;

use super::Seconds;
use crate::values::Secret;

/// `[integrations]`: settings for all integrations.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntegrationsConfig {
    /// Maximum duration of a call.
    pub request_timeout_seconds: Seconds,
    /// Initial pause after repeated failures have opened the circuit breaker; doubles with each further failure.
    pub retry_first_seconds: Seconds,
    /// Maximum pause after failures.
    pub retry_longest_seconds: Seconds,
    /// Interval between health checks of systems that the server does not communicate with otherwise.
    pub check_interval_seconds: Seconds,
}

/// `[workflow]`: workflow automation system that receives events.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowConfig {
    /// URL of the system's webhook; empty if not configured.
    pub url: String,
    /// Authentication token; empty if not required.
    pub token: Secret,
    /// Name of the header that carries the token.
    pub token_header: String,
    /// Events to send; if empty, all events to which endpoints can subscribe, and `LOW_STOCK`.
    pub events: Vec<String>,
}

/// `[smart_home]`: home automation system that shows the states of the printers and the shop.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmartHomeConfig {
    /// URL of the system's HTTP interface; empty if not configured.
    pub url: String,
    /// Long-lived access token for an account in the system.
    pub token: Secret,
    /// Minimum time between updates about changed states.
    pub push_interval_seconds: Seconds,
    /// Address of the MQTT broker that the home automation system subscribes to; empty if not configured.
    pub mqtt_url: String,
    /// User name for the broker; if empty, no authentication is used.
    pub mqtt_user: String,
    /// Password for the broker.
    pub mqtt_password: Secret,
    /// Prefix of the state topics.
    pub mqtt_topic: String,
    /// Prefix of the discovery topics, as configured in the home automation system.
    pub mqtt_discovery_prefix: String,
}

impl SmartHomeConfig {
    /// Returns whether states are sent to at least one destination.
    pub fn is_on(&self) -> bool {
        !self.url.is_empty() || !self.mqtt_url.is_empty()
    }
}

/// `[failure_detection]`: detector that examines pictures of running prints.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureDetectionConfig {
    /// Detector URL; empty if not configured.
    pub url: String,
    /// Authentication token; empty if not required.
    pub token: Secret,
    /// Interval between pictures of a print.
    pub look_interval_seconds: Seconds,
    /// Number of pictures of a print that must be examined before the detector can raise an alarm.
    pub safe_frames: u32,
    /// Number of consecutive pictures that must exceed a threshold.
    pub frames_in_a_row: u32,
    /// Smoothed confidence at which operators are alerted.
    pub alert_threshold: f64,
    /// Smoothed confidence at which the print is paused.
    pub pause_threshold: f64,
    /// Allows the detector to pause prints.
    pub pause: bool,
}

/// `[stock_sync]`: stock synchronisation with external stock systems.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StockSyncConfig {
    /// Interval between synchronisations with each system.
    pub interval_seconds: Seconds,
    /// Maximum delay after which a sent stock change can still take effect; after that, it is treated as not recorded.
    pub settle_seconds: Seconds,
}
