//! Settings of prices: what things cost the shop, what it adds, and how long a quote holds.

use serde::Deserialize;

use crate::domain::pricing::PriceRates;
use crate::domain::rules::PricingRules;
use crate::domain::sku::MachineType;

/// `[pricing]`: how models are priced, and how long quotes hold. Unsigned: no cost is below 0.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pricing {
    /// A kilogram of material whose own cost is not known.
    pub material_cents_per_kg: u32,
    /// Weight of a cubic centimetre of material.
    pub density_mg_per_cm3: u32,
    /// How much of the volume of a part is printed.
    pub fill_bps: u32,
    /// Cubic millimetres that are printed in an hour.
    pub print_mm3_per_hour: u32,
    /// Seconds from the start of a print to its first line.
    pub heat_up_seconds: u32,
    /// What a machine takes while it prints.
    pub machine_watts: u32,
    /// What a kilowatt hour costs.
    pub energy_cents_per_kwh: u32,
    /// Wear of a machine in an hour of printing.
    pub wear_cents_per_hour: u32,
    /// What an hour of work costs.
    pub labour_cents_per_hour: u32,
    /// Minutes of work on a line.
    pub setup_minutes: u32,
    /// Minutes of work on a part.
    pub handling_minutes: u32,
    /// Share of prints that fail.
    pub failure_bps: u32,
    /// What is added to the costs.
    pub margin_bps: u32,
    /// Least price of a line.
    pub minimum_cents: u32,
    /// Slicer profile of models for which none is named; empty: none.
    pub slicer_profile: String,
    /// Type of machine of models for which none is named.
    pub machine_type: MachineType,
    /// Largest uploaded model, in bytes.
    pub model_max_bytes: u64,
    /// Days from the sending of a quote until it expires.
    pub quote_valid_days: u32,
}

impl Pricing {
    /// The settings as the rules use them.
    pub fn rules(&self) -> PricingRules {
        let rates = PriceRates {
            material_cents_per_kg: self.material_cents_per_kg.into(),
            density_mg_per_cm3: self.density_mg_per_cm3.into(),
            fill_bps: self.fill_bps.into(),
            print_mm3_per_hour: self.print_mm3_per_hour.into(),
            heat_up_seconds: self.heat_up_seconds.into(),
            machine_watts: self.machine_watts.into(),
            energy_cents_per_kwh: self.energy_cents_per_kwh.into(),
            wear_cents_per_hour: self.wear_cents_per_hour.into(),
            labour_cents_per_hour: self.labour_cents_per_hour.into(),
            setup_minutes: self.setup_minutes.into(),
            handling_minutes: self.handling_minutes.into(),
            failure_bps: self.failure_bps.into(),
            margin_bps: self.margin_bps.into(),
            minimum_cents: self.minimum_cents.into(),
        };
        PricingRules { rates, valid_days: self.quote_valid_days.into() }
    }

    /// The slicer profile of models for which none is named.
    pub fn profile(&self) -> Option<String> {
        Some(self.slicer_profile.trim().to_owned()).filter(|profile| !profile.is_empty())
    }
}
