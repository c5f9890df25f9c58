//! Amounts of material: integer thousandths internally, JSON numbers with at most three decimals externally.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Amount of material in thousandths of its unit (gram, millilitre, sheet or unit). Integers keep sums exact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Amount(pub i64);

/// Largest amount accepted from clients: 10^9 units, such as a thousand tonnes in grams.
pub const MAX_AMOUNT: Amount = Amount(1_000_000_000_000);

/// Largest amount that can be stored and read back exactly, including sums of accepted amounts. Sums saturate at this
/// value.
const MAX_STORED: i64 = 9_000_000_000_000_000;

impl Amount {
    /// Zero, the initial value of sums.
    pub const ZERO: Self = Self(0);

    /// Creates an amount of whole units.
    pub const fn units(units: i64) -> Self {
        Self(units * 1000)
    }

    /// Returns the given fraction of the amount, rounded half up; `fraction` is clamped to the range 0 to 1.
    pub fn part(self, fraction: f64) -> Self {
        if !fraction.is_finite() {
            return self;
        }
        Self((self.0 as f64 * fraction.clamp(0.0, 1.0)).round() as i64)
    }

    /// Returns the amount times `fraction`, clamped to [`MAX_AMOUNT`]. `fraction` may exceed 1 when a print used more
    /// than planned.
    pub(super) fn scaled(self, fraction: f64) -> Self {
        if !fraction.is_finite() || fraction < 0.0 {
            return self;
        }
        Self(((self.0 as f64 * fraction).round() as i64).min(MAX_AMOUNT.0))
    }

    /// Returns the amount in whole units, rounded half up, for email subjects and headings.
    pub(super) const fn rounded(self) -> i64 {
        (self.0 + 500).div_euclid(1000)
    }

    /// Parses a JSON number from a request; rejects more than three decimals or a value beyond ±[`MAX_AMOUNT`].
    pub fn from_number(number: &serde_json::Number) -> Result<Self, AmountError> {
        Self::read(number, MAX_AMOUNT.0)
    }

    fn read(number: &serde_json::Number, most: i64) -> Result<Self, AmountError> {
        if let Some(whole) = number.as_i64() {
            return whole
                .checked_mul(1000)
                .map(Self)
                .filter(|amount| amount.0.abs() <= most)
                .ok_or(AmountError::TooLarge);
        }
        let value = number.as_f64().ok_or(AmountError::TooLarge)?;
        let thousandths = value * 1000.0;
        if !thousandths.is_finite() || thousandths.abs() > most as f64 {
            return Err(AmountError::TooLarge);
        }
        let rounded = thousandths.round();
        // A number with three decimals is off by no more than a rounding error after the multiplication.
        if (thousandths - rounded).abs() > 2.0 * f64::EPSILON * thousandths.abs() {
            return Err(AmountError::TooFine);
        }
        Ok(Self(rounded as i64))
    }
}

/// Reason why a number is not a valid amount.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AmountError {
    /// More than three decimals.
    #[error("must have at most three decimals")]
    TooFine,
    /// Value beyond ±[`MAX_AMOUNT`].
    #[error("is too large")]
    TooLarge,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.unsigned_abs() / 1000, self.0.unsigned_abs() % 1000);
        if rest == 0 {
            write!(f, "{sign}{whole}")
        } else {
            let digits = format!("{rest:03}");
            write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let stored = self.0.clamp(-MAX_STORED, MAX_STORED);
        if stored % 1000 == 0 { to.serialize_i64(stored / 1000) } else { to.serialize_f64(stored as f64 / 1000.0) }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(from)?;
        Self::read(&number, MAX_STORED).map_err(D::Error::custom)
    }
}

