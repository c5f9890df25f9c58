//! Settings of the catalogue for customers.

use serde::Deserialize;

/// `[catalog]`: where the catalogue comes from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// `local`, or the word of a kind of storefront.
    pub provider: String,
    /// Address of the storefront.
    pub url: String,
    /// Currency of its prices; empty: that of our orders.
    pub currency: String,
}
