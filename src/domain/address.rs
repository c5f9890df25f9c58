//! Postal addresses for shipping and for invoices.

use serde::{Deserialize, Serialize};

/// Placeholder for the postal code of an address that has none.
pub const NO_POSTAL_CODE: &str = "-";

/// Postal address, with the same fields as an address in a customer profile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "the names of an address's fields are plain")]
pub struct Address {
    pub line1: String,
    #[serde(default)]
    pub line2: Option<String>,
    pub city: String,
    #[serde(default)]
    pub region: Option<String>,
    pub postal_code: String,
    /// Country as an ISO 3166-1 alpha-2 code. `region` is the ISO 3166-2 code without the country (`CA` for
    /// California), if known.
    pub country: String,
}
