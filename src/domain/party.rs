//! Seller and buyer as they appear on an invoice.

use serde::{Deserialize, Serialize};

use crate::address::Address;
use words::Language;

/// Country codes (ISO 3166-1) that a VAT ID may begin with, plus the special codes for Greece and Northern Ireland.
const VAT_COUNTRIES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY \
    BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH EL ER ES ET FI FJ \
    FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ \
    IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH \
    MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL \
    PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD \
    TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XI YE YT ZA ZM ZW";

/// Seller or buyer.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Party {
    /// Name of the company or person.
    pub name: String,
    /// Language of the documents and emails to a buyer.
    #[serde(skip_serializing_if = "Language::is_english")]
    pub language: Language,
    /// Postal address, if known.
    pub address: Option<Address>,
    /// VAT ID with country prefix (`DE123456789`). Customers can enter a different kind of tax number instead.
    pub vat_id: Option<String>,
    /// Tax number issued by the local tax office.
    pub tax_number: Option<String>,
    /// Email address for contact.
    pub email: Option<String>,
    /// Phone number for contact.
    pub phone: Option<String>,
    /// IBAN of the account that payments are made to; only for sellers.
    pub iban: Option<String>,
    /// BIC of the bank that holds the account; only for sellers.
    pub bic: Option<String>,
}

impl Party {
    /// Returns the VAT ID if it begins with a country code, as EN 16931 requires (BR-CO-09).
    pub fn registered_id(&self) -> Option<&str> {
        self.vat_id.as_deref().filter(|id| names_country(id))
    }

    /// Returns the number entered in place of a VAT ID; `None` if the entered number is a VAT ID.
    pub fn other_id(&self) -> Option<&str> {
        self.vat_id.as_deref().filter(|id| !names_country(id) && !id.trim().is_empty())
    }
}

fn names_country(id: &str) -> bool {
    id.get(..2).is_some_and(|begins| VAT_COUNTRIES.split(' ').any(|code| code == begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_for_value_added_tax_begins_with_a_country() {
        let both = |id: &str| {
            let party = Party { vat_id: Some(id.to_owned()), ..Party::default() };
            (party.registered_id().map(str::to_owned), party.other_id().map(str::to_owned))
        };
        for id in ["DE123456789", "EL123456783", "XI123456789", "ATU12345678", "ZW1"] {
            assert_eq!(both(id), (Some(id.to_owned()), None));
        }
        for id in ["12-3456789", "de123456789", "TAX 1", "D", "Ä1", " DE1", "D 1"] {
            assert_eq!(both(id), (None, Some(id.to_owned())), "{id:?}");
        }
        assert_eq!(both(" "), (None, None), "that is none");
        let codes: Vec<&str> = VAT_COUNTRIES.split(' ').collect();
        assert!(codes.iter().all(|code| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())));
        assert!(codes.is_sorted() && codes.len() > 240, "{}", codes.len());
        assert_eq!((Party::default().registered_id(), Party::default().other_id()), (None, None));
    }
}
