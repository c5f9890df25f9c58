//! Amounts of material with their units, as people read them.

use super::MaterialType;
use crate::amount::Amount;
use crate::notation::decimal;
use words::Language;

/// Returns the unit of a material's amounts: `mL` or `ml`. It is the same for every number.
pub fn unit(language: Language, kind: MaterialType) -> &'static str {
    match (language, kind) {
        (Language::English, kind) => kind.unit(),
        (Language::German, MaterialType::Filament) => "g",
        (Language::German, MaterialType::Resin) => "ml",
        (Language::German, MaterialType::LaserSheet | MaterialType::LaserConsumable) => "Stück",
    }
}

/// Formats an amount of material with its unit: `0.5 mL` or `0,5 ml`.
pub fn stock_amount(language: Language, amount: Amount, kind: MaterialType) -> String {
    format!("{} {}", decimal(language, amount), unit(language, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_material_are_written_as_in_each_language() {
        let both = |amount, kind| Language::ALL.map(|language| stock_amount(language, amount, kind));
        assert_eq!(both(Amount(1_500_500), MaterialType::Filament), ["1500.5 g", "1500,5 g"]);
        assert_eq!(both(Amount(-25), MaterialType::Resin), ["-0.025 mL", "-0,025 ml"]);
        assert_eq!(both(Amount::units(1), MaterialType::LaserSheet), ["1 sheet", "1 Stück"]);
        assert_eq!(both(Amount::ZERO, MaterialType::LaserConsumable), ["0 unit", "0 Stück"]);
    }
}
