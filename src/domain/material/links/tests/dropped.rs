//! Tests of prints whose bookings the printer's own server loses, in part or whole, or sends late.

use proptest::prelude::*;

use super::model::{Fault, Shop};
use super::prints::agreed_shop;
use super::*;

/// Spool used by all prints.
const SPOOL: i64 = 2;

impl Shop {
    /// Makes the printer's server forget the outstanding bookings of the current print.
    fn forget_bookings(&mut self) {
        if let Some(print) = &mut self.printing {
            print.left = Amount::ZERO;
        }
    }

    /// Runs a print of the given number of grams whose consumption is never booked.
    fn lose_print(&mut self, grams: i64) {
        self.begin_print(SPOOL, Amount::units(grams), Amount::units(grams));
        self.forget_bookings();
        self.end_print(1000);
    }

    fn look(&mut self) {
        self.round(Fault::None, None);
    }

    fn quantities(&self) -> (Amount, Amount) {
        (self.now().quantity, self.there.total())
    }
}

fn grams(ours: i64, theirs: i64) -> (Amount, Amount) {
    (Amount::units(ours), Amount::units(theirs))
}

#[test]
fn what_was_not_booked_in_time_waits_for_a_person() {
    let mut shop = agreed_shop();
    shop.lose_print(30);
    shop.impatient = true;
    shop.look();
    assert_eq!((shop.quantities(), shop.conflict()), (grams(270, 300), None), "it may still be booked");
    shop.impatient = false;
    shop.look();
    assert_eq!((shop.quantities(), shop.conflict()), (grams(270, 300), Some(ConflictKind::PrintNotBooked)));
    assert_eq!(
        shop.current_link().last_amounts.as_ref().map(total),
        Some(Amount::units(300)),
        "what the person decides by"
    );
    assert_eq!(
        (shop.current_link().missing_from(SPOOL), shop.current_link().missing_from(1)),
        (Some(Amount::units(30)), None)
    );
    let words = shop.current_link().conflict.clone().unwrap().message;
    assert!(words.contains("30 g of spool 2"), "{words}");
    // Prints and edits go on, and it is not forgotten over them.
    shop.begin_print(SPOOL, Amount::units(10), Amount::units(10));
    shop.extrude(500);
    shop.look();
    assert_eq!(shop.conflict(), Some(ConflictKind::PrintNotBooked));
    shop.end_print(1000);
    shop.adjust(Amount::units(-20));
    shop.look();
    assert_eq!((shop.quantities(), shop.conflict()), (grams(240, 270), Some(ConflictKind::PrintNotBooked)));
}

#[test]
fn a_person_has_it_booked_on_its_spool() {
    let mut shop = agreed_shop();
    shop.lose_print(30);
    shop.look();
    shop.agree(RightSide::Ours).unwrap();
    shop.look();
    assert_eq!((shop.quantities(), shop.conflict()), (grams(270, 270), None));
    assert_eq!(shop.there.items[&SPOOL].0, Amount::units(170), "and on no other");
    assert!(shop.current_link().awaited.is_empty() && shop.current_link().owed.is_empty());
}

#[test]
fn a_person_leaves_it_as_it_is_counted_there() {
    let mut shop = agreed_shop();
    shop.lose_print(30);
    shop.look();
    // The next print is on meanwhile.
    shop.begin_print(SPOOL, Amount::units(10), Amount::units(10));
    shop.extrude(500);
    shop.look();
    shop.agree(RightSide::Theirs).unwrap();
    assert_eq!(shop.now().quantity, Amount::units(300));
    shop.end_print(1000);
    shop.look();
    assert_eq!((shop.quantities(), shop.conflict()), (grams(290, 290), None));
}

#[test]
fn what_is_booked_late_after_all_needs_nobody() {
    let mut shop = agreed_shop();
    shop.lose_print(30);
    shop.look();
    assert_eq!(shop.conflict(), Some(ConflictKind::PrintNotBooked));
    shop.they_change(SPOOL, Amount::units(-30));
    shop.look();
    assert_eq!((shop.quantities(), shop.conflict()), (grams(270, 270), None));
}

