//! Settings of shipping.

use serde::Deserialize;

use domain::tracking::TrackingPage;

/// `[shipping]`: shipping price for customers, and tracking pages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShippingConfig {
    /// Price per order, in the smallest unit of its currency.
    pub flat_cents: i64,
    /// Carriers' pages on which parcels can be tracked.
    pub tracking: Vec<CarrierConfig>,
}

impl ShippingConfig {
    /// Returns the pages in the form that the domain rules use.
    pub fn tracking_pages(&self) -> Vec<TrackingPage> {
        let page = |one: &CarrierConfig| TrackingPage { carrier: one.carrier.clone(), url: one.url.clone() };
        self.tracking.iter().map(page).collect()
    }
}

/// Entry of `shipping.tracking`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarrierConfig {
    /// Name of the carrier, as shipments specify it.
    pub carrier: String,
    /// URL of the page, with `{number}` for the tracking number.
    pub url: String,
}
