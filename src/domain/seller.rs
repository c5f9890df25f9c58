//! Shop details that are required to issue an invoice. A numbered invoice is frozen, so an invoice issued without the
//! seller would remain incorrect permanently.

use std::fmt;

use crate::attention_flag::AttentionFlag;
use crate::country::country_name;
use crate::notation;
use crate::rules::{InvoiceRules, Rules};
use words::Language;
use words::staff::setup_fields as texts;

/// Order flag and error code for an invoice that is on hold until the seller's details are configured.
pub const SELLER_INCOMPLETE: &str = AttentionFlag::SellerIncomplete.word();

/// Seller detail that invoices require but the settings lack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SellerGap {
    /// `invoices.seller_name` is missing.
    Name,
    /// `invoices.seller_line1` is missing.
    Street,
    /// `invoices.seller_city` is missing.
    City,
    /// `invoices.seller_country` is missing or not an ISO 3166-1 code.
    Country,
    /// `invoices.seller_vat_id` does not begin with a country code, as EN 16931 requires (BR-CO-09).
    VatId,
    /// Tax is charged, but neither `invoices.seller_vat_id` nor `invoices.seller_tax_number` is set.
    TaxNumber,
}

impl fmt::Display for SellerGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "name",
            Self::Street => "street and number",
            Self::City => "city",
            Self::Country => "country",
            Self::VatId => "VAT ID with its country prefix",
            Self::TaxNumber => "VAT ID or tax number",
        })
    }
}

impl InvoiceRules {
    /// Returns the seller details that an invoice lacks, in letterhead order; empty if it can be issued. `taxed` is
    /// `true` if the invoice charges tax, which requires a number issued by the tax office.
    pub fn seller_gaps(&self, taxed: bool) -> Vec<SellerGap> {
        let seller = &self.seller;
        let address = seller.address.as_ref();
        let lacks = |text: Option<&str>| text.is_none_or(|text| text.trim().is_empty());
        let gaps = [
            (SellerGap::Name, lacks(Some(&seller.name))),
            (SellerGap::Street, lacks(address.map(|address| address.line1.as_str()))),
            (SellerGap::City, lacks(address.map(|address| address.city.as_str()))),
            (SellerGap::Country, address.is_none_or(|address| country_name(&address.country).is_none())),
            (SellerGap::VatId, seller.other_id().is_some()),
            (SellerGap::TaxNumber, taxed && seller.vat_id.is_none() && seller.tax_number.is_none()),
        ];
        gaps.into_iter().filter_map(|(gap, holds)| holds.then_some(gap)).collect()
    }
}

impl Rules {
    /// Returns the seller details that the shop's invoices lack, assuming that tax is charged if any destination is
    /// taxed.
    pub fn seller_gaps(&self) -> Vec<SellerGap> {
        self.invoices.seller_gaps(self.tax_rates.iter().any(|rate| rate.bps > 0))
    }
}

/// Returns a sentence that names the missing details, in the language of the reader.
pub fn missing_details(language: Language, gaps: &[SellerGap]) -> String {
    let name = |gap: &SellerGap| match gap {
        SellerGap::Name => texts::gap_name(language),
        SellerGap::Street => texts::gap_street(language),
        SellerGap::City => texts::gap_city(language),
        SellerGap::Country => texts::gap_country(language),
        SellerGap::VatId => texts::gap_vat_id(language),
        SellerGap::TaxNumber => texts::gap_tax_number(language),
    };
    let names: Vec<String> = gaps.iter().map(name).collect();
    texts::seller_gaps(language, &notation::list(language, &names))
}

/// Returns instructions for adding the missing details, phrased as the end of a sentence.
pub fn gaps_in_words(gaps: &[SellerGap]) -> String {
    let names: Vec<String> = gaps.iter().map(SellerGap::to_string).collect();
    let names = match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    };
    format!(
        "invoices require the shop's {names}; add the missing details in setup under Commerce, then restart the \
         server"
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::rules::TaxRate;
    use crate::testing::{Bench, complete_seller};

    #[test]
    fn a_seller_is_complete_with_name_address_and_where_taxed_a_number() {
        let gaps = |change: fn(&mut InvoiceRules), taxed| {
            let mut rules = InvoiceRules { seller: complete_seller(), ..InvoiceRules::default() };
            change(&mut rules);
            rules.seller_gaps(taxed)
        };
        assert_eq!(gaps(|_| {}, true), []);
        assert_eq!(gaps(|rules| rules.seller.name = "  ".to_owned(), false), [SellerGap::Name]);
        let no_number: fn(&mut InvoiceRules) = |rules| (rules.seller.vat_id, rules.seller.tax_number) = (None, None);
        assert_eq!((gaps(no_number, false), gaps(no_number, true)), (vec![], vec![SellerGap::TaxNumber]));
        let nothing = InvoiceRules::default().seller_gaps(false);
        assert_eq!(nothing, [SellerGap::Name, SellerGap::Street, SellerGap::City, SellerGap::Country]);
        let abroad = gaps(|rules| rules.seller.address.as_mut().unwrap().country = "XX".to_owned(), false);
        assert_eq!(abroad, [SellerGap::Country], "no invoice can name a country that does not exist");
        assert_eq!(gaps(|rules| rules.seller.vat_id = Some("123".to_owned()), false), [SellerGap::VatId]);
    }

    #[test]
    fn gaps_are_listed_as_people_would() {
        assert!(gaps_in_words(&[SellerGap::City]).starts_with("invoices require the shop's city; "));
        let words = gaps_in_words(&[SellerGap::Name, SellerGap::Street, SellerGap::Country]);
        assert!(words.starts_with("invoices require the shop's name, street and number and country; "), "{words}");
        let sentence = |language| missing_details(language, &[SellerGap::Name, SellerGap::City, SellerGap::Country]);
        assert_eq!(sentence(Language::English), "Invoices require the shop's name, city and country.");
        let german = "Für Rechnungen fehlen noch Angaben zum Betrieb: Name, Ort und Land.";
        assert_eq!(sentence(Language::German), german);
    }

    #[test]
    fn each_missing_detail_is_named() {
        use SellerGap as G;
        let all = [G::Name, G::Street, G::City, G::Country, G::VatId, G::TaxNumber];
        assert_eq!(
            gaps_in_words(&all),
            "invoices require the shop's name, street and number, city, country, VAT ID with its country prefix and \
             VAT ID or tax number; add the missing details in setup under Commerce, then restart the server"
        );
        let sentences = Language::ALL.map(|language| all.map(|gap| missing_details(language, &[gap])));
        for sentences in sentences {
            let unique: std::collections::BTreeSet<&String> = sentences.iter().collect();
            assert_eq!(unique.len(), all.len(), "{sentences:?}");
        }
    }

    #[test]
    fn a_tax_number_is_required_once_a_destination_is_taxed() {
        let mut rules = Bench::new().rules;
        (rules.invoices.seller.vat_id, rules.invoices.seller.tax_number) = (None, None);
        assert_eq!(rules.seller_gaps(), []);
        for (bps, gaps) in [(0, vec![]), (1, vec![SellerGap::TaxNumber])] {
            rules.tax_rates.push(TaxRate { country: "DE".to_owned(), region: None, bps });
            assert_eq!(rules.seller_gaps(), gaps);
        }
        rules.invoices.seller.tax_number = Some("12/345".to_owned());
        assert_eq!(rules.seller_gaps(), []);
    }
}
