//! Seller and buyer of an invoice or credit note.

use super::super::canvas::seller_name;
use super::super::xml::Xml;
use super::category::TaxCategory;
use domain::address::Address;
use domain::invoice::{IssuedDocument, Party};

/// Writes the seller (BG-4).
pub fn seller(xml: &mut Xml, document: &IssuedDocument) {
    let seller = &document.seller;
    xml.group("ram:SellerTradeParty", |xml| {
        // A seller must be identified somehow: without one for value added tax, by the number at the tax office.
        if seller.vat_id.is_none() {
            xml.text("ram:ID", seller.tax_number.as_deref().unwrap_or_else(|| seller_name(document)));
        }
        xml.text("ram:Name", seller_name(document));
        if seller.email.is_some() || seller.phone.is_some() {
            xml.group("ram:DefinedTradeContact", |xml| {
                xml.text("ram:PersonName", seller_name(document));
                xml.group("ram:TelephoneUniversalCommunication", |xml| {
                    xml.some("ram:CompleteNumber", seller.phone.as_deref());
                });
                xml.group("ram:EmailURIUniversalCommunication", |xml| {
                    xml.some("ram:URIID", seller.email.as_deref());
                });
            });
        }
        if let Some(own) = &seller.address {
            address(xml, own);
        }
        mailbox(xml, seller);
        registrations(xml, seller);
    });
}

/// Writes the buyer (BG-7). If the address is unknown, the seller's country is used.
pub fn buyer(xml: &mut Xml, document: &IssuedDocument) {
    let buyer = &document.content.buyer;
    xml.group("ram:BuyerTradeParty", |xml| {
        // Any number of theirs; as one for value added tax it would break a rule of the standard.
        xml.some("ram:ID", buyer.other_id());
        xml.text("ram:Name", name_of(buyer));
        match (&buyer.address, &document.seller.address) {
            (Some(own), _) => address(xml, own),
            (None, Some(seller)) => {
                xml.group("ram:PostalTradeAddress", |xml| xml.text("ram:CountryID", &seller.country));
            }
            (None, None) => {}
        }
        mailbox(xml, buyer);
        let vat_id = buyer.registered_id().filter(|_| !TaxCategory::outside(document));
        registrations(xml, &Party { tax_number: None, vat_id: vat_id.map(str::to_owned), ..buyer.clone() });
    });
}

/// Writes the place of delivery (BG-13), if it is known.
pub fn ship_to(xml: &mut Xml, document: &IssuedDocument) {
    if let Some(place) = &document.ship_to {
        xml.group("ram:ShipToTradeParty", |xml| {
            xml.text("ram:Name", name_of(&document.content.buyer));
            address(xml, place);
        });
    }
}

/// Returns the buyer's name or, if there is none, their email address, because a name is mandatory.
fn name_of(buyer: &Party) -> &str {
    let named = [Some(buyer.name.as_str()), buyer.email.as_deref()];
    named.into_iter().flatten().find(|name| !name.trim().is_empty()).unwrap_or("Customer")
}

fn address(xml: &mut Xml, address: &Address) {
    xml.group("ram:PostalTradeAddress", |xml| {
        xml.some("ram:PostcodeCode", Some(&address.postal_code));
        xml.some("ram:LineOne", Some(&address.line1));
        xml.some("ram:LineTwo", address.line2.as_deref());
        xml.some("ram:CityName", Some(&address.city));
        xml.some("ram:CountryID", Some(&address.country));
        xml.some("ram:CountrySubDivisionName", address.region.as_deref());
    });
}

fn mailbox(xml: &mut Xml, party: &Party) {
    if let Some(email) = party.email.as_deref().filter(|email| !email.is_empty()) {
        xml.group("ram:URIUniversalCommunication", |xml| xml.with("ram:URIID", ("schemeID", "EM"), email));
    }
}

/// Writes the tax registrations: `VA` for the VAT ID, `FC` for the local tax number.
fn registrations(xml: &mut Xml, party: &Party) {
    for (scheme, number) in [("FC", &party.tax_number), ("VA", &party.vat_id)] {
        if let Some(number) = number {
            xml.group("ram:SpecifiedTaxRegistration", |xml| xml.with("ram:ID", ("schemeID", scheme), number));
        }
    }
}
