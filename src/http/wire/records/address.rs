//! Postal addresses: parsing, validation and description.

use api_derive::Request;
use serde_json::{Value, json};

use crate::wire::{COUNTRY, Filled, FromJson, MaxChars, Member, Members, ONE_LINE, Request, ValuePath, read_object};
use domain::order::Address;
use domain::refusal::Faults;

/// Postal address, as sent in requests.
#[derive(Request)]
#[api(name = "Address", fields = Address, example = json!({
    "line1": "1 Main Street", "line2": null, "city": "Springfield", "region": "IL", "postalCode": "62701", "country": "US",
}))]
struct PostalAddress {
    /// Street and house number, or a post-office box.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    line1: String,
    /// Second address line, such as a flat or a company.
    #[api(ONE_LINE, MaxChars(200))]
    line2: Option<String>,
    /// City, town or village.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    city: String,
    /// State, province or canton, for countries that have them.
    #[api(ONE_LINE, MaxChars(100))]
    region: Option<String>,
    /// Postal code, in the country's format.
    #[api(Filled, ONE_LINE, MaxChars(20))]
    postal_code: String,
    /// ISO 3166-1 alpha-2 country code.
    #[api(COUNTRY)]
    country: String,
}

impl FromJson for Address {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        read_object(value, place, faults)
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

impl Request for Address {
    fn members() -> Vec<Member> {
        PostalAddress::members()
    }
    fn read(members: &mut Members<'_>) -> Option<Self> {
        let mut address = PostalAddress::read(members)?.into_fields();
        address.country.make_ascii_uppercase();
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ToSchema as _;
    use crate::wire::written::written;

    #[test]
    fn requests_are_read_as_the_schema_says() {
        assert_eq!(written(PostalAddress::schema()), written(Address::schema()));
        assert_eq!(PostalAddress::example(), Address::example());
    }
}