#[test]
fn a_print_from_two_spools_is_booked_on_both() {
    for (on_second, missing) in [(20, None), (0, Some(Amount::units(20)))] {
        let mut shop = agreed_shop();
        shop.begin_print(1, Amount::units(30), Amount::units(30));
        let print = shop.printing.take().unwrap();
        shop.settle_print(print.claim, print.stated, vec![1, SPOOL]);
        shop.they_change(1, Amount::units(-10));
        shop.they_change(SPOOL, Amount::units(-on_second));
        shop.look();
        assert_eq!(shop.now().quantity, Amount::units(270));
        assert_eq!((shop.current_link().missing_from(1), shop.current_link().missing_from(SPOOL)), (missing, missing));
        let words = shop.now().missing_booking(Language::English, SPOOL);
        assert_eq!(words.is_some_and(|words| words.starts_with("prints used 20 g of spool ")), missing.is_some());
        assert_eq!(shop.conflict().is_some(), missing.is_some());
        if missing.is_some() {
            shop.agree(RightSide::Theirs).unwrap();
        }
        shop.look();
        assert_eq!((shop.now().quantity, shop.conflict()), (shop.there.total(), None));
    }
}

#[test]
fn a_link_that_was_stored_before_is_readable() {
    let mut shop = agreed_shop();
    let stored = serde_json::to_value(shop.current_link()).unwrap();
    assert!(stored.get("awaited").is_none() && stored.get("owed").is_none(), "{stored}");
    assert_eq!(serde_json::from_value::<StockLink>(stored).unwrap(), *shop.current_link());
    shop.lose_print(30);
    shop.look();
    shop.agree(RightSide::Ours).unwrap();
    shop.lose_print(5);
    let stored = serde_json::to_value(shop.current_link()).unwrap();
    assert!(stored.get("awaited").is_some() && stored.get("owed").is_some(), "{stored}");
    assert_eq!(serde_json::from_value::<StockLink>(stored).unwrap(), *shop.current_link());
}

#[derive(Clone, Debug)]
enum Step {
    Begin(i64),
    /// The printer's server books the given number of thousandths of its outstanding bookings.
    Book(i64),
    /// The printer's server forgets its outstanding bookings.
    Forget,
    End,
    Look {
        impatient: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1_i64..6_000).prop_map(Step::Begin),
        3 => (1_i64..1_001).prop_map(Step::Book),
        1 => Just(Step::Forget),
        2 => Just(Step::End),
        4 => any::<bool>().prop_map(|impatient| Step::Look { impatient }),
    ]
}

/// Shop, with the outstanding bookings of its printer's server for finished prints.
struct Prints {
    shop: Shop,
    late: Amount,
    /// Total consumption by finished prints.
    used: Amount,
    /// Part of the consumption that rounding and purging may explain.
    explained: Amount,
}

impl Prints {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Begin(used) => self.shop.begin_print(SPOOL, Amount(*used), Amount(*used)),
            Step::Book(thousandths) => {
                self.shop.extrude(*thousandths);
                let part = self.late.scaled(*thousandths as f64 / 1000.0).min(self.late);
                self.late -= part;
                self.shop.they_change(SPOOL, -part);
            }
            Step::Forget => {
                self.shop.forget_bookings();
                self.late = Amount::ZERO;
            }
            Step::End => {
                if let Some(print) = self.shop.printing.take() {
                    self.shop.settle_print(print.claim, print.stated, vec![print.spool]);
                    self.late += print.left;
                    self.used += print.stated;
                    // Shares are rounded to thousandths.
                    self.explained += Amount::units(1).max(print.stated.part(0.05)) + Amount(1);
                }
            }
            Step::Look { impatient } => {
                self.shop.impatient = *impatient;
                self.shop.look();
            }
        }
    }
}

proptest! {
    #[test]
    fn nothing_is_given_back_without_a_person(steps in prop::collection::vec(step(), 0..80), ours_is_right in any::<bool>()) {
        let (none, full) = (Amount::ZERO, Amount::units(300));
        let mut prints = Prints { shop: agreed_shop(), late: none, used: none, explained: none };
        for step in &steps {
            prints.take(step);
            let (ours, least) = (prints.shop.now().quantity, full - prints.used);
            prop_assert!(least <= ours && ours <= least + prints.explained, "{} of {} or more", ours, least);
        }
        // Nothing more is booked.
        let end = [Step::End, Step::Forget, Step::Look { impatient: false }, Step::Look { impatient: false }];
        for step in &end {
            prints.take(step);
        }
        let shop = &mut prints.shop;
        let (ours, theirs) = shop.quantities();
        let missing = shop.current_link().missing_from(SPOOL).unwrap_or_default();
        prop_assert_eq!(ours + missing, theirs);
        prop_assert_eq!(shop.conflict(), (missing > none).then_some(ConflictKind::PrintNotBooked));
        if missing > none {
            shop.agree(if ours_is_right { RightSide::Ours } else { RightSide::Theirs }).unwrap();
            shop.look();
        }
        let agreed = if ours_is_right { ours } else { theirs };
        prop_assert_eq!((shop.quantities(), shop.conflict()), ((agreed, agreed), None));
        prop_assert!(shop.current_link().awaited.is_empty() && shop.current_link().owed.is_empty());
    }
}
