//! Amounts of material with their units, as people read them.

use super::MaterialType;
use crate::amount::Amount;
use crate::notation::decimal;
use words::Language;

/// Number of thousandths of a unit in a tenth of the unit.
const UNIT_TENTH: u64 = 100;
/// Number of thousandths of a gram or millilitre in a tenth of a kilogram or litre.
const LARGE_TENTH: u64 = 100_000;
/// Number of thousandths of a gram or millilitre in a kilogram or litre.
const LARGE_UNIT: u64 = 1_000_000;

/// Returns the unit of a material's amounts: `mL` or `ml`. It is the same for every number.
pub fn unit(language: Language, kind: MaterialType) -> &'static str {
    match (language, kind) {
        (Language::English, kind) => kind.unit(),
        (Language::German, MaterialType::Filament) => "g",
        (Language::German, MaterialType::Resin) => "ml",
        (Language::German, MaterialType::LaserSheet | MaterialType::LaserConsumable) => "Stück",
    }
}

/// Returns the unit that is a thousand times the usual one; `None` for materials that are counted.
const fn large_unit(language: Language, kind: MaterialType) -> Option<&'static str> {
    match (language, kind) {
        (_, MaterialType::Filament) => Some("kg"),
        (Language::English, MaterialType::Resin) => Some("L"),
        (Language::German, MaterialType::Resin) => Some("l"),
        (_, MaterialType::LaserSheet | MaterialType::LaserConsumable) => None,
    }
}

/// Formats an amount of material with its unit, rounded to what people compare at a glance: `302.5 g`, and from 1000 g
/// on `40.3 kg`. Amounts below one unit, and those that are counted, are not rounded.
pub fn stock_amount(language: Language, amount: Amount, kind: MaterialType) -> String {
    let thousandths = amount.0.unsigned_abs();
    let Some(large) = large_unit(language, kind).filter(|_| thousandths >= LARGE_UNIT / 1000) else {
        return exact_stock_amount(language, amount, kind);
    };
    let sign = if amount.0 < 0 { "-" } else { "" };
    let tenths = (thousandths + UNIT_TENTH / 2) / UNIT_TENTH;
    if tenths >= LARGE_UNIT / UNIT_TENTH {
        let tenths = (thousandths + LARGE_TENTH / 2) / LARGE_TENTH;
        format!("{sign}{} {large}", decimal(language, format_args!("{}.{}", tenths / 10, tenths % 10)))
    } else {
        let fraction = if tenths.is_multiple_of(10) { String::new() } else { format!(".{}", tenths % 10) };
        let number = format!("{sign}{}{fraction}", tenths / 10);
        format!("{} {}", decimal(language, number), unit(language, kind))
    }
}

/// Formats an amount of material with its unit and all of its decimals, for acts and sentences in which each gram
/// counts: `0.025 mL`, and from 1000 g on `40.342 kg`.
pub fn exact_stock_amount(language: Language, amount: Amount, kind: MaterialType) -> String {
    let thousandths = amount.0.unsigned_abs();
    match large_unit(language, kind).filter(|_| thousandths >= LARGE_UNIT) {
        Some(large) => {
            let sign = if amount.0 < 0 { "-" } else { "" };
            let digits = format!("{}.{:06}", thousandths / LARGE_UNIT, thousandths % LARGE_UNIT);
            let number = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{sign}{} {large}", decimal(language, number))
        }
        None => format!("{} {}", decimal(language, amount), unit(language, kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_material_are_written_as_in_each_language() {
        let both = |amount, kind| Language::ALL.map(|language| stock_amount(language, amount, kind));
        assert_eq!(both(Amount(500_500), MaterialType::Filament), ["500.5 g", "500,5 g"]);
        assert_eq!(both(Amount(-25), MaterialType::Resin), ["-0.025 mL", "-0,025 ml"]);
        assert_eq!(both(Amount::units(1), MaterialType::LaserSheet), ["1 sheet", "1 Stück"]);
        assert_eq!(both(Amount::ZERO, MaterialType::LaserConsumable), ["0 unit", "0 Stück"]);
    }

    #[test]
    fn amounts_are_rounded_and_written_in_kilograms_or_litres_from_a_thousand_on() {
        let of = |amount| stock_amount(Language::English, Amount(amount), MaterialType::Filament);
        for (amount, words) in [
            (0, "0 g"),
            (7_530, "7.5 g"),
            (10_000, "10 g"),
            (302_457, "302.5 g"),
            (999_949, "999.9 g"),
            (999_950, "1.0 kg"),
            (1_000_000, "1.0 kg"),
            (1_500_500, "1.5 kg"),
            (40_342_000, "40.3 kg"),
            (-40_351_000, "-40.4 kg"),
            (-302_457, "-302.5 g"),
        ] {
            assert_eq!(of(amount), words);
        }
        let both = |amount, kind| Language::ALL.map(|language| stock_amount(language, Amount(amount), kind));
        assert_eq!(both(40_342_000, MaterialType::Filament), ["40.3 kg", "40,3 kg"]);
        assert_eq!(both(1_250_000, MaterialType::Resin), ["1.3 L", "1,3 l"]);
        assert_eq!(both(1_250_500, MaterialType::LaserSheet), ["1250.5 sheet", "1250,5 Stück"]);
    }

    #[test]
    fn exact_amounts_keep_each_decimal() {
        let both =
            |amount| Language::ALL.map(|language| exact_stock_amount(language, Amount(amount), MaterialType::Filament));
        assert_eq!(both(992_640), ["992.64 g", "992,64 g"]);
        assert_eq!(both(1_000_000), ["1 kg", "1 kg"]);
        assert_eq!(both(40_342_005), ["40.342005 kg", "40,342005 kg"]);
        assert_eq!(both(-10_500_000), ["-10.5 kg", "-10,5 kg"]);
    }
}
