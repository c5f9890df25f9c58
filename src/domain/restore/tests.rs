//! Tests that a restore skips the numbers that may have been assigned, until an operator sets the next ones.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::testing::{Bench, reads_back};
use crate::time::DAY_MS;

const BACKUP_AT: Timestamp = Timestamp(1_796_000_000_000);
/// Series of the documents that the model of a shop issues.
const SERIES: &str = "INV-2026";

fn facts(elapsed_ms: i64, used: Vec<SeriesUse>) -> RestoreFacts {
    RestoreFacts {
        backup: "ab".to_owned(),
        backup_made_at: BACKUP_AT,
        now: BACKUP_AT.plus_ms(elapsed_ms),
        last_event: 40,
        used,
    }
}

fn used(series: &str, last: i64, recent: i64) -> SeriesUse {
    SeriesUse { series: series.to_owned(), last, recent }
}

fn begun(elapsed_ms: i64, all: Vec<SeriesUse>) -> Restore {
    let (restore, rows, event) = Restore::begin(&facts(elapsed_ms, all));
    reads_back(&restore);
    assert_eq!(rows.len(), restore.series.len());
    assert_eq!((event.event.as_str(), &event.data["firstEvent"]), ("shop.restored", &restore.first_event.into()));
    restore
}

fn next_of(restore: &Restore, series: &str) -> i64 {
    restore.series.iter().find(|one| one.series == series).unwrap_or_else(|| panic!("{series}: {restore:?}")).next
}

fn review(next: &[(&str, i64)]) -> RestoreCommand {
    let next = next.iter().map(|(series, number)| ((*series).to_owned(), *number)).collect();
    RestoreCommand::Review { next, note: None }
}

#[test]
fn numbers_that_the_former_shop_may_have_given_out_are_left_out() {
    let restore = begun(DAY_MS, vec![used("INV-2026", 5, 5), used("ORD", 12, 12)]);
    assert!(next_of(&restore, "INV-2026") > 9, "the four invoices since the backup");
    assert_eq!((next_of(&restore, "INV-2026"), next_of(&restore, "ORD")), (106, 113));
    assert_eq!((next_of(&restore, "CN-2026"), next_of(&restore, "QUO")), (101, 101), "begun since the backup");
    let RestoreRow::Gap(gap) = restore.series.iter().find(|one| one.series == "INV-2026").unwrap().row(&restore) else {
        panic!("no gap");
    };
    assert_eq!((gap.first, gap.last), (6, 105));
    assert_eq!(
        gap.reason,
        "restored on 2026-12-01 from a backup of 2026-11-30: these numbers may have been issued in between"
    );
}

#[test]
fn a_year_that_began_since_the_backup_has_series_too() {
    let restore = begun(60 * DAY_MS, vec![used("INV-2026", 900, 300)]);
    // 300 in 30 days, for 61 days, three times as fast.
    assert_eq!((next_of(&restore, "INV-2026"), next_of(&restore, "INV-2027")), (900 + 2000 + 1, 2001));
    assert!(restore.series.iter().all(|one| one.series != "INV-2028"), "{restore:?}");
}

#[test]
fn a_person_says_once_where_series_go_on() {
    let mut this = Some(begun(DAY_MS, vec![used("INV-2026", 5, 5), used("ORD", 12, 12)]));
    let (bench, id) = (Bench::new(), this.as_ref().unwrap().id);
    let refused = |this: &mut Option<Restore>, next: &[(&str, i64)]| bench.tell(this, id, &review(next)).unwrap_err();
    for (series, next) in
        [("INV-2026", 5), ("INV-2026", 0), ("INV-2026", 1_000_000_000), ("ORD", 112), ("INV-1999", 4), ("", 1)]
    {
        let refusal = refused(&mut this, &[(series, next)]);
        assert_eq!(
            (refusal.code.as_str(), refusal.faults.len()),
            ("validation_failed", 1),
            "{series} {next}: {refusal:?}"
        );
    }
    assert!(!this.as_ref().unwrap().at_rest());
    let decided = bench.tell(&mut this, id, &review(&[("INV-2026", 10), ("CN-2026", 1), ("ORD", 200)])).unwrap();
    let restore = this.as_ref().unwrap();
    assert_eq!((next_of(restore, "INV-2026"), next_of(restore, "ORD")), (10, 200));
    assert!(
        decided
            .rows
            .contains(&RestoreRow::NoGap(restore.series.iter().find(|one| one.series == "CN-2026").unwrap().gap_id))
    );
    assert_eq!(decided.events.iter().map(|event| event.event.as_str()).collect::<Vec<_>>(), ["shop.restore_reviewed"]);
    assert!(restore.at_rest());
    assert_eq!(refused(&mut this, &[]).code, "already_reviewed");
}

