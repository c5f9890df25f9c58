//! Settings of other systems of the shop, and of the search for printers.

use serde::Deserialize;

use super::Seconds;
use crate::values::Secret;

/// `[parts]`, `[spools]`, `[farm_ui]`: connection to another system of the shop.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerConfig {
    /// Address of the system; empty: none.
    pub url: String,
    /// Token to authenticate with; empty where none is required.
    pub token: Secret,
}

/// `[discovery]`: the search for printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscoveryConfig {
    /// Searches the local network, not only this machine.
    pub local_network: bool,
    /// Time for which the search listens for announcements.
    pub listen_seconds: Seconds,
}
