//! Cost and price of printed parts: five cost classes derived from weight and time, and a price derived from their sum.
//!
//! All calculations use integer arithmetic in minor units. Each class is rounded half up once, for the whole quote
//! line, so that the classes add up to exactly the cost. The rates come from the settings and are frozen in the quote;
//! actual costs are later calculated at the same rates. Catalogue prices are not calculated here; operators set them.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::amount::{Amount, MAX_AMOUNT};
use crate::bounds::{MAX_CENTS, MAX_PRINT_SECONDS};

/// Seconds in one hour.
const HOUR_SECONDS: i128 = 3600;
/// Seconds in one minute.
const MINUTE_SECONDS: i128 = 60;
/// 100 % in basis points.
const WHOLE_BPS: i128 = 10_000;

/// Rates and surcharges used to calculate costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceRates {
    /// Material cost per kilogram if the material has no cost of its own, in minor units.
    pub material_cents_per_kg: i64,
    /// Density of the material, in milligrams per cubic centimetre.
    pub density_mg_per_cm3: i64,
    /// Fraction of a part's volume that is printed (walls and infill), in basis points.
    pub fill_bps: i64,
    /// Volume printed per hour, in cubic millimetres, including pauses.
    pub print_mm3_per_hour: i64,
    /// Time from the start of a print to its first line, in seconds.
    pub heat_up_seconds: i64,
    /// Power consumption of a machine during printing, in watts.
    pub machine_watts: i64,
    /// Electricity price per kilowatt-hour, in minor units.
    pub energy_cents_per_kwh: i64,
    /// Machine wear per hour of printing, in minor units.
    pub wear_cents_per_hour: i64,
    /// Labour cost per hour, in minor units.
    pub labour_cents_per_hour: i64,
    /// Minutes of labour per line, regardless of the number of parts: inspecting the model and preparing the print.
    pub setup_minutes: i64,
    /// Minutes of labour per part: removing it from the bed and cleaning it.
    pub handling_minutes: i64,
    /// Surcharge for failed prints, in basis points of all other costs.
    pub failure_bps: i64,
    /// Margin on the costs, in basis points of the costs.
    pub margin_bps: i64,
    /// Minimum price per line, in minor units.
    pub minimum_cents: i64,
}

/// Resources required to make the parts of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintWork {
    /// Material for all parts, in grams.
    pub grams: Amount,
    /// Machine time for all parts, in seconds.
    pub seconds: i64,
    /// Number of parts, each of which must be removed from a machine.
    pub parts: u32,
}

/// The five cost classes of a line, in minor units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Costs {
    /// Cost of the material used.
    pub material_cents: i64,
    /// Cost of electricity.
    pub energy_cents: i64,
    /// Cost of machine wear.
    pub wear_cents: i64,
    /// Cost of labour.
    pub labour_cents: i64,
    /// Surcharge for failed prints.
    pub failure_cents: i64,
}

/// Price of a line and the underlying costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Price {
    /// The shop's costs for the line.
    pub costs: Costs,
    /// Price per part, in minor units.
    pub unit_cents: i64,
}

/// Divides and rounds half up; the divisor must be greater than 0. Returns `None` if the result exceeds the largest
/// amount of money.
fn rounded(number: i128, divisor: i128) -> Option<i64> {
    i64::try_from((number + divisor / 2).div_euclid(divisor)).ok().filter(|cents| *cents <= MAX_CENTS)
}

/// Divides and rounds up; the divisor must be greater than 0. Returns `None` if the result exceeds the largest amount
/// of money.
fn raised(number: i128, divisor: i128) -> Option<i64> {
    i64::try_from((number + divisor - 1).div_euclid(divisor)).ok().filter(|cents| *cents <= MAX_CENTS)
}

impl PrintWork {
    /// Estimates the work from the volume of one part, in cubic millimetres. Returns `None` if the weight or time
    /// exceeds its limit.
    pub fn estimated(rates: &PriceRates, volume_mm3: i64, parts: u32) -> Option<Self> {
        let printed_x10k = i128::from(volume_mm3) * i128::from(rates.fill_bps);
        let milligrams = printed_x10k * i128::from(rates.density_mg_per_cm3);
        let milligrams = (milligrams + WHOLE_BPS * 500).div_euclid(WHOLE_BPS * 1000).max(1) * i128::from(parts);
        let per_hour = i128::from(rates.print_mm3_per_hour.max(1)) * WHOLE_BPS;
        let printing = (printed_x10k * HOUR_SECONDS + per_hour / 2).div_euclid(per_hour);
        let seconds = (printing + i128::from(rates.heat_up_seconds)) * i128::from(parts);
        Self::bounded(milligrams, seconds, parts)
    }

    /// Calculates the work from the weight and print time in the G-code of one part. Returns `None` if either exceeds
    /// its limit.
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
    /// Calculates the costs of the given work. `material_cents_per_kg` is the material cost, if known. Returns `None`
    /// if a total is too large.
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

    /// Returns the total of all classes, in minor units.
    pub fn sum_cents(&self) -> i64 {
        let Self { material_cents, energy_cents, wear_cents, labour_cents, failure_cents } = *self;
        let all = [material_cents, energy_cents, wear_cents, labour_cents, failure_cents];
        all.into_iter().fold(0, i64::saturating_add)
    }
}

impl Price {
    /// Calculates the price of the given work: the costs plus the margin, or the minimum if it is higher, rounded up so
    /// that the prices of all parts add up to at least that amount. Returns `None` if the price is too large.
    pub fn of(rates: &PriceRates, material_cents_per_kg: Option<i64>, work: &PrintWork) -> Option<Self> {
        let costs = Costs::of(rates, material_cents_per_kg, work)?;
        let with_margin = i128::from(costs.sum_cents()) * (WHOLE_BPS + i128::from(rates.margin_bps));
        let line_cents = raised(with_margin, WHOLE_BPS)?.max(rates.minimum_cents);
        let unit_cents = raised(i128::from(line_cents), i128::from(work.parts.max(1)))?;
        Some(Self { costs, unit_cents })
    }
}