#[test]
fn a_number_that_is_moved_relies_on_what_was_issued_since() {
    let mut this = Some(begun(DAY_MS, vec![used("INV-2026", 5, 5), used("ORD", 12, 12)]));
    let id = this.as_ref().unwrap().id;
    let all = [("INV-2026", 10), ("CN-2026", 101), ("ORD", 200)];
    let decided = Bench::new().tell(&mut this, id, &review(&all)).unwrap();
    let member = "next.INV-2026".to_owned();
    let moved = Requirement::Unissued { series: "INV-2026".to_owned(), next: 10, restore: id, member };
    let refusal = moved.refusal();
    assert_eq!(decided.requirements, [moved], "one stays, and one counts in memory");
    assert_eq!((refusal.code.as_str(), refusal.faults[0].path.as_str()), ("validation_failed", "next.INV-2026"));
    assert!(refusal.message.contains("issued since the restore"), "{refusal}");
}

/// Model of a shop: the documents of one series, its restores, and the numbers that the restores skip.
#[derive(Default)]
struct ModelShop {
    issued: BTreeSet<i64>,
    restores: Vec<Restore>,
    gaps: BTreeMap<Id, NumberGap>,
}

impl ModelShop {
    /// Returns the highest number used by a document or skipped by a restore.
    fn highest(&self) -> i64 {
        let left_out = self.gaps.values().map(|gap| gap.last);
        self.issued.iter().copied().chain(left_out).max().unwrap_or(0)
    }

    /// Issues a document and returns its number.
    fn issue(&mut self) -> i64 {
        let number = self.highest() + 1;
        self.issued.insert(number);
        number
    }

    fn write(&mut self, rows: &[RestoreRow]) {
        for row in rows {
            match row {
                RestoreRow::Gap(gap) if gap.series == SERIES => _ = self.gaps.insert(gap.id, gap.clone()),
                RestoreRow::Gap(_) => {}
                RestoreRow::NoGap(id) => _ = self.gaps.remove(id),
            }
        }
    }

    /// Restores a backup of the shop in its current state.
    fn restore(&mut self) {
        let used = vec![used(SERIES, self.highest(), 0)];
        let facts = RestoreFacts { backup: self.restores.len().to_string(), ..facts(0, used) };
        let (restore, rows, _) = Restore::begin(&facts);
        self.write(&rows);
        self.restores.push(restore);
    }

    /// Reviews a restore; returns `false` if the rules refuse it or the stored documents do not meet its requirements.
    fn review(&mut self, at: usize, next: i64) -> bool {
        let mut this = Some(self.restores[at].clone());
        let id = self.restores[at].id;
        let Ok(decision) = Bench::new().tell(&mut this, id, &review(&[(SERIES, next)])) else { return false };
        let before = self.gaps.clone();
        self.write(&decision.rows);
        if !decision.requirements.iter().all(|requirement| self.meets(requirement)) {
            self.gaps = before;
            return false;
        }
        self.restores[at] = this.unwrap();
        true
    }

    fn meets(&self, requirement: &Requirement) -> bool {
        let Requirement::Unissued { series, next, restore, .. } = requirement else { panic!("{requirement:?}") };
        assert_eq!(series, SERIES);
        let others = self.gaps.values().filter(|gap| gap.restore_id != *restore).map(|gap| gap.last);
        self.issued.iter().copied().chain(others).all(|number| number < *next)
    }

    /// Returns the numbers below the highest document's number that are neither used by a document nor skipped by a
    /// restore.
    fn missing(&self) -> Vec<i64> {
        let left_out = |number: i64| self.gaps.values().any(|gap| (gap.first..=gap.last).contains(&number));
        let all = 1..=self.issued.last().copied().unwrap_or(0);
        all.filter(|number| !self.issued.contains(number) && !left_out(*number)).collect()
    }
}

/// Step of a shop that is restored repeatedly.
#[derive(Clone, Debug)]
enum Step {
    Issue,
    Restore,
    /// Reviews one of the restores, with a next number at the given distance from the highest.
    Review(usize, i64),
}

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let review = (0..8_usize, -150..150_i64).prop_map(|(at, offset)| Step::Review(at, offset));
    prop::collection::vec(prop_oneof![4 => Just(Step::Issue), 1 => Just(Step::Restore), 4 => review], 0..60)
}

