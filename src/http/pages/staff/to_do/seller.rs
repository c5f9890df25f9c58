//! Details of the shop that its invoices lack.

use maud::html;

use super::TaskKind;
use super::row::TaskRow;
use crate::design::Icon;
use crate::sentences::sentence;
use config::Config;
use domain::notation;
use domain::seller::SellerGap;
use words::Language;
use words::staff::to_do;

/// Lists the task of entering the shop's name and address while invoices are waiting for them.
pub(super) fn seller(language: Language, config: &Config) -> TaskKind {
    let gaps = config.rules().seller_gaps();
    let row = || {
        TaskRow::new(Icon::CircleAlert, html! { b { (to_do::no_invoices(language)) } })
            .detail(html! { (sentence(&gaps_text(language, &gaps))) })
            .acts(html! { a class="btn primary" href="/setup/commerce" { (to_do::open_setup(language)) } })
    };
    let rows = (!gaps.is_empty()).then(row).into_iter().collect();
    TaskKind::new(language, "seller", to_do::kind_seller, rows)
}

/// Returns instructions for adding missing details of the seller, as [`domain::seller::gaps_in_words`] does in English.
fn gaps_text(language: Language, gaps: &[SellerGap]) -> String {
    let name = |gap: &SellerGap| match gap {
        SellerGap::Name => to_do::gap_name(language),
        SellerGap::Street => to_do::gap_street(language),
        SellerGap::City => to_do::gap_city(language),
        SellerGap::Country => to_do::gap_country(language),
        SellerGap::VatId => to_do::gap_vat_id(language),
        SellerGap::TaxNumber => to_do::gap_tax_number(language),
    };
    let names: Vec<String> = gaps.iter().map(name).collect();
    to_do::seller_gaps(language, &notation::list(language, &names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::seller::gaps_in_words;

    #[test]
    fn missing_details_of_the_seller_are_listed_as_the_server_does() {
        let all = [SellerGap::Name, SellerGap::Street, SellerGap::City, SellerGap::Country, SellerGap::VatId];
        for gaps in [&all[..1], &all[..2], &all[..], &[SellerGap::TaxNumber][..]] {
            assert_eq!(gaps_text(Language::English, gaps), gaps_in_words(gaps));
        }
        let german = gaps_text(Language::German, &all[2..4]);
        assert!(german.contains("Angaben zum Betrieb: Ort und Land; "), "{german}");
    }
}
