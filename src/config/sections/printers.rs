//! Settings for printers and their cameras.

use serde::Deserialize;

use crate::values::{Days, Seconds, Secret};

/// `[printers]`: timeouts and intervals of the printer adapters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintersConfig {
    /// Interval between status requests to a printer that does not push its status.
    pub poll_interval_seconds: Seconds,
    /// Time without a response after which a printer is considered offline.
    pub offline_seconds: Seconds,
    /// Connection timeout.
    pub connect_timeout_seconds: Seconds,
    /// Maximum time for a printer to respond to a request; commands may take longer.
    pub request_timeout_seconds: Seconds,
    /// Minimum upload rate, in bytes per second; slower uploads are aborted.
    pub upload_min_bytes_per_second: u64,
    /// Maximum time for a camera to return a picture.
    pub camera_timeout_seconds: Seconds,
    /// Takes a picture when a print ends.
    pub finish_photos: bool,
    /// Retention period for pictures taken when a print ends; 0 for unlimited.
    pub keep_finish_photos_days: Days,
    /// Address used for `fw_rest` printers that were added without one.
    pub fw_rest_url: String,
    /// Key used for `fw_rest` printers that were added without one.
    pub fw_rest_api_key: Secret,
}
