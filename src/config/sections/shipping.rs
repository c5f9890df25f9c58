//! Settings of what is sent to customers.

use serde::Deserialize;

use crate::domain::tracking::TrackingPage;

/// `[shipping]`: what sending an order costs the customer, and where it can be followed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shipping {
    /// Price per order, in the smallest unit of its currency.
    pub flat_cents: i64,
    /// Pages of carriers on which parcels can be followed.
    pub tracking: Vec<Tracking>,
}

impl Shipping {
    /// The pages as the rules use them.
    pub fn tracking_pages(&self) -> Vec<TrackingPage> {
        let page = |one: &Tracking| TrackingPage { carrier: one.carrier.clone(), url: one.url.clone() };
        self.tracking.iter().map(page).collect()
    }
}

/// An entry of `shipping.tracking`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tracking {
    /// Name of the carrier, as it is given with a shipment.
    pub carrier: String,
    /// Address of the page, with `{number}` for the tracking number.
    pub url: String,
}
