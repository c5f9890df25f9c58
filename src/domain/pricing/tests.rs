//! Prices that can be verified by hand, and invariants of sums for all inputs.
#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::testing::samples::rates;

#[test]
fn a_cube_has_the_price_that_a_person_works_out() {
    // 10 cm³, half of it printed: 5 cm³ are 6.2 g, and take half an hour after five minutes of heating.
    let work = PrintWork::estimated(&rates(), 10_000, 1).unwrap();
    assert_eq!(work, PrintWork { grams: Amount(6200), seconds: 1800 + 300, parts: 1 });
    let price = Price::of(&rates(), None, &work).unwrap();
    // 6.2 g at 25.00 a kilogram are 15.5; 0.07 kWh at 30 are 2.1; 35 minutes at 60 an hour are 35; 7 minutes at 50 a
    // minute are 350; 5 % of 403 are 20.15.
    let expected = Costs { material_cents: 16, energy_cents: 2, wear_cents: 35, labour_cents: 350, failure_cents: 20 };
    assert_eq!(price.costs, expected);
    // 423 and 40 % are 592.2.
    assert_eq!((price.costs.sum_cents(), price.unit_cents), (423, 593));
    let own = Price::of(&rates(), Some(100_000), &work).unwrap();
    assert_eq!(own.costs.material_cents, 620, "the material's own cost wins");
    let least = PriceRates { minimum_cents: 1000, ..rates() };
    assert_eq!(Price::of(&least, None, &work).unwrap().unit_cents, 1000);
}

#[test]
fn what_no_machine_makes_has_no_price() {
    assert_eq!(PrintWork::estimated(&rates(), i64::MAX, u32::MAX), None);
    let much = PrintWork { grams: MAX_AMOUNT, seconds: 1, parts: 1 };
    assert_eq!(Price::of(&rates(), Some(i64::MAX), &much), None);
}

#[test]
fn amounts_are_rounded_half_up_or_raised_and_bounded() {
    let halves = [(14, 10, 1), (15, 10, 2), (16, 10, 2), (25, 10, 3), (0, 10, 0), (7, 1, 7)];
    for (number, divisor, expected) in halves {
        assert_eq!(rounded(number, divisor), Some(expected), "{number} / {divisor}");
    }
    for (number, divisor, expected) in [(20, 10, 2), (21, 10, 3), (29, 10, 3), (1, 10, 1), (0, 10, 0), (7, 1, 7)] {
        assert_eq!(raised(number, divisor), Some(expected), "{number} / {divisor}");
    }
    let most = i128::from(MAX_CENTS);
    assert_eq!((rounded(most, 1), raised(most, 1)), (Some(MAX_CENTS), Some(MAX_CENTS)));
    assert_eq!((rounded(most + 1, 1), raised(most + 1, 1)), (None, None));
}

#[test]
fn weight_and_time_of_a_volume_are_rounded_half_up_for_each_part() {
    let solid = |density_mg_per_cm3| PriceRates { fill_bps: 10_000, density_mg_per_cm3, heat_up_seconds: 7, ..rates() };
    // At 10 cm³ per hour, a volume of 1 mm³ takes 0.36 s.
    let cases = [(1500, 1, 2, 0), (1499, 1, 1, 0), (100, 1, 1, 0), (1000, 2, 2, 1), (1000, 4, 4, 1), (1000, 5, 5, 2)];
    for (density, volume, milligrams, seconds) in cases {
        let three = PrintWork { grams: Amount(milligrams * 3), seconds: (seconds + 7) * 3, parts: 3 };
        assert_eq!(PrintWork::estimated(&solid(density), volume, 3), Some(three), "{density} {volume}");
    }
}

#[test]
fn work_is_bounded_in_weight_and_time() {
    let longest = MAX_PRINT_SECONDS * 1_000_000;
    let cases = [
        (MAX_AMOUNT, longest, 1, true),
        (Amount(MAX_AMOUNT.0 + 1), 1, 1, false),
        (Amount(1), longest + 1, 1, false),
        (MAX_AMOUNT, 1, 2, false),
        (Amount(1), longest, 2, false),
        (Amount(1), -1, 1, false),
    ];
    for (grams, seconds, parts, fits) in cases {
        let work = PrintWork { grams, seconds, parts };
        assert_eq!(PrintWork::sliced(grams, seconds, parts), fits.then_some(work), "{work:?}");
    }
}

