//! The settings of printers and of their cameras.

use serde::Deserialize;

use crate::config::values::{Days, Seconds, Secret};

/// `[printers]`: how the adapters speak to printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printers {
    /// Interval between status requests to a printer that does not report by itself.
    pub poll_interval_seconds: Seconds,
    /// Time without an answer after which a printer counts as offline.
    pub offline_seconds: Seconds,
    /// Longest time to open a connection.
    pub connect_timeout_seconds: Seconds,
    /// Longest time for a printer to answer a request; commands may take longer.
    pub request_timeout_seconds: Seconds,
    /// Uploads slower than this are given up.
    pub upload_min_bytes_per_second: u64,
    /// Longest time for a camera to answer a picture.
    pub camera_timeout_seconds: Seconds,
    /// Whether a picture is taken when a print ends.
    pub finish_photos: bool,
    /// How long these pictures are kept; 0: for ever.
    pub keep_finish_photos_days: Days,
    /// Address for `fw_rest` printers that were added without one.
    pub fw_rest_url: String,
    /// Key for `fw_rest` printers that were added without one.
    pub fw_rest_api_key: Secret,
}
