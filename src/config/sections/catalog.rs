//! Settings for the customer catalogue.

use serde::Deserialize;

/// `[catalog]`: source of the catalogue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogConfig {
    /// `local`, or the name of a storefront platform.
    pub provider: String,
    /// Storefront URL.
    pub url: String,
    /// Currency of the storefront prices; if empty, the currency of the shop's own orders.
    pub currency: String,
}
