#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::launch::MaterialNeed;
use crate::sku::MachineType;
use crate::testing::id;

fn every(hours: Option<i64>, prints: Option<i64>, grams: Option<i64>, failures: Option<i64>) -> ReminderFields {
    ReminderFields {
        name: "Clean the nozzle".to_owned(),
        note: None,
        every_hours: hours.map(Amount::units),
        every_prints: prints,
        every_grams: grams.map(Amount::units),
        every_failures: failures,
        blocking: false,
    }
}

fn reminder(fields: ReminderFields, since: Odometer) -> Reminder {
    let at = Timestamp(0);
    let (done_at, due_at) = (None, None);
    Reminder { id: id(1), printer_id: id(2), fields, since, done_at, due_at, created_at: at, updated_at: at }
}

fn done(hours: i64, prints: i64, grams: i64, failures: i64) -> Odometer {
    Odometer { printing_ms: hours * HOUR_MS, prints, grams: Amount::units(grams), failures }
}

fn print_of(end: PrintEnd, progress: f64) -> EndedPrint<'static> {
    EndedPrint {
        end,
        began_at: None,
        ended_at: Timestamp(5_000_000),
        progress,
        estimated_seconds: Some(600),
        filament_mm: (None, None),
        slots: &[],
    }
}

#[test]
fn a_print_counts_as_long_as_it_was_seen_or_else_as_long_as_its_file_says() {
    let timed = EndedPrint { began_at: Some(Timestamp(1_000_000)), ..print_of(PrintEnd::Finished, 1.0) };
    assert_eq!(timed.wear(), Odometer { printing_ms: 4_000_000, prints: 1, ..Odometer::ZERO });
    assert_eq!(print_of(PrintEnd::Finished, 0.3).wear().printing_ms, 600_000, "it came to its end");
    let failed = print_of(PrintEnd::Failed, 0.5).wear();
    assert_eq!((failed.printing_ms, failed.failures), (300_000, 1));
    assert_eq!(print_of(PrintEnd::Cancelled, 0.5).wear().failures, 0);
    let set_back = EndedPrint { began_at: Some(Timestamp(9_000_000)), ..print_of(PrintEnd::Finished, 1.0) };
    assert_eq!(set_back.wear().printing_ms, 0, "a clock that was set back takes nothing away");
    let set_ahead = EndedPrint { ended_at: Timestamp(i64::MAX), ..timed };
    assert_eq!(set_ahead.wear().printing_ms, MAX_PRINT_SECONDS * 1000, "nor does one that was set ahead add a century");
}

#[test]
fn what_a_print_took_is_the_share_of_its_need_that_it_used() {
    let slot = |need: i64| ChosenSlot {
        needed: MaterialNeed { material_id: id(9), need: Amount::units(need) },
        slot: 0,
        remaining: None,
        loaded: true,
        filament: None,
    };
    let slots = [slot(10), slot(30)];
    let wear = |end, progress, filament_mm| EndedPrint { slots: &slots, filament_mm, ..print_of(end, progress) }.wear();
    assert_eq!(wear(PrintEnd::Finished, 1.0, (None, None)).grams, Amount::units(40));
    assert_eq!(wear(PrintEnd::Finished, 1.0, (Some(1500.0), Some(1000.0))).grams, Amount::units(60));
    assert_eq!(wear(PrintEnd::Failed, 0.25, (None, None)).grams, Amount::units(10));
}

#[test]
fn the_first_interval_that_is_reached_makes_it_due() {
    let one = reminder(every(Some(100), Some(50), Some(1000), Some(3)), Odometer::ZERO);
    assert_eq!(one.reason(&done(99, 49, 999, 2)), None);
    assert_eq!(one.reason(&done(100, 0, 0, 0)).unwrap(), "100 of 100 hours of printing");
    assert_eq!(one.reason(&done(0, 50, 0, 0)).unwrap(), "50 of 50 prints");
    assert_eq!(one.reason(&done(0, 0, 1000, 0)).unwrap(), "1000 of 1000 grams of material");
    assert_eq!(one.reason(&done(0, 60, 0, 4)).unwrap(), "60 of 50 prints, 4 of 3 failed prints");
}

#[test]
fn a_reminder_without_an_interval_is_refused() {
    assert_eq!(every(None, None, None, None).check().unwrap_err().faults[0].path, "everyHours");
    every(None, None, None, Some(1)).check().unwrap();
}

