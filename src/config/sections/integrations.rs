//! Settings of the integrations: other systems of the shop that receive events and states and answer queries.

use serde::Deserialize;

use super::Seconds;
use crate::values::Secret;

/// `[integrations]`: settings shared by all integrations.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntegrationsConfig {
    /// Maximum time of one call.
    pub request_timeout_seconds: Seconds,
    /// Pause after the failures that open the circuit breaker, doubled with each further failure.
    pub retry_first_seconds: Seconds,
    /// Maximum length of these pauses.
    pub retry_longest_seconds: Seconds,
    /// Interval between two health checks of a system with which the server does not otherwise communicate.
    pub check_interval_seconds: Seconds,
}

/// `[workflow]`: workflow automation that receives events.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowConfig {
    /// Address of its webhook; empty: none.
    pub url: String,
    /// Token to authenticate with; empty: none.
    pub token: Secret,
    /// Name of the header that carries the token.
    pub token_header: String,
    /// Events that are sent; empty: all to which endpoints may subscribe, and `LOW_STOCK`.
    pub events: Vec<String>,
}

/// `[smart_home]`: home automation that shows the states of the printers and the shop.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmartHomeConfig {
    /// Address of its HTTP interface; empty: none.
    pub url: String,
    /// Long-lived access token of an account there.
    pub token: Secret,
    /// Minimum time between two updates of changed states.
    pub push_interval_seconds: Seconds,
    /// Address of the MQTT broker to which the home automation subscribes; empty: none.
    pub mqtt_url: String,
    /// User name at the broker; empty: no authentication.
    pub mqtt_user: String,
    /// Password at the broker.
    pub mqtt_password: Secret,
    /// Prefix of the topics of states.
    pub mqtt_topic: String,
    /// Prefix of the discovery topics, as configured in the home automation.
    pub mqtt_discovery_prefix: String,
}

impl SmartHomeConfig {
    /// Returns whether states are sent anywhere.
    pub fn is_on(&self) -> bool {
        !self.url.is_empty() || !self.mqtt_url.is_empty()
    }
}

/// `[failure_detection]`: detector that receives pictures of running prints.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureDetectionConfig {
    /// Address of the detector; empty: none.
    pub url: String,
    /// Token to authenticate with; empty: none.
    pub token: Secret,
    /// Interval between two pictures of one print.
    pub look_interval_seconds: Seconds,
    /// Number of pictures of a print that are examined before the detector may raise an alarm.
    pub safe_frames: u32,
    /// Number of consecutive pictures that must be above a threshold.
    pub frames_in_a_row: u32,
    /// Smoothed confidence from which operators are alerted.
    pub alert_threshold: f64,
    /// Smoothed confidence from which the print is paused.
    pub pause_threshold: f64,
    /// Allows pausing prints.
    pub pause: bool,
}

/// `[stock_sync]`: synchronisation of stock with systems that also count it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StockSyncConfig {
    /// Interval between two synchronisations with each system.
    pub interval_seconds: Seconds,
    /// Time that a booking may be in flight after it was sent, before it counts as not booked.
    pub settle_seconds: Seconds,
}
