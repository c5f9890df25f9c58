//! Property test: a thousand edits on both sides, with an injected fault at every step.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Ours(i64),
    Theirs(i64, i64),
    NewItem(i64),
    /// The amount of an item is set by hand instead of changed by use.
    TheySet(i64, i64),
    /// The item changes by exactly the amount of a booking with an unknown outcome, or by its opposite; or it is set to
    /// match.
    Mirror {
        opposite: bool,
        set: bool,
    },
    Land,
    BeginPrint(i64, i64, i64),
    Extrude(i64),
    EndPrint(i64),
    Round(Fault, Option<(i64, i64)>),
}

fn step() -> impl Strategy<Value = Step> {
    let fault = prop::sample::select(vec![
        Fault::None,
        Fault::Unreachable,
        Fault::KilledAfterLook,
        Fault::KilledBeforeSending,
        Fault::LostRequest,
        Fault::LandsLate,
        Fault::LostAnswer,
        Fault::KilledAfterSending,
        Fault::OldLook,
        Fault::Refused,
        Fault::WrongToken,
        Fault::Impatient,
    ]);
    let meanwhile = prop::option::of((1_i64..6, -50_000_i64..50_000));
    prop_oneof![
        4 => (-50_000_i64..50_000).prop_map(Step::Ours),
        4 => (1_i64..6, -50_000_i64..50_000).prop_map(|(item, delta)| Step::Theirs(item, delta)),
        1 => (0_i64..100_000).prop_map(Step::NewItem),
        1 => (1_i64..6, -50_000_i64..50_000).prop_map(|(item, delta)| Step::TheySet(item, delta)),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(opposite, set)| Step::Mirror { opposite, set }),
        1 => Just(Step::Land),
        1 => (1_i64..6, 1_i64..50_000, 1_i64..50_000).prop_map(|(spool, stated, really)| Step::BeginPrint(spool, stated, really)),
        2 => (1_i64..1000).prop_map(Step::Extrude),
        1 => (0_i64..1001).prop_map(Step::EndPrint),
        6 => (fault, meanwhile).prop_map(|(fault, meanwhile)| Step::Round(fault, meanwhile)),
    ]
}

fn equal_in_the_end(system: StockSystem, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut shop = Shop::new(system, 600_000, &[200_000, 300_000, 100_000]);
    shop.round(Fault::None, None);
    shop.agree(RightSide::Ours).unwrap();
    for step in steps {
        match step {
            Step::Ours(delta) => shop.adjust(Amount(*delta)),
            Step::Theirs(item, delta) => shop.they_change(*item, Amount(*delta)),
            Step::NewItem(holds) => {
                let number = shop.there.items.keys().max().unwrap() + 1;
                if number < 20 {
                    shop.there.items.insert(number, (Amount(*holds), Amount::ZERO));
                    shop.truth += Amount(*holds);
                }
            }
            Step::TheySet(item, delta) => shop.they_set(*item, Amount(*delta)),
            Step::Mirror { opposite, set } => {
                if let Some(pending) = shop.current_link().pending.clone() {
                    let delta = if *opposite { -pending.delta } else { pending.delta };
                    if *set { shop.they_set(pending.item, delta) } else { shop.they_change(pending.item, delta) }
                }
            }
            Step::Land => shop.land(),
            Step::BeginPrint(spool, stated, really) if system == StockSystem::Spools => {
                shop.begin_print(*spool, Amount(*stated), Amount(*really));
            }
            Step::BeginPrint(..) => {}
            Step::Extrude(thousandths) => shop.extrude(*thousandths),
            Step::EndPrint(thousandths) => shop.end_print(*thousandths),
            Step::Round(fault, meanwhile) => shop.round(*fault, meanwhile.map(|(item, delta)| (item, Amount(delta)))),
        }
        prop_assert_eq!(shop.ledger, shop.now().quantity, "the ledger tells all");
    }
    shop.quiet_down();
    prop_assert_eq!(shop.conflict(), None);
    prop_assert_eq!(shop.now().quantity, shop.truth, "ours");
    prop_assert_eq!(shop.there.total(), shop.truth, "theirs");
    prop_assert_eq!(shop.current_link().agreed.as_ref().map(total), Some(shop.truth));
    if system == StockSystem::Parts {
        prop_assert_eq!(shop.people, 0, "references leave nothing to decide");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn both_sides_get_all_edits_once_where_references_are_kept(steps in prop::collection::vec(step(), 1000)) {
        equal_in_the_end(StockSystem::Parts, &steps)?;
    }

    #[test]
    fn both_sides_get_all_edits_once_where_only_values_can_be_read_back(steps in prop::collection::vec(step(), 1000)) {
        equal_in_the_end(StockSystem::Spools, &steps)?;
    }
}
