//! Settings of other systems of the shop, and of the search for printers.

use serde::Deserialize;

use super::Seconds;
use crate::config::values::Secret;

/// `[parts]`, `[workflow]`, `[farm_ui]`, `[failure_detection]`, `[smart_home]`: another system of the shop.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Its address; empty: none.
    pub url: String,
    /// What the server shows there; empty where nothing is asked for.
    pub token: Secret,
}

/// `[discovery]`: the search for printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discovery {
    /// Whether the local network is searched, and not this machine alone.
    pub local_network: bool,
    /// How long announcements are listened for.
    pub listen_seconds: Seconds,
}
