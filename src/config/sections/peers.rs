//! Settings for external systems in the shop, and for printer discovery.

use serde::Deserialize;

use super::Seconds;
use crate::values::Secret;

/// `[parts]`, `[spools]`, `[farm_ui]`: connection to an external system in the shop.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerConfig {
    /// System URL; empty if not configured.
    pub url: String,
    /// Authentication token; empty if not required.
    pub token: Secret,
}

/// `[discovery]`: printer discovery.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscoveryConfig {
    /// Searches the local network as well as the server itself.
    pub local_network: bool,
    /// Time for which a search listens for announcements.
    pub listen_seconds: Seconds,
}
