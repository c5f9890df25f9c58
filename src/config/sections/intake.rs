//! Settings for custom requests: price tables for custom parts.

use serde::Deserialize;

use domain::intake_prices::{IntakePrices, MAX_COLORS, PriceTable};

/// `[intake]`: price tables for custom parts. An estimate is the sum of the prices of the chosen options.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeConfig {
    /// Estimate validity, in days.
    pub valid_days: u32,
    /// Base prices by product type, such as a figurine or a relief, in the shop's currency.
    pub product_types: Vec<IntakePrice>,
    /// Prices by subject, such as a person or a pet.
    pub subjects: Vec<IntakePrice>,
    /// Prices by style.
    pub styles: Vec<IntakePrice>,
    /// Prices by size.
    pub sizes: Vec<IntakePrice>,
    /// Prices by the part's base.
    pub bases: Vec<IntakePrice>,
    /// Prices by number of colours, in cents: for one colour, for two, and so on.
    pub color_cents: Vec<i64>,
    /// Price for a UV-protective coating, in cents.
    pub uv_coating_cents: i64,
    /// Prices of optional extras.
    pub addons: Vec<IntakePrice>,
}

/// Entry in a price table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakePrice {
    /// ID of the option in requests.
    pub id: String,
    /// Price in the smallest unit of the shop's currency.
    pub cents: i64,
}

impl IntakeConfig {
    /// Returns the price tables, each with the name of its setting.
    pub fn tables(&self) -> [(&'static str, &[IntakePrice]); 6] {
        [
            ("product_types", &self.product_types),
            ("subjects", &self.subjects),
            ("styles", &self.styles),
            ("sizes", &self.sizes),
            ("bases", &self.bases),
            ("addons", &self.addons),
        ]
    }

    /// Returns the settings in the form used by the domain rules.
    pub fn prices(&self) -> IntakePrices {
        let table =
            |prices: &[IntakePrice]| PriceTable::new(prices.iter().map(|price| (price.id.clone(), price.cents)));
        let mut colors = [0; MAX_COLORS as usize];
        for (color, cents) in colors.iter_mut().zip(&self.color_cents) {
            *color = *cents;
        }
        IntakePrices {
            valid_days: self.valid_days.into(),
            product_types: table(&self.product_types),
            subjects: table(&self.subjects),
            styles: table(&self.styles),
            sizes: table(&self.sizes),
            bases: table(&self.bases),
            colors,
            uv_coating_cents: self.uv_coating_cents,
            addons: table(&self.addons),
        }
    }
}
