//! Settings of prices: costs of the shop, margins, and the validity of quotes.

use serde::Deserialize;

use domain::pricing::PriceRates;
use domain::rules::PricingRules;
use domain::sku::MachineType;

/// `[pricing]`: prices of models, and validity of quotes. Unsigned: no cost is below 0.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricingConfig {
    /// Price of a kilogram of material without its own unit cost, in cents.
    pub material_cents_per_kg: u32,
    /// Weight of a cubic centimetre of material, in milligrams.
    pub density_mg_per_cm3: u32,
    /// Share of a part's volume that is printed, in basis points.
    pub fill_bps: u32,
    /// Volume that is printed in an hour, in cubic millimetres.
    pub print_mm3_per_hour: u32,
    /// Seconds from the start of a print to its first line.
    pub heat_up_seconds: u32,
    /// Power that a machine consumes while it prints, in watts.
    pub machine_watts: u32,
    /// Price of a kilowatt hour, in cents.
    pub energy_cents_per_kwh: u32,
    /// Wear of a machine per hour of printing, in cents.
    pub wear_cents_per_hour: u32,
    /// Price of an hour of work, in cents.
    pub labour_cents_per_hour: u32,
    /// Minutes of work per line.
    pub setup_minutes: u32,
    /// Minutes of work per part.
    pub handling_minutes: u32,
    /// Share of prints that fail, in basis points.
    pub failure_bps: u32,
    /// Margin added to the costs, in basis points.
    pub margin_bps: u32,
    /// Minimum price of a line, in cents.
    pub minimum_cents: u32,
    /// Slicer profile of models that specify none; empty: none.
    pub slicer_profile: String,
    /// Machine type of models that specify none.
    pub machine_type: MachineType,
    /// Maximum size of an uploaded model, in bytes.
    pub model_max_bytes: u64,
    /// Days from the sending of a quote until it expires.
    pub quote_valid_days: u32,
}

impl PricingConfig {
    /// Returns the settings in the form that the domain rules use.
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

    /// Returns the slicer profile of models that specify none.
    pub fn profile(&self) -> Option<String> {
        Some(self.slicer_profile.trim().to_owned()).filter(|profile| !profile.is_empty())
    }
}
