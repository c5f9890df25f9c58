//! Estimated price of a custom piece: the sum of the prices of its choices in the shop's price tables.
//!
//! A choice missing from its table costs that table's default price and is flagged. Pages of the shop may thus offer a
//! choice before its price is set, without turning customers away. The estimate is not binding; the quote states the
//! price.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Name of the table entry that contains the price of all choices without their own entry.
pub const DEFAULT_ENTRY: &str = "default";

/// Maximum number of colours in one piece.
pub const MAX_COLORS: u8 = 4;

/// Prices for one type of choice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PriceTable {
    default_cents: i64,
    cents: BTreeMap<String, i64>,
}

impl PriceTable {
    /// Creates a table with the given entries. If [`DEFAULT_ENTRY`] is not among them, the default price is 0.
    pub fn new(entries: impl IntoIterator<Item = (String, i64)>) -> Self {
        let mut cents: BTreeMap<String, i64> = entries.into_iter().collect();
        Self { default_cents: cents.remove(DEFAULT_ENTRY).unwrap_or(0), cents }
    }

    /// Returns the price of a choice and whether the table has an entry for the choice.
    fn price(&self, id: &str) -> (i64, bool) {
        self.cents.get(id).map_or((self.default_cents, false), |cents| (*cents, true))
    }
}

/// Price tables for custom pieces, in minor units of the shop's currency.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IntakePrices {
    /// Validity of an estimate, in days.
    pub valid_days: i64,
    /// Base prices by product type.
    pub product_types: PriceTable,
    /// Prices by subject.
    pub subjects: PriceTable,
    /// Prices by style.
    pub styles: PriceTable,
    /// Prices by size.
    pub sizes: PriceTable,
    /// Prices by base.
    pub bases: PriceTable,
    /// Prices by number of colours, starting at one colour.
    pub colors: [i64; MAX_COLORS as usize],
    /// Price of a UV-resistant coating.
    pub uv_coating_cents: i64,
    /// Prices of optional add-ons.
    pub addons: PriceTable,
}

/// Customer's requirements for a custom piece.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PieceRequirements {
    /// Requested type of product, which determines the base price.
    pub product_type: String,
    /// Type of subject that the piece depicts.
    pub subject_type: String,
    /// Style of the piece.
    pub style_id: String,
    /// Size of the piece.
    pub size_id: String,
    /// Base on which the piece stands.
    pub base_option_id: String,
    /// Number of colours, from 1 to [`MAX_COLORS`].
    pub color_count: u8,
    /// `true` if the piece gets a UV-resistant coating.
    pub uv_coating: bool,
    /// Optional add-ons, each listed once.
    pub addon_ids: Vec<String>,
    /// Text to be inscribed on the piece.
    pub inscription: Option<String>,
    /// Additional remarks by the customer.
    pub notes: Option<String>,
}

/// Choice with its price.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EstimateItem {
    /// Request field that contains the choice, such as `styleId` or `addonIds.0`.
    pub path: String,
    /// Price of the choice in minor units.
    pub cents: i64,
    /// `true` if the price tables have an entry for the choice; otherwise its price is the table's default.
    #[serde(rename = "known")]
    pub is_listed: bool,
}

/// Estimated price of a custom piece, based on the price tables at the time of the estimate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Sum of the items, in minor units of the currency.
    pub total_cents: i64,
    /// Currency as a lowercase ISO 4217 code.
    pub currency: String,
    /// All choices with their prices.
    pub items: Vec<EstimateItem>,
}

impl Estimate {
    /// Returns the choices missing from the price tables.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter(|item| !item.is_listed).map(|item| item.path.as_str())
    }
}

