//! What a printed part costs the shop, and the price that follows: from weight and time to five classes of cost, from
//! their sum to a price.
//!
//! All of it is integer arithmetic in minor units. Each class is rounded half up once, over the whole line of a quote,
//! so the classes add up to the cost exactly. The rates come from the settings and are frozen with the quote that they
//! priced; what was printed is held against the same rates later. Not for prices of the catalogue, which people set.

#[cfg(test)]
pub(crate) mod tests;

use serde::{Deserialize, Serialize};

use crate::domain::amount::{Amount, MAX_AMOUNT};
use crate::domain::bounds::{MAX_CENTS, MAX_PRINT_SECONDS};

/// Seconds of an hour.
const HOUR_SECONDS: i128 = 3600;
/// Seconds of a minute.
const MINUTE_SECONDS: i128 = 60;
/// Basis points of the whole.
const WHOLE_BPS: i128 = 10_000;

/// What things cost the shop, and what it adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceRates {
    /// A kilogram of material whose own cost is not known, in minor units.
    pub material_cents_per_kg: i64,
    /// Milligrams of a cubic centimetre of material.
    pub density_mg_per_cm3: i64,
    /// How much of the volume of a part is printed, in basis points: walls and infill.
    pub fill_bps: i64,
    /// Cubic millimetres that are printed in an hour, pauses included.
    pub print_mm3_per_hour: i64,
    /// Seconds from the start of a print to its first line.
    pub heat_up_seconds: i64,
    /// What a machine takes while it prints, in watts.
    pub machine_watts: i64,
    /// A kilowatt hour, in minor units.
    pub energy_cents_per_kwh: i64,
    /// Wear of a machine in an hour of printing, in minor units.
    pub wear_cents_per_hour: i64,
    /// An hour of a person's work, in minor units.
    pub labour_cents_per_hour: i64,
    /// Minutes of work on a line, however many parts it has: the model is looked at, the print prepared.
    pub setup_minutes: i64,
    /// Minutes of work on each part: it is taken off and cleaned.
    pub handling_minutes: i64,
    /// Share of prints that fail, in basis points of all other costs.
    pub failure_bps: i64,
    /// What is added to the costs, in basis points of them.
    pub margin_bps: i64,
    /// Least price of a line, in minor units.
    pub minimum_cents: i64,
}

/// What it takes to make the parts of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintWork {
    /// Material of all parts together, in grams.
    pub grams: Amount,
    /// Time that machines print, in seconds.
    pub seconds: i64,
    /// Number of parts that are taken off a machine.
    pub parts: u32,
}

/// The five classes of what a line costs the shop, in minor units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Costs {
    /// What is used up of the material.
    pub material_cents: i64,
    /// Electricity.
    pub energy_cents: i64,
    /// Wear of machines.
    pub wear_cents: i64,
    /// Work of people.
    pub labour_cents: i64,
    /// The share of prints that fail.
    pub failure_cents: i64,
}

/// A price of a line, with what it is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Price {
    /// What the line costs the shop.
    pub costs: Costs,
    /// Price of one part in minor units.
    pub unit_cents: i64,
}

/// Half up; the divisor is above 0.
fn rounded(number: i128, divisor: i128) -> Option<i64> {
    i64::try_from((number + divisor / 2).div_euclid(divisor)).ok().filter(|cents| *cents <= MAX_CENTS)
}

/// Rounded up; the divisor is above 0.
fn raised(number: i128, divisor: i128) -> Option<i64> {
    i64::try_from((number + divisor - 1).div_euclid(divisor)).ok().filter(|cents| *cents <= MAX_CENTS)
}

