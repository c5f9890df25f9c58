//! The seller in tests, as settings and as the rules represent it.

use printfloor::domain::address::Address;
use printfloor::domain::party::Party;

/// Settings with the seller that issues the invoices of test shops.
pub const SELLER: [(&str, &str); 6] = [
    ("PRINTFLOOR_INVOICES__SELLER_NAME", "Shop of Tests"),
    ("PRINTFLOOR_INVOICES__SELLER_LINE1", "Lindenstraße 12"),
    ("PRINTFLOOR_INVOICES__SELLER_POSTAL_CODE", "50674"),
    ("PRINTFLOOR_INVOICES__SELLER_CITY", "Köln"),
    ("PRINTFLOOR_INVOICES__SELLER_COUNTRY", "DE"),
    ("PRINTFLOOR_INVOICES__SELLER_VAT_ID", "DE123456789"),
];

/// Returns the same seller as the rules represent it.
pub fn seller() -> Party {
    let [name, line1, postal_code, city, country, vat_id] = SELLER.map(|(_, text)| text.to_owned());
    let address = Address { line1, line2: None, city, region: None, postal_code, country };
    Party { name, address: Some(address), vat_id: Some(vat_id), ..Party::default() }
}