impl IntakePrices {
    /// Estimates the price of a piece with the given requirements.
    pub fn estimate(&self, wishes: &PieceRequirements, currency: &str) -> Estimate {
        let tables = [
            ("productType", &self.product_types, &wishes.product_type),
            ("subjectType", &self.subjects, &wishes.subject_type),
            ("styleId", &self.styles, &wishes.style_id),
            ("sizeId", &self.sizes, &wishes.size_id),
            ("baseOptionId", &self.bases, &wishes.base_option_id),
        ];
        let chosen = tables.map(|(path, table, id)| (path.to_owned(), table.price(id)));
        let last = self.colors.len().saturating_sub(1);
        let colors = self.colors[usize::from(wishes.color_count.max(1) - 1).min(last)];
        let coating = wishes.uv_coating.then(|| ("uvCoating".to_owned(), (self.uv_coating_cents, true)));
        let addons = wishes.addon_ids.iter().enumerate();
        let addons = addons.map(|(n, id)| (format!("addonIds.{n}"), self.addons.price(id)));
        let all = chosen.into_iter().chain([("colorCount".to_owned(), (colors, true))]).chain(coating).chain(addons);
        let items: Vec<EstimateItem> =
            all.map(|(path, (cents, is_listed))| EstimateItem { path, cents, is_listed }).collect();
        let total_cents = items.iter().fold(0, |sum: i64, item| sum.saturating_add(item.cents));
        Estimate { total_cents, currency: currency.to_owned(), items }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn table(entries: &[(&str, i64)]) -> PriceTable {
        PriceTable::new(entries.iter().map(|(id, cents)| ((*id).to_owned(), *cents)))
    }

    /// Builds price tables whose prices can all be distinguished in a sum.
    pub(crate) fn prices() -> IntakePrices {
        IntakePrices {
            valid_days: 14,
            product_types: table(&[("default", 9_000), ("figurine", 10_000)]),
            subjects: table(&[("default", 100), ("pet", 200)]),
            styles: table(&[("default", 10), ("classic", 20)]),
            sizes: table(&[("default", 1_000), ("m", 2_000)]),
            bases: table(&[("default", 1), ("oak", 2)]),
            colors: [0, 100_000, 200_000, 300_000],
            uv_coating_cents: 1_000_000,
            addons: table(&[("default", 10_000_000), ("gift-box", 20_000_000)]),
        }
    }

    pub(crate) fn wishes() -> PieceRequirements {
        PieceRequirements {
            product_type: "figurine".to_owned(),
            subject_type: "pet".to_owned(),
            style_id: "classic".to_owned(),
            size_id: "m".to_owned(),
            base_option_id: "oak".to_owned(),
            color_count: 1,
            ..PieceRequirements::default()
        }
    }

    #[test]
    fn every_choice_has_its_price() {
        let all =
            PieceRequirements { color_count: 4, uv_coating: true, addon_ids: vec!["gift-box".to_owned()], ..wishes() };
        assert_eq!(prices().estimate(&wishes(), "usd").total_cents, 12_222);
        let estimate = prices().estimate(&all, "eur");
        assert_eq!((estimate.total_cents, estimate.currency.as_str()), (21_312_222, "eur"));
        assert_eq!(estimate.unknown().count(), 0);
    }

    #[test]
    fn what_is_in_no_table_takes_the_default_and_is_flagged() {
        let odd = PieceRequirements {
            style_id: "cubist".to_owned(),
            addon_ids: vec!["gift-box".to_owned(), "confetti".to_owned()],
            ..wishes()
        };
        let estimate = prices().estimate(&odd, "usd");
        assert_eq!(estimate.total_cents, 30_012_212);
        assert_eq!(estimate.unknown().collect::<Vec<_>>(), ["styleId", "addonIds.1"]);
        let literal = PieceRequirements { size_id: "default".to_owned(), ..wishes() };
        assert_eq!(prices().estimate(&literal, "usd").unknown().collect::<Vec<_>>(), ["sizeId"]);
    }

    proptest! {
        #[test]
        fn the_total_is_the_sum_and_every_choice_has_one_item(
            ids in prop::collection::vec("[a-z]{0,3}", 5), colors in 0_u8..=255, coated: bool,
            addons in prop::collection::vec("[a-z]{0,3}", 0..10), cents in 0_i64..=i64::MAX,
        ) {
            let mut prices = prices();
            prices.addons = PriceTable::new([("a".to_owned(), cents), (DEFAULT_ENTRY.to_owned(), 7)]);
            let wishes = PieceRequirements {
                product_type: ids[0].clone(), subject_type: ids[1].clone(), style_id: ids[2].clone(),
                size_id: ids[3].clone(), base_option_id: ids[4].clone(), color_count: colors, uv_coating: coated,
                addon_ids: addons.clone(), ..PieceRequirements::default()
            };
            let estimate = prices.estimate(&wishes, "usd");
            prop_assert_eq!(estimate.items.len(), 6 + usize::from(coated) + addons.len());
            let sum: i128 = estimate.items.iter().map(|item| i128::from(item.cents)).sum();
            prop_assert_eq!(i128::from(estimate.total_cents), sum.min(i128::from(i64::MAX)));
        }
    }
}
