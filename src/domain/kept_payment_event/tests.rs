#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::testing::{Bench, id};
use crate::time::HOUR_MS;

fn keep(kind: UnmatchedKind) -> KeptPaymentEventCommand {
    let about = Unmatched {
        kind,
        amount_cents: Some(1250),
        currency: Some("usd".to_owned()),
        client_reference_id: None,
        invoice_id: None,
        order_id: None,
        payment_intent: Some("pi_1".to_owned()),
        session: None,
    };
    KeptPaymentEventCommand::Keep { event_id: "evt_1".to_owned(), body: "{}".to_owned(), about: Some(Box::new(about)) }
}

#[test]
fn what_moved_no_money_is_kept_and_nobody_is_told() {
    let mut bench = Bench::new();
    for kind in [UnmatchedKind::PaymentFailed, UnmatchedKind::SessionExpired] {
        let mut stored: Option<KeptPaymentEvent> = None;
        bench.tell(&mut stored, id(1), &keep(kind)).unwrap();
        for _ in 0..2 {
            let missed = bench.tell(&mut stored, id(1), &KeptPaymentEventCommand::Tried { matched: false }).unwrap();
            assert_eq!((missed.events.len(), missed.created.len()), (0, 0));
            bench.now = bench.now.plus_ms(TRIED_DAYS * DAY_MS);
        }
        assert!(stored.unwrap().done);
    }
}

#[test]
fn tried_hourly_until_matched_and_given_up_aloud_after_thirty_days() {
    let mut bench = Bench::new();
    let mut stored: Option<KeptPaymentEvent> = None;
    let keep = keep(UnmatchedKind::Payment);
    let missed = KeptPaymentEventCommand::Tried { matched: false };
    assert!(bench.tell(&mut stored, id(1), &missed).is_err());
    bench.tell(&mut stored, id(1), &keep).unwrap();
    assert!(bench.tell(&mut stored, id(1), &keep).unwrap().next.is_none(), "a repeat is the same thing");
    assert_eq!(stored.as_ref().unwrap().effects(), [MatchOrder { at: bench.now }], "at once");
    let first = bench.tell(&mut stored, id(1), &missed).unwrap();
    assert_eq!((first.events[0].event.as_str(), first.created.len()), ("payment.unmatched", 1));
    assert_eq!(first.events[0].data["amountCents"], 1250);
    let mail = format!("{:?}", first.created);
    assert!(mail.contains("$12.50") && mail.contains("payment intent pi_1"), "{mail}");
    assert_eq!(stored.as_ref().unwrap().effects(), [MatchOrder { at: bench.now.plus_ms(HOUR_MS) }]);
    let again = bench.tell(&mut stored, id(1), &missed).unwrap();
    assert_eq!((again.events.len(), again.created.len()), (0, 0), "told once");
    let mut matched = stored.clone();
    bench.tell(&mut matched, id(1), &KeptPaymentEventCommand::Tried { matched: true }).unwrap();
    assert!(matched.as_ref().unwrap().at_rest() && matched.unwrap().effects().is_empty());
    bench.now = bench.now.plus_ms(TRIED_DAYS * DAY_MS);
    let given_up = bench.tell(&mut stored, id(1), &missed).unwrap();
    assert_eq!(given_up.events[0].event, "payment.given_up");
    assert_eq!(given_up.created.len(), 1);
    assert!(stored.unwrap().at_rest());
}

#[derive(Clone, Debug)]
enum Step {
    Keep,
    Tried(bool),
    Later(i64),
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Keep),
        4 => proptest::bool::weighted(0.1).prop_map(Step::Tried),
        3 => (0..3 * DAY_MS).prop_map(Step::Later),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #[test]
    fn an_event_is_kept_once_and_ends_once_matched_or_told(steps in proptest::collection::vec(any_step(), 1..80)) {
        let mut bench = Bench::new();
        let mut it: Option<KeptPaymentEvent> = None;
        let (mut matched, mut given_up, mut missed) = (0, 0, 0);
        for step in steps {
            let was = it.clone();
            let open = was.as_ref().is_some_and(|was| !was.done);
            match step {
                Step::Keep => {
                    let decided = bench.tell(&mut it, id(1), &keep(UnmatchedKind::Refund)).unwrap();
                    prop_assert_eq!(decided.next.is_some(), was.is_none(), "a repeat is the same event");
                }
                Step::Tried(hit) => match bench.tell(&mut it, id(1), &KeptPaymentEventCommand::Tried { matched: hit }) {
                    Ok(decided) => {
                        prop_assert_eq!(decided.next.is_some(), open);
                        matched += u32::from(hit && open);
                        let told_of = |name: &str| decided.events.iter().filter(|event| event.event == name).count() as u32;
                        given_up += told_of("payment.given_up");
                        missed += told_of("payment.unmatched");
                        prop_assert_eq!(decided.events.len(), decided.created.len(), "people are told of each");
                    }
                    Err(refusal) => prop_assert!(was.is_none() && refusal.code == "inbound_not_found"),
                },
                Step::Later(ms) => bench.now = bench.now.plus_ms(ms),
                Step::Restart => it = it.map(|it| serde_json::from_str(&serde_json::to_string(&it).unwrap()).unwrap()),
            }
            let Some(now) = &it else { continue };
            prop_assert!(matched + given_up <= 1, "matched or given up, once");
            prop_assert!(missed <= 1, "told of the first miss, once");
            prop_assert_eq!(now.done, matched + given_up == 1);
            prop_assert_eq!((now.effects().len(), now.at_rest()), (usize::from(!now.done), now.done));
            if let Some(was) = was.filter(|was| was.done) {
                prop_assert_eq!(now, &was);
            }
            prop_assert!(given_up == 0 || bench.now.since(now.created_at) >= TRIED_DAYS * DAY_MS, "not given up early");
        }
    }
}