#[test]
fn what_is_suggested_could_be_added_as_it_is() {
    use MachineType as M;
    for machine in [M::FdmStandard, M::FdmLarge, M::ResinStandard, M::ResinLarge, M::LaserCutter, M::LaserEngraver] {
        let all = suggestions(machine);
        assert!(!all.is_empty() && all.len() <= MAX_REMINDERS, "{machine:?}");
        for one in all {
            one.check().unwrap();
            assert!(!one.blocking && one.name.chars().count() <= 100, "{one:?}");
        }
    }
}

#[test]
fn what_is_suggested_has_only_the_intervals_that_are_usual() {
    let intervals = |machine, at: usize| {
        let ReminderFields { name, every_hours, every_prints, every_grams, every_failures, .. } =
            suggestions(machine).swap_remove(at);
        (name, every_hours, every_prints, every_grams, every_failures)
    };
    let hours = |hours| Some(Amount::units(hours));
    let plate = ("Clean the build plate".to_owned(), None, Some(25), None, None);
    assert_eq!(intervals(MachineType::FdmStandard, 0), plate);
    let nozzle = ("Clean the nozzle".to_owned(), hours(100), None, None, Some(3));
    assert_eq!(intervals(MachineType::FdmLarge, 1), nozzle);
    let replaced = ("Replace the nozzle".to_owned(), None, None, Some(Amount::units(50_000)), None);
    assert_eq!(intervals(MachineType::FdmStandard, 6), replaced);
    assert_eq!(intervals(MachineType::ResinLarge, 0).0, "Filter the resin and clean the vat");
    assert_eq!(intervals(MachineType::LaserCutter, 0).1, hours(40));
}

#[test]
fn hours_are_counted_to_the_thousandth() {
    let hours = |printing_ms| Odometer { printing_ms, ..Odometer::ZERO }.hours();
    assert_eq!([0, HOUR_MS, 5_400_000, 3_599].map(hours), [0, 1_000, 1_500, 0].map(Amount));
    assert_eq!(hours(i64::MAX), Amount((i128::from(i64::MAX) / 3600) as i64));
}

proptest! {
    /// Checks that a reminder is due from the print that reaches an interval until its work is done.
    #[test]
    fn a_due_reminder_is_due_until_its_work_is_done(
        hours in prop::option::of(1i64..5), prints in prop::option::of(1i64..5), failures in 1i64..5,
        steps in prop::collection::vec((0i64..3, any::<bool>(), any::<bool>()), 0..60),
    ) {
        let mut one = reminder(every(hours, prints, None, Some(failures)), Odometer::ZERO);
        let (mut odometer, mut work, mut due, mut notices) = (Odometer::ZERO, Odometer::ZERO, false, 0);
        for (at, (more_hours, failed, is_done)) in steps.into_iter().enumerate() {
            let now = Timestamp(at as i64);
            if is_done {
                one.reset(&odometer, now);
                (work, due) = (Odometer::ZERO, false);
                prop_assert_eq!(one.done_at, Some(now));
            } else {
                let more = done(more_hours, 1, 0, i64::from(failed));
                (odometer, work) = (odometer + more, work + more);
                let reached = hours.is_some_and(|every| work.printing_ms >= every * HOUR_MS)
                    || prints.is_some_and(|every| work.prints >= every)
                    || work.failures >= failures;
                let newly = one.note_due(&odometer, now);
                prop_assert_eq!(newly, reached && !due, "told once");
                notices += usize::from(newly);
                due |= reached;
            }
            prop_assert_eq!(one.due_at.is_some(), due);
            prop_assert_eq!(one.work(&odometer), work);
        }
        prop_assert!(notices <= 60);
    }

    /// Checks that the counters do not depend on the order of the prints.
    #[test]
    fn what_prints_add_does_not_depend_on_their_order(
        prints in prop::collection::vec((0i64..1_000_000_000, 0i64..1_000_000, any::<bool>()), 0..30), seed: u64,
    ) {
        let wear = |(ms, grams, failed): &(i64, i64, bool)| Odometer {
            printing_ms: *ms, prints: 1, grams: Amount(*grams), failures: i64::from(*failed),
        };
        let sum = |prints: &[(i64, i64, bool)]| prints.iter().map(wear).fold(Odometer::ZERO, Add::add);
        let mut shuffled = prints.clone();
        let mut at = seed;
        for n in (1..shuffled.len()).rev() {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(n, (at >> 33) as usize % (n + 1));
        }
        prop_assert_eq!(sum(&prints), sum(&shuffled));
    }
}
