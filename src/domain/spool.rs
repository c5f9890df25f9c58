//! Spools handled by operators: the number on a label printed by the shop, and the remaining amount measured by a
//! scale.
//!
//! The content of printer slots is defined in `printer`, and spools that are counted in an outside system in
//! `parts_sync`.

use crate::amount::Amount;
use crate::refusal::{Faults, Refusal};
use crate::time::Timestamp;

/// Maximum number of spools that can be numbered within the same second.
pub const MAX_NEW_SPOOLS: u8 = 50;

/// Returns the number for a spool that is not counted in an outside system: the second in which its label was created
/// (UTC, starting with the last two digits of the year), followed by its position among those created in the same
/// second. No stored counter is needed for uniqueness, and operators can read the date of arrival from the number.
pub fn new_number(at: Timestamp, nth: u8) -> i64 {
    let digits: String = at.to_string().chars().filter(char::is_ascii_digit).skip(2).take(12).collect();
    digits.parse::<i64>().unwrap_or_default() * 100 + i64::from(nth)
}

/// Returns the remaining amount of a material on a spool if the scale shows `gross` and the empty spool weighs `empty`.
/// All amounts are in the material's unit.
pub fn left_by_scale(gross: Amount, empty: Amount) -> Result<Amount, Refusal> {
    let mut faults = Faults::default();
    faults.check(empty >= Amount::ZERO, "empty", "must not be negative").check(
        gross >= empty,
        "gross",
        "must be at least the weight of the empty spool",
    );
    faults.refuse()?;
    Ok(gross - empty)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_number_tells_when_and_which_and_is_never_given_twice() {
        let at: Timestamp = "2026-11-23T04:35:07.900Z".parse().unwrap();
        assert_eq!(new_number(at, 1), 26_112_304_350_701);
        assert_eq!(new_number(at, MAX_NEW_SPOOLS), 26_112_304_350_750);
        assert_eq!(new_number(at.plus_ms(1_000), 1), 26_112_304_350_801);
    }

    #[test]
    fn a_scale_shows_the_spool_too() {
        assert_eq!(left_by_scale(Amount::units(1180), Amount(230_500)), Ok(Amount(949_500)));
        assert_eq!(left_by_scale(Amount::units(230), Amount::units(230)), Ok(Amount::ZERO));
        let refused = |gross, empty| left_by_scale(gross, empty).unwrap_err().faults.remove(0).path;
        assert_eq!(refused(Amount::units(100), Amount::units(230)), "gross");
        assert_eq!(refused(Amount::units(100), Amount::units(-1)), "empty");
    }
}
