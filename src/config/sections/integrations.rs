//! Settings of the integrations: other systems of the shop that events, states and questions go to.

use serde::Deserialize;

use super::Seconds;
use crate::config::values::Secret;

/// `[integrations]`: what holds for each of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Integrations {
    /// Longest time of one call.
    pub request_timeout_seconds: Seconds,
    /// Pause after the failures that open the circuit, doubled with each further failure.
    pub retry_first_seconds: Seconds,
    /// Longest of these pauses.
    pub retry_longest_seconds: Seconds,
    /// Time between two looks at a system that nothing else is told or asked.
    pub check_interval_seconds: Seconds,
}

/// `[workflow]`: the workflow automation that events are sent to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// Address of its webhook; empty: none.
    pub url: String,
    /// What is shown to it; empty: nothing.
    pub token: Secret,
    /// Name of the header that carries the token.
    pub token_header: String,
    /// The events that are sent; empty: all that endpoints may subscribe to, and `LOW_STOCK`.
    pub events: Vec<String>,
}

/// `[smart_home]`: where the states of printers and shop are shown.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmartHome {
    /// Address of its HTTP interface; empty: none.
    pub url: String,
    /// Long-lived access token of an account there.
    pub token: Secret,
    /// Shortest time between two tellings of changed states.
    pub push_interval_seconds: Seconds,
    /// Address of the MQTT broker that it listens to; empty: none.
    pub mqtt_url: String,
    /// User name at the broker; empty: no sign-in.
    pub mqtt_user: String,
    /// Password at the broker.
    pub mqtt_password: Secret,
    /// What the topics of states begin with.
    pub mqtt_topic: String,
    /// What the topics of discovery begin with, as set there.
    pub mqtt_discovery_prefix: String,
}

impl SmartHome {
    /// Whether states go anywhere.
    pub fn is_on(&self) -> bool {
        !self.url.is_empty() || !self.mqtt_url.is_empty()
    }
}

/// `[failure_detection]`: the detector that is shown pictures of running prints.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureDetection {
    /// Address of the detector; empty: none.
    pub url: String,
    /// What is shown to it; empty: nothing.
    pub token: Secret,
    /// Time between two pictures of one print.
    pub look_interval_seconds: Seconds,
    /// Pictures of a print that are seen before anything is concluded.
    pub safe_frames: u32,
    /// Pictures in a row that must be above a threshold.
    pub frames_in_a_row: u32,
    /// Smoothed confidence from which people are told.
    pub alert_threshold: f64,
    /// Smoothed confidence from which the print is paused.
    pub pause_threshold: f64,
    /// Pause prints at all.
    pub pause: bool,
}

/// `[stock_sync]`: keeping stock in step with systems that count it besides us.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StockSync {
    /// Time between two looks at each system.
    pub interval_seconds: Seconds,
    /// How long a booking may be on its way after it was sent, before it counts as not booked.
    pub settle_seconds: Seconds,
}
