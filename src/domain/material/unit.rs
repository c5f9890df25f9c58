//! Amounts of material with their units, as people read them.

use super::MaterialType;
use crate::amount::Amount;
use crate::notation::decimal;
use words::Language;

/// Number of thousandths in a gram or millilitre.
const WHOLE_UNIT: u64 = 1_000;
/// Number of thousandths of a unit in a tenth of the unit.
const UNIT_TENTH: u64 = 100;
/// Number of thousandths of a gram or millilitre in a tenth of a kilogram or litre.
const LARGE_TENTH: u64 = 100_000;
/// Number of thousandths of a gram or millilitre in a kilogram or litre.
const LARGE_UNIT: u64 = 1_000_000;
/// Smallest amount written in kilograms or litres, in thousandths of a gram or millilitre: 10 kg. Spools, and the
/// amounts that jobs take from them, are smaller, and are compared in grams.
const LEAST_LARGE: u64 = 10 * LARGE_UNIT;

/// Number of thousandths of a gram or millilitre in a hundredth of a kilogram or litre.
const LARGE_HUNDREDTH: u64 = 10_000;

/// Unit and decimals that all amounts in one column of a table have, so that they can be compared at a glance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnUnit {
    /// Grams or millilitres.
    Usual,
    /// Kilograms or litres, with one decimal.
    LargeTenths,
    /// Kilograms or litres, with two decimals.
    LargeHundredths,
}

impl ColumnUnit {
    /// Chooses the unit for amounts of materials of the given types: kilograms or litres as soon as one amount is a
    /// thousand of the usual unit or more, and with two decimals if one is below 10 kg. Those that are counted do not
    /// matter.
    pub fn of(amounts: impl IntoIterator<Item = (Amount, MaterialType)>) -> Self {
        let measured = |kind| large_unit(Language::English, kind).is_some();
        let amounts =
            amounts.into_iter().filter(|(_, kind)| measured(*kind)).map(|(amount, _)| amount.0.unsigned_abs());
        let (most, least) = amounts
            .filter(|thousandths| *thousandths > 0)
            .fold((0, u64::MAX), |(most, least), one| (one.max(most), one.min(least)));
        match most + WHOLE_UNIT / 2 {
            ..LARGE_UNIT => Self::Usual,
            _ if least < LEAST_LARGE => Self::LargeHundredths,
            _ => Self::LargeTenths,
        }
    }

    /// Formats an amount in the unit of its column: `0.84 kg`, `40.3 kg`, and `< 0.01 kg` for what is less.
    pub fn amount(self, language: Language, amount: Amount, kind: MaterialType) -> String {
        let large = large_unit(language, kind).filter(|_| self != Self::Usual);
        let Some(large) = large else { return stock_amount(language, amount, kind) };
        let (thousandths, sign) = (amount.0.unsigned_abs(), if amount.0 < 0 { "-" } else { "" });
        let number = match self {
            _ if thousandths == 0 => return format!("0 {large}"),
            Self::LargeHundredths if thousandths < LARGE_HUNDREDTH / 2 => {
                return format!("< {} {large}", decimal(language, "0.01"));
            }
            Self::LargeHundredths => {
                let hundredths = (thousandths + LARGE_HUNDREDTH / 2) / LARGE_HUNDREDTH;
                format!("{}.{:02}", hundredths / 100, hundredths % 100)
            }
            Self::LargeTenths | Self::Usual => {
                let tenths = (thousandths + LARGE_TENTH / 2) / LARGE_TENTH;
                format!("{}.{}", tenths / 10, tenths % 10)
            }
        };
        format!("{sign}{} {large}", decimal(language, number))
    }
}

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

/// Formats an amount of material with its unit, rounded to what people compare at a glance: `302.5 g`, `1250 g`, and
/// from 10 kg on `40.3 kg`. Amounts below one unit, and those that are counted, are not rounded.
pub fn stock_amount(language: Language, amount: Amount, kind: MaterialType) -> String {
    let thousandths = amount.0.unsigned_abs();
    let Some(large) = large_unit(language, kind).filter(|_| thousandths >= WHOLE_UNIT) else {
        return exact_stock_amount(language, amount, kind);
    };
    let sign = if amount.0 < 0 { "-" } else { "" };
    let (tenths, whole) = ((thousandths + UNIT_TENTH / 2) / UNIT_TENTH, (thousandths + WHOLE_UNIT / 2) / WHOLE_UNIT);
    if whole >= LEAST_LARGE / WHOLE_UNIT {
        let tenths = (thousandths + LARGE_TENTH / 2) / LARGE_TENTH;
        return format!("{sign}{} {large}", decimal(language, format_args!("{}.{}", tenths / 10, tenths % 10)));
    }
    let is_whole = tenths.is_multiple_of(10) || tenths >= LARGE_UNIT / UNIT_TENTH;
    let number = if is_whole { whole.to_string() } else { format!("{}.{}", tenths / 10, tenths % 10) };
    format!("{sign}{} {}", decimal(language, number), unit(language, kind))
}

/// Formats an amount of material with its unit and all of its decimals, for acts and sentences in which each gram
/// counts: `0.025 mL`, and from 10 kg on `40.342 kg`.
pub fn exact_stock_amount(language: Language, amount: Amount, kind: MaterialType) -> String {
    exact_large_amount(language, amount, kind)
        .unwrap_or_else(|| format!("{} {}", decimal(language, amount), unit(language, kind)))
}

