//! Cost of a material as people state it: of a kilogram, a litre, a sheet or a unit, in the currency's unit. It is
//! stored as the cost of one gram, millilitre, sheet or unit, in thousandths of the currency's minor unit.

use crate::amount::Amount;
use crate::currency;
use crate::material::MaterialType;
use crate::notation;
use crate::typed_amount::{self, TypedAmountError};
use words::Language;

/// Thousandths of one minor unit.
const THOUSANDTHS_PER_MINOR_UNIT: i64 = 1000;

impl MaterialType {
    /// Returns the quantity whose cost people state, as a noun.
    pub const fn priced_quantity(self) -> &'static str {
        match self {
            Self::Filament => "kilogram",
            Self::Resin => "litre",
            Self::LaserSheet => "sheet",
            Self::LaserConsumable => "unit",
        }
    }

    /// Returns the stored cost, in thousandths, for each minor unit of the cost that people state.
    const fn thousandths_per_minor_unit(self) -> i64 {
        match self {
            // One minor unit for a thousand grams is a thousandth for one of them.
            Self::Filament | Self::Resin => 1,
            Self::LaserSheet | Self::LaserConsumable => THOUSANDTHS_PER_MINOR_UNIT,
        }
    }
}

/// Parses the cost of a kilogram, a litre, a sheet or a unit.
pub fn parse(text: &str, kind: MaterialType, of: &str) -> Result<Amount, TypedAmountError> {
    Ok(Amount(typed_amount::parse(text, of)?.saturating_mul(kind.thousandths_per_minor_unit())))
}

/// Formats a cost as it is typed: `25.00`. A cost that [`parse`] cannot state has further decimals.
pub fn plain(cost: Amount, kind: MaterialType, of: &str) -> String {
    let per = kind.thousandths_per_minor_unit();
    let text = currency::plain(cost.0 / per, of);
    match cost.0 % per {
        0 => text,
        rest => {
            let sign = if cost.0 < 0 && !text.starts_with('-') { "-" } else { "" };
            let point = if currency::has_decimals(of) { "" } else { "." };
            let rest = format!("{:03}", rest.unsigned_abs());
            format!("{sign}{text}{point}{}", rest.trim_end_matches('0'))
        }
    }
}

/// Formats a cost for display, with the currency: `€1,025.00` or `1.025,00 €`.
pub fn format_cost(language: Language, cost: Amount, kind: MaterialType, of: &str) -> String {
    let per = kind.thousandths_per_minor_unit();
    if cost.0 % per == 0 {
        return notation::amount(language, cost.0 / per, of);
    }
    notation::with_currency(language, &notation::decimal(language, plain(cost, kind, of)), of)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bounds::MAX_CENTS;
    use crate::material::MaterialType::{Filament, LaserConsumable, LaserSheet, Resin};

    #[test]
    fn costs_are_typed_as_people_write_them() {
        assert_eq!(parse("25,00", Filament, "eur"), Ok(Amount(2_500)), "2.5 cents for a gram");
        assert_eq!(parse("€ 40", Resin, "eur"), Ok(Amount(4_000)));
        assert_eq!(parse("2.50", LaserSheet, "usd"), Ok(Amount::units(250)));
        assert_eq!(parse("3000", Filament, "jpy"), Ok(Amount::units(3)));
        assert_eq!(parse("much", LaserSheet, "usd"), Err(TypedAmountError::Malformed));
        assert_eq!(parse("2.505", LaserSheet, "usd"), Err(TypedAmountError::Ambiguous));
    }

    #[test]
    fn costs_below_a_minor_unit_keep_their_decimals() {
        assert_eq!(plain(Amount(2_500), Filament, "eur"), "25.00");
        assert_eq!(plain(Amount(2_500), LaserSheet, "eur"), "0.025");
        assert_eq!(plain(Amount(250_050), LaserConsumable, "eur"), "2.5005");
        assert_eq!(plain(Amount(2_500), LaserSheet, "jpy"), "2.5");
        assert_eq!(plain(Amount(-500), LaserSheet, "jpy"), "-0.5");
        let both = |cost, kind| Language::ALL.map(|language| format_cost(language, cost, kind, "usd"));
        assert_eq!(both(Amount(102_500_000), LaserSheet), ["$1,025.00", "1.025,00 USD"]);
        assert_eq!(both(Amount(2_500), LaserSheet), ["$0.025", "0,025 USD"]);
        assert_eq!(both(Amount(2_500), Filament), ["$25.00", "25,00 USD"]);
        let euros = Language::ALL.map(|language| format_cost(language, Amount(-2_500), LaserSheet, "eur"));
        assert_eq!(euros, ["-€0.025", "-0,025\u{a0}€"]);
    }

    proptest! {
        #[test]
        fn what_is_typed_reads_back(
            cents in 0..=MAX_CENTS,
            kind in prop::sample::select(vec![Filament, Resin, LaserSheet, LaserConsumable]),
            of in prop::sample::select(vec!["eur", "jpy", "kwd"]),
        ) {
            let text = currency::plain(cents, of);
            let cost = parse(&text, kind, of);
            prop_assert_eq!(cost.map(|cost| plain(cost, kind, of)), Ok(text));
        }
    }

    #[test]
    fn a_cost_is_that_of_what_people_buy() {
        let quantities = [Filament, Resin, LaserSheet, LaserConsumable].map(MaterialType::priced_quantity);
        assert_eq!(quantities, ["kilogram", "litre", "sheet", "unit"]);
        assert_eq!(plain(Amount(-2_500), LaserSheet, "eur"), "-0.025");
        assert_eq!(plain(Amount(-102_500), LaserSheet, "eur"), "-1.025");
        assert_eq!(plain(Amount(-500), LaserSheet, "eur"), "-0.005", "no minor unit is left to have the sign");
        assert_eq!(plain(Amount(0), LaserSheet, "eur"), "0.00");
    }
}
