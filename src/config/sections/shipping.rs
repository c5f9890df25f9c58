//! Settings for shipping.

use serde::Deserialize;

use domain::tracking::TrackingPage;

/// `[shipping]`: shipping price charged to customers, and tracking pages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShippingConfig {
    /// Price per order, in the smallest unit of the order's currency.
    pub flat_cents: i64,
    /// Carriers, with their tracking pages.
    pub tracking: Vec<CarrierConfig>,
}

impl ShippingConfig {
    /// Returns the tracking pages in the form used by the domain rules.
    pub fn tracking_pages(&self) -> Vec<TrackingPage> {
        let page = |one: &CarrierConfig| TrackingPage { carrier: one.carrier.clone(), url: one.url.clone() };
        self.tracking.iter().map(page).collect()
    }
}

/// Carrier entry in `shipping.tracking`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarrierConfig {
    /// Name of the carrier, as specified in shipments.
    pub carrier: String,
    /// URL of the tracking page, with `{number}` in place of the tracking number.
    pub url: String,
}