impl PrintWork {
    /// Estimated from the volume of one part, in cubic millimetres; `None` when a machine cannot be meant.
    pub fn estimated(rates: &PriceRates, volume_mm3: i64, parts: u32) -> Option<Self> {
        let printed_x10k = i128::from(volume_mm3) * i128::from(rates.fill_bps);
        let milligrams = printed_x10k * i128::from(rates.density_mg_per_cm3);
        let milligrams = (milligrams + WHOLE_BPS * 500).div_euclid(WHOLE_BPS * 1000).max(1) * i128::from(parts);
        let per_hour = i128::from(rates.print_mm3_per_hour.max(1)) * WHOLE_BPS;
        let printing = (printed_x10k * HOUR_SECONDS + per_hour / 2).div_euclid(per_hour);
        let seconds = (printing + i128::from(rates.heat_up_seconds)) * i128::from(parts);
        Self::bounded(milligrams, seconds, parts)
    }

    /// As the G-code of one part says it; `None` when a machine cannot be meant.
    pub fn sliced(grams: Amount, seconds: i64, parts: u32) -> Option<Self> {
        Self::bounded(i128::from(grams.0) * i128::from(parts), i128::from(seconds) * i128::from(parts), parts)
    }

    fn bounded(milligrams: i128, seconds: i128, parts: u32) -> Option<Self> {
        let grams = i64::try_from(milligrams).ok().map(Amount).filter(|grams| *grams <= MAX_AMOUNT)?;
        // All parts of a line may take longer than one print may.
        let most = MAX_PRINT_SECONDS.saturating_mul(1_000_000);
        let seconds = i64::try_from(seconds).ok().filter(|seconds| (0..=most).contains(seconds))?;
        Some(Self { grams, seconds, parts })
    }
}

impl Costs {
    /// What such work costs. `material_cents_per_kg` is that of its own material, where it is known. `None` when a sum
    /// is too large.
    pub fn of(rates: &PriceRates, material_cents_per_kg: Option<i64>, work: &PrintWork) -> Option<Self> {
        let per_kg = i128::from(material_cents_per_kg.unwrap_or(rates.material_cents_per_kg));
        let seconds = i128::from(work.seconds);
        let material_cents = rounded(i128::from(work.grams.0) * per_kg, 1_000_000)?;
        let watt_seconds = seconds * i128::from(rates.machine_watts);
        let energy_cents = rounded(watt_seconds * i128::from(rates.energy_cents_per_kwh), 1000 * HOUR_SECONDS)?;
        let wear_cents = rounded(seconds * i128::from(rates.wear_cents_per_hour), HOUR_SECONDS)?;
        let minutes = i128::from(rates.setup_minutes) + i128::from(rates.handling_minutes) * i128::from(work.parts);
        let per_hour = i128::from(rates.labour_cents_per_hour);
        let labour_cents = rounded(minutes * per_hour, HOUR_SECONDS / MINUTE_SECONDS)?;
        let all = i128::from(material_cents) + i128::from(energy_cents + wear_cents) + i128::from(labour_cents);
        let failure_cents = rounded(all * i128::from(rates.failure_bps), WHOLE_BPS)?;
        Some(Self { material_cents, energy_cents, wear_cents, labour_cents, failure_cents })
    }

    /// Their sum in minor units.
    pub fn sum_cents(&self) -> i64 {
        let Self { material_cents, energy_cents, wear_cents, labour_cents, failure_cents } = *self;
        let all = [material_cents, energy_cents, wear_cents, labour_cents, failure_cents];
        all.into_iter().fold(0, i64::saturating_add)
    }
}

impl Price {
    /// The price of such work: the costs and the margin on them, at least the minimum, rounded up so that all parts
    /// together bring it in. `None` when it is too large.
    pub fn of(rates: &PriceRates, material_cents_per_kg: Option<i64>, work: &PrintWork) -> Option<Self> {
        let costs = Costs::of(rates, material_cents_per_kg, work)?;
        let with_margin = i128::from(costs.sum_cents()) * (WHOLE_BPS + i128::from(rates.margin_bps));
        let line_cents = raised(with_margin, WHOLE_BPS)?.max(rates.minimum_cents);
        let unit_cents = raised(i128::from(line_cents), i128::from(work.parts.max(1)))?;
        Some(Self { costs, unit_cents })
    }
}
