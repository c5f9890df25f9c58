//! Who is named on an invoice.

use serde::{Deserialize, Serialize};

use crate::domain::address::Address;

/// Who sells or buys.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Party {
    /// Name of the company or the person.
    pub name: String,
    /// Where it is; `None` where nobody said.
    pub address: Option<Address>,
    /// Identifier for value added tax, with the country in front (`DE123456789`).
    pub vat_id: Option<String>,
    /// Number at the local tax office.
    pub tax_number: Option<String>,
    /// Its e-mail address.
    pub email: Option<String>,
    /// Its telephone number.
    pub phone: Option<String>,
    /// Account to pay to, as IBAN; of sellers only.
    pub iban: Option<String>,
    /// Bank of that account; of sellers only.
    pub bic: Option<String>,
}
