//! Settings of custom requests: what custom pieces are estimated to cost.

use serde::Deserialize;

use crate::domain::intake_prices::{IntakePrices, MAX_COLORS, PriceTable};

/// `[intake]`: price tables of custom pieces. An estimate is the sum of what its choices cost.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intake {
    /// How long an estimate is good, in days.
    pub valid_days: u32,
    /// What is made.
    pub product_types: Vec<IntakePrice>,
    /// What it shows.
    pub subjects: Vec<IntakePrice>,
    /// In which manner.
    pub styles: Vec<IntakePrice>,
    /// How large.
    pub sizes: Vec<IntakePrice>,
    /// What it stands on.
    pub bases: Vec<IntakePrice>,
    /// What one colour costs, two, and so on.
    pub color_cents: Vec<i64>,
    /// What a coating against sunlight costs.
    pub uv_coating_cents: i64,
    /// Whatever else may be wanted.
    pub addons: Vec<IntakePrice>,
}

/// An entry of a price table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakePrice {
    /// The id that requests name.
    pub id: String,
    /// The price, in the smallest unit of the shop's currency.
    pub cents: i64,
}

impl Intake {
    /// The price tables by the names of their settings.
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

    /// The settings as the rules use them.
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