proptest! {
    #[test]
    fn whatever_reviews_say_no_number_is_missing_without_a_reason(steps in any_steps()) {
        let mut shop = ModelShop::default();
        for step in steps {
            match step {
                Step::Issue => _ = shop.issue(),
                Step::Restore => shop.restore(),
                Step::Review(..) if shop.restores.is_empty() => {}
                Step::Review(at, offset) => {
                    let (at, next) = (at % shop.restores.len(), shop.highest() + offset);
                    let before = next_of(&shop.restores[at], SERIES);
                    if shop.review(at, next) && next != before {
                        prop_assert_eq!(shop.issue(), next, "what a person was told");
                    }
                }
            }
            prop_assert!(shop.missing().is_empty(), "{:?} of {:?} and {:?}", shop.missing(), shop.issued, shop.gaps);
        }
    }

    #[test]
    fn no_number_up_to_three_times_the_pace_is_given_out_again(
        last in 0..1_000_000_i64, recent in 0..10_000_i64, days in 0..200_i64, factor in 0..=30_i64,
    ) {
        let restore = begun(days * DAY_MS, vec![used("ORD", last, recent)]);
        let given_out = last + recent * days * factor / 300;
        prop_assert!(next_of(&restore, "ORD") > given_out);
        prop_assert!(restore.first_event > restore.last_event + 1);
        // The snapshot row stays small.
        prop_assert!(serde_json::to_string(&restore).unwrap().len() < 4096);
    }

    #[test]
    fn the_next_number_is_never_one_of_the_backup(last in 0..1_000_000_i64, next in any::<i64>()) {
        let mut this = Some(begun(0, vec![used("INV-2026", last, 0)]));
        let id = this.as_ref().unwrap().id;
        if Bench::new().tell(&mut this, id, &review(&[("INV-2026", next)])).is_ok() {
            prop_assert!(next_of(this.as_ref().unwrap(), "INV-2026") > last);
        }
    }
}

#[test]
fn a_margin_is_three_times_the_pace_and_a_hundred_in_round_numbers() {
    let margin =
        |recent: i64, elapsed_ms: i64| RestoredSeries::after(Id::ONLY, &used("ORD", 7, recent), elapsed_ms).next - 8;
    for (recent, elapsed_ms, skipped) in [
        (0, 0, 100),
        (-5, 0, 100),
        (29, DAY_MS - 1, 100),
        (30, DAY_MS - 1, 200),
        (1_000, 9 * DAY_MS, 1_100),
        (1_000, 10 * DAY_MS, 1_200),
        (i64::MAX, DAY_MS, 500_000_000),
    ] {
        assert_eq!(margin(recent, elapsed_ms), skipped, "{recent} in 30 days, {elapsed_ms} ms ago");
    }
}

#[test]
fn documents_of_at_most_five_years_go_on() {
    let series = |elapsed_ms: i64| {
        let restore = begun(elapsed_ms, Vec::new());
        restore.series.into_iter().map(|one| one.series).collect::<Vec<_>>()
    };
    assert_eq!(series(0), ["ORD", "JOB", "QUO", "INV-2026", "CN-2026"]);
    assert_eq!(series(-400 * DAY_MS), series(0), "the clock was set back");
    let long = series(10 * 366 * DAY_MS);
    let invoices: Vec<&str> = long.iter().map(String::as_str).filter(|name| name.starts_with("INV-")).collect();
    assert_eq!(invoices, ["INV-2032", "INV-2033", "INV-2034", "INV-2035", "INV-2036"]);
}

#[test]
fn a_series_may_go_on_right_after_the_backup_or_with_the_highest_number() {
    for (next, gap) in [(6, None), (7, Some((6, 6))), (999_999_999, Some((6, 999_999_998)))] {
        let mut this = Some(begun(DAY_MS, vec![used("INV-2026", 5, 5)]));
        let id = this.as_ref().unwrap().id;
        let decided = Bench::new().tell(&mut this, id, &review(&[("INV-2026", next)])).unwrap();
        let gaps = decided.rows.iter().find_map(|row| match row {
            RestoreRow::Gap(gap) if gap.series == SERIES => Some((gap.first, gap.last)),
            _ => None,
        });
        assert_eq!(gaps, gap, "{next}");
    }
}