impl Add for Amount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0).clamp(-MAX_STORED, MAX_STORED))
    }
}
impl Sub for Amount {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0).clamp(-MAX_STORED, MAX_STORED))
    }
}
impl Neg for Amount {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}
impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fourth_decimal_is_refused() {
        assert!(serde_json::from_str::<Amount>("0.1234").is_err());
        assert!(serde_json::from_str::<Amount>("12345678.0001").is_err());
        assert_eq!(serde_json::from_str::<Amount>("0.1").unwrap(), Amount(100));
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(thousandths in -1_000_000_000_000i64..1_000_000_000_000) {
            let text = serde_json::to_string(&Amount(thousandths)).unwrap();
            prop_assert_eq!(serde_json::from_str::<Amount>(&text).unwrap(), Amount(thousandths));
            prop_assert_eq!(Amount(thousandths).to_string(), (thousandths as f64 / 1000.0).to_string());
        }

        #[test]
        fn any_sum_of_accepted_amounts_reads_back(many in proptest::collection::vec(-MAX_AMOUNT.0..=MAX_AMOUNT.0, 0..20_000)) {
            let sum: Amount = many.into_iter().map(Amount).sum();
            let text = serde_json::to_string(&sum).unwrap();
            prop_assert_eq!(serde_json::from_str::<Amount>(&text).unwrap(), sum);
            let text = serde_json::to_string(&Amount(i64::MIN)).unwrap();
            prop_assert!(serde_json::from_str::<Amount>(&text).is_ok());
        }
    }

    #[test]
    fn a_part_is_at_most_the_whole_and_a_scaled_amount_at_most_the_largest() {
        for (fraction, part, scaled) in [
            (0.0, 0, 0),
            (0.005, 1, 1),
            (0.25, 25, 25),
            (1.0, 100, 100),
            (1.5, 100, 150),
            (-0.5, 0, 100),
            (f64::NAN, 100, 100),
            (f64::INFINITY, 100, 100),
        ] {
            let amount = Amount(100);
            assert_eq!((amount.part(fraction), amount.scaled(fraction)), (Amount(part), Amount(scaled)), "{fraction}");
        }
        assert_eq!(MAX_AMOUNT.scaled(2.0), MAX_AMOUNT);
    }

    #[test]
    fn whole_units_are_rounded_half_up() {
        for (thousandths, units) in
            [(0, 0), (499, 0), (500, 1), (1_499, 1), (1_500, 2), (-500, 0), (-501, -1), (-1_501, -2)]
        {
            assert_eq!(Amount(thousandths).rounded(), units, "{thousandths}");
        }
    }

    #[test]
    fn a_request_states_at_most_a_thousand_million_units_to_the_thousandth() {
        let read = |text: &str| Amount::from_number(&serde_json::from_str(text).unwrap());
        for (text, amount) in [
            ("0", Amount::ZERO),
            ("0.0", Amount::ZERO),
            ("0.001", Amount(1)),
            ("-0.5", Amount(-500)),
            ("1000000000", MAX_AMOUNT),
            ("1000000000.0", MAX_AMOUNT),
            ("-1000000000", -MAX_AMOUNT),
            ("999999999.999", MAX_AMOUNT - Amount(1)),
        ] {
            assert_eq!(read(text), Ok(amount), "{text}");
        }
        for text in
            ["1000000001", "-1000000001", "1000000000.001", "9223372036854775807", "18446744073709551615", "1e300"]
        {
            assert_eq!(read(text), Err(AmountError::TooLarge), "{text}");
        }
        assert_eq!(read("0.0005"), Err(AmountError::TooFine));
    }

    #[test]
    fn sums_are_exact_up_to_what_can_be_stored() {
        let mut sum = Amount::units(3);
        sum += Amount(1);
        sum -= Amount(2_002);
        assert_eq!((sum, -sum, Amount::units(3) - Amount(500)), (Amount(999), Amount(-999), Amount(2_500)));
        let most = Amount(MAX_STORED);
        assert_eq!((most + Amount(1), -most - Amount(1), most - most), (most, -most, Amount::ZERO));
    }
}
