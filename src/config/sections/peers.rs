//! Settings of other systems in the shop, and of the search for printers.

use serde::Deserialize;

use super::Seconds;
use crate::values::Secret;

/// `[parts]`, `[spools]`, `[farm_ui]`: connection to another system in the shop.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerConfig {
    /// Address of the system; empty if there is none.
    pub url: String,
    /// Token for authentication; empty if none is required.
    pub token: Secret,
}

/// `[discovery]`: search for printers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscoveryConfig {
    /// Searches the local network, not only the server's own machine.
    pub local_network: bool,
    /// Time for which a search listens for announcements.
    pub listen_seconds: Seconds,
}