/// Formats an amount of material in a column whose heading has the unit, with all of its decimals: `302.457`, and from
/// 10 kg on `40.342 kg`.
pub fn column_amount(language: Language, amount: Amount, kind: MaterialType) -> String {
    exact_large_amount(language, amount, kind).unwrap_or_else(|| decimal(language, amount))
}

/// Formats an amount in kilograms or litres, with all of its decimals; `None` if it is written in its usual unit.
fn exact_large_amount(language: Language, amount: Amount, kind: MaterialType) -> Option<String> {
    let thousandths = amount.0.unsigned_abs();
    let large = large_unit(language, kind).filter(|_| thousandths >= LEAST_LARGE)?;
    let sign = if amount.0 < 0 { "-" } else { "" };
    let digits = format!("{}.{:06}", thousandths / LARGE_UNIT, thousandths % LARGE_UNIT);
    let number = digits.trim_end_matches('0').trim_end_matches('.');
    Some(format!("{sign}{} {large}", decimal(language, number)))
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
    fn amounts_are_rounded_and_written_in_kilograms_or_litres_from_ten_thousand_on() {
        let of = |amount| stock_amount(Language::English, Amount(amount), MaterialType::Filament);
        for (amount, words) in [
            (0, "0 g"),
            (7_530, "7.5 g"),
            (10_000, "10 g"),
            (302_457, "302.5 g"),
            (999_949, "999.9 g"),
            (999_950, "1000 g"),
            (1_000_000, "1000 g"),
            (1_250_400, "1250 g"),
            (1_500_500, "1501 g"),
            (9_999_499, "9999 g"),
            (9_999_500, "10.0 kg"),
            (12_400_000, "12.4 kg"),
            (40_342_000, "40.3 kg"),
            (-40_351_000, "-40.4 kg"),
            (-302_457, "-302.5 g"),
            (-2_000_000, "-2000 g"),
        ] {
            assert_eq!(of(amount), words);
        }
        let both = |amount, kind| Language::ALL.map(|language| stock_amount(language, Amount(amount), kind));
        assert_eq!(both(40_342_000, MaterialType::Filament), ["40.3 kg", "40,3 kg"]);
        assert_eq!(both(1_250_000, MaterialType::Resin), ["1250 mL", "1250 ml"]);
        assert_eq!(both(12_500_000, MaterialType::Resin), ["12.5 L", "12,5 l"]);
        assert_eq!(both(12_500_500, MaterialType::LaserSheet), ["12500.5 sheet", "12500,5 Stück"]);
    }

    #[test]
    fn amounts_in_a_column_have_one_unit() {
        let column = |amounts: &[i64]| {
            let unit = ColumnUnit::of(amounts.iter().map(|amount| (Amount(*amount), MaterialType::Filament)));
            let words = |amount: &i64| unit.amount(Language::English, Amount(*amount), MaterialType::Filament);
            amounts.iter().map(words).collect::<Vec<String>>()
        };
        assert_eq!(column(&[837_000, 999_400, 0]), ["837 g", "999.4 g", "0 g"]);
        assert_eq!(column(&[837_000, 4_200_000, 0, 999_500]), ["0.84 kg", "4.20 kg", "0 kg", "1.00 kg"]);
        assert_eq!(column(&[999_500]), ["1.00 kg"]);
        assert_eq!(column(&[40_342_000, -40_351_000, 0]), ["40.3 kg", "-40.4 kg", "0 kg"]);
        assert_eq!(column(&[40_342_000, 4_999, 5_000]), ["40.34 kg", "< 0.01 kg", "0.01 kg"]);
        assert!(column(&[]).is_empty());
    }

    #[test]
    fn a_column_has_the_unit_of_each_material() {
        let (filament, resin) = ((Amount(12_000_000), MaterialType::Filament), (Amount(20_000), MaterialType::Resin));
        let sheets = (Amount::units(2_000), MaterialType::LaserSheet);
        let unit = ColumnUnit::of([filament, resin, sheets]);
        let words = |language, (amount, kind)| unit.amount(language, amount, kind);
        let all = |language| [filament, resin, sheets].map(|one| words(language, one));
        assert_eq!(all(Language::English), ["12.00 kg", "0.02 L", "2000 sheet"]);
        assert_eq!(all(Language::German), ["12,00 kg", "0,02 l", "2000 Stück"]);
        assert_eq!(ColumnUnit::of([sheets, (Amount(20_000), MaterialType::Resin)]), ColumnUnit::Usual);
    }

    #[test]
    fn exact_amounts_keep_each_decimal() {
        let both =
            |amount| Language::ALL.map(|language| exact_stock_amount(language, Amount(amount), MaterialType::Filament));
        assert_eq!(both(992_640), ["992.64 g", "992,64 g"]);
        assert_eq!(both(1_000_500), ["1000.5 g", "1000,5 g"]);
        assert_eq!(both(10_000_000), ["10 kg", "10 kg"]);
        assert_eq!(both(40_342_005), ["40.342005 kg", "40,342005 kg"]);
        assert_eq!(both(-10_500_000), ["-10.5 kg", "-10,5 kg"]);
    }

    #[test]
    fn amounts_in_a_column_have_a_unit_only_if_it_is_not_that_of_the_column() {
        let both = |amount, kind| Language::ALL.map(|language| column_amount(language, Amount(amount), kind));
        assert_eq!(both(992_640, MaterialType::Filament), ["992.64", "992,64"]);
        assert_eq!(both(-12_345_500, MaterialType::Filament), ["-12.3455 kg", "-12,3455 kg"]);
        assert_eq!(both(12_000_000, MaterialType::LaserSheet), ["12000", "12000"]);
    }
}
