//! Customer addresses in responses.

use api_derive::Response;
use serde::Serialize;

use domain::customer::{AddressKind, CustomerAddress};
use domain::id::Id;
use domain::order::Address;

/// Address of a customer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "ProfileAddress")]
pub struct AddressView {
    /// ID of the address, which stays the same when the list of addresses is replaced.
    id: Id,
    /// Purpose of the address.
    kind: AddressKind,
    /// Street and house number, or PO box.
    line1: String,
    /// Second address line.
    line2: Option<String>,
    /// City, town or village.
    city: String,
    /// State, province or canton.
    region: Option<String>,
    /// Postal code in the country's format.
    postal_code: String,
    /// Two-letter ISO 3166-1 country code.
    country: String,
    /// `true` if this is the default address of its kind.
    is_default: bool,
}

impl From<&CustomerAddress> for AddressView {
    fn from(stored: &CustomerAddress) -> Self {
        let CustomerAddress { id, kind, is_default, .. } = *stored;
        let Address { line1, line2, city, region, postal_code, country } = stored.address.clone();
        Self { id, kind, line1, line2, city, region, postal_code, country, is_default }
    }
}