#[test]
fn labour_is_paid_once_for_the_line_and_once_for_each_part() {
    let work = PrintWork::estimated(&rates(), 10_000, 3).unwrap();
    let price = Price::of(&rates(), None, &work).unwrap();
    // 18.6 g cost 46.5; 0.21 kWh cost 6.3; 105 minutes cost 105; 5 minutes plus three times 2 at 50 cost 550; 5 % of
    // 708 is 35.4.
    let costs = Costs { material_cents: 47, energy_cents: 6, wear_cents: 105, labour_cents: 550, failure_cents: 35 };
    assert_eq!(price.costs, costs);
    // 743 plus 40 % is 1040.2, which is 347 for each of three.
    assert_eq!((costs.sum_cents(), price.unit_cents), (743, 347));
}

prop_compose! {
    fn any_rates()(
        material in 0i64..1_000_000, density in 1i64..20_000, fill in 1i64..=10_000, flow in 1i64..1_000_000,
        heat in 0i64..10_000, watts in 0i64..10_000, kwh in 0i64..1000, wear in 0i64..100_000,
        labour in 0i64..100_000, (setup, handling) in (0i64..1000, 0i64..1000), failure in 0i64..=10_000,
        (margin, minimum) in (0i64..100_000, 0i64..100_000),
    ) -> PriceRates {
        PriceRates {
            material_cents_per_kg: material, density_mg_per_cm3: density, fill_bps: fill, print_mm3_per_hour: flow,
            heat_up_seconds: heat, machine_watts: watts, energy_cents_per_kwh: kwh, wear_cents_per_hour: wear,
            labour_cents_per_hour: labour, setup_minutes: setup, handling_minutes: handling, failure_bps: failure,
            margin_bps: margin, minimum_cents: minimum,
        }
    }
}

proptest! {
    #[test]
    fn a_price_covers_its_costs_and_margin_and_not_much_more(
        rates in any_rates(), milligrams in 1i64..10_000_000, seconds in 0i64..10_000_000, parts in 1u32..1000,
    ) {
        let work = PrintWork { grams: Amount(milligrams), seconds, parts };
        let Some(price) = Price::of(&rates, None, &work) else { return Ok(()) };
        let (costs, all) = (price.costs, i128::from(price.unit_cents) * i128::from(parts));
        let classes = [costs.material_cents, costs.energy_cents, costs.wear_cents, costs.labour_cents, costs.failure_cents];
        prop_assert!(classes.iter().all(|class| *class >= 0));
        prop_assert_eq!(classes.iter().sum::<i64>(), costs.sum_cents());
        let due = i128::from(costs.sum_cents()) * (10_000 + i128::from(rates.margin_bps));
        prop_assert!(all * 10_000 >= due && all >= i128::from(rates.minimum_cents));
        // Rounding up takes less than one minor unit for the line and one for each part.
        let least = (due + 9_999).div_euclid(10_000).max(i128::from(rates.minimum_cents));
        prop_assert!(all < least + i128::from(parts));
    }

    #[test]
    fn more_work_never_costs_less(
        rates in any_rates(), milligrams in 1i64..1_000_000, seconds in 0i64..1_000_000, parts in 1u32..100,
        (more_milligrams, more_seconds, more_parts) in (0i64..1_000_000, 0i64..1_000_000, 0u32..100),
    ) {
        let work = PrintWork { grams: Amount(milligrams), seconds, parts };
        let more = PrintWork {
            grams: Amount(milligrams + more_milligrams), seconds: seconds + more_seconds, parts: parts + more_parts,
        };
        let (Some(less), Some(more)) = (Costs::of(&rates, None, &work), Costs::of(&rates, None, &more)) else { return Ok(()) };
        prop_assert!(less.material_cents <= more.material_cents && less.energy_cents <= more.energy_cents);
        prop_assert!(less.wear_cents <= more.wear_cents && less.labour_cents <= more.labour_cents);
        prop_assert!(less.failure_cents <= more.failure_cents);
    }

    #[test]
    fn work_of_many_is_that_of_one_so_many_times(rates in any_rates(), volume in 1i64..1_000_000_000, parts in 1u32..1000) {
        let (Some(one), Some(all)) = (PrintWork::estimated(&rates, volume, 1), PrintWork::estimated(&rates, volume, parts)) else { return Ok(()) };
        prop_assert_eq!(all.grams.0, one.grams.0 * i64::from(parts));
        prop_assert_eq!(all.seconds, one.seconds * i64::from(parts));
    }
}
