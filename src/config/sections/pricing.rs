//! Settings for prices: the shop's costs, margins and quote validity.

use serde::Deserialize;

use domain::pricing::PriceRates;
use domain::rules::PricingRules;
use domain::sku::MachineType;

/// `[pricing]`: model prices and quote validity. All values are unsigned, because no cost can be negative.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricingConfig {
    /// Price per kilogram, in cents, of a material that has no unit cost of its own.
    pub material_cents_per_kg: u32,
    /// Material weight per cubic centimetre, in milligrams.
    pub density_mg_per_cm3: u32,
    /// Fraction of a part's volume that is actually printed, in basis points.
    pub fill_bps: u32,
    /// Volume printed per hour, in cubic millimetres.
    pub print_mm3_per_hour: u32,
    /// Time from the start of a print to its first printed line, in seconds.
    pub heat_up_seconds: u32,
    /// Power consumption of a machine while printing, in watts.
    pub machine_watts: u32,
    /// Electricity price per kilowatt-hour, in cents.
    pub energy_cents_per_kwh: u32,
    /// Machine wear cost per printing hour, in cents.
    pub wear_cents_per_hour: u32,
    /// Labour cost per hour, in cents.
    pub labour_cents_per_hour: u32,
    /// Labour time per order line, in minutes.
    pub setup_minutes: u32,
    /// Labour time per part, in minutes.
    pub handling_minutes: u32,
    /// Fraction of prints that fail, in basis points.
    pub failure_bps: u32,
    /// Margin added to the costs, in basis points.
    pub margin_bps: u32,
    /// Minimum price per line, in cents.
    pub minimum_cents: u32,
    /// Slicer profile for models that specify none; empty if not configured.
    pub slicer_profile: String,
    /// Machine type for models that specify none.
    pub machine_type: MachineType,
    /// Maximum size of an uploaded model, in bytes.
    pub model_max_bytes: u64,
    /// Number of days after a quote is sent until it expires.
    pub quote_valid_days: u32,
}

impl PricingConfig {
    /// Returns the settings in the form used by the domain rules.
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

    /// Returns the slicer profile for models that specify none; `None` if it is not set.
    pub fn profile(&self) -> Option<String> {
        Some(self.slicer_profile.trim().to_owned()).filter(|profile| !profile.is_empty())
    }
}
