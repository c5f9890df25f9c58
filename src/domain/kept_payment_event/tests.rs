#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::ledger::DisputeState;
use crate::payment_event::{DisputeUpdate, PaidPeriod};
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

fn effect(effect: PaymentEffect) -> PaymentEvent {
    let links = OrderLinks {
        client_reference_id: Some("ref".to_owned()),
        order_id: Some("order".to_owned()),
        invoice_id: Some("invoice".to_owned()),
        payment_intent: Some("pi_1".to_owned()),
        session: Some("cs_1".to_owned()),
    };
    PaymentEvent { id: "evt_1".to_owned(), created: 1, effect, links }
}

#[test]
fn each_event_about_money_is_described_for_the_operator_who_looks_for_its_order() {
    use UnmatchedKind as U;
    let usd = || Some("usd".to_owned());
    let paid = PaymentEffect::Paid {
        amount_cents: Some(500),
        currency: usd(),
        session: "cs_1".to_owned(),
        payment_intent: None,
        customer: None,
    };
    let period = PaidPeriod {
        invoice: "in_1".to_owned(),
        number: None,
        our_customer: None,
        amount_cents: 700,
        currency: "usd".to_owned(),
        payment_intent: None,
        lines: Vec::new(),
    };
    let (id, reason, state) = ("dp_1".to_owned(), "fraudulent".to_owned(), DisputeState::Open);
    let dispute = DisputeUpdate { id, amount_cents: 300, reason, state };
    let named = PaymentEffect::PeriodPaymentNamed { invoice: "in_1".to_owned(), payment_intent: "pi_1".to_owned() };
    let table = [
        (paid, Some((U::Payment, Some(500), usd()))),
        (
            PaymentEffect::Refunded { amount_refunded_cents: 200, full: false, currency: usd() },
            Some((U::Refund, Some(200), usd())),
        ),
        (PaymentEffect::Failed { reason: "no".to_owned() }, Some((U::PaymentFailed, None, None))),
        (PaymentEffect::SessionExpired, Some((U::SessionExpired, None, None))),
        (PaymentEffect::PeriodPaid(Box::new(period)), Some((U::Payment, Some(700), usd()))),
        (
            PaymentEffect::RefundFailed { amount_cents: 100, reason: "no".to_owned(), refund: None },
            Some((U::Refund, Some(100), None)),
        ),
        (PaymentEffect::Disputed(dispute), Some((U::Refund, Some(300), None))),
        (named, Some((U::PaymentNamed, None, None))),
        (PaymentEffect::Unpaid, None),
        (PaymentEffect::SubscriptionChanged { customer: None, subscription: None }, None),
        (PaymentEffect::Ignored { kind: "payout.paid".to_owned() }, None),
    ];
    for (reported, expected) in table {
        let text = format!("{reported:?}");
        let about = Unmatched::of(&effect(reported));
        assert_eq!(about.map(|about| (about.kind, about.amount_cents, about.currency)), expected, "{text}");
    }
    let about = Unmatched::of(&effect(PaymentEffect::SessionExpired)).unwrap();
    let names = [about.client_reference_id, about.order_id, about.invoice_id, about.payment_intent, about.session];
    assert_eq!(names.map(Option::unwrap), ["ref", "order", "invoice", "pi_1", "cs_1"]);
}

#[test]
fn the_mails_say_what_is_known_of_the_money_and_what_is_done() {
    let mails = |reported: Option<PaymentEffect>| {
        let about = reported.map(|reported| Box::new(Unmatched::of(&effect(reported)).unwrap()));
        let keep = KeptPaymentEventCommand::Keep { event_id: "evt_1".to_owned(), body: "{}".to_owned(), about };
        let (mut bench, mut stored) = (Bench::new(), None::<KeptPaymentEvent>);
        bench.tell(&mut stored, id(1), &keep).unwrap();
        let missed = KeptPaymentEventCommand::Tried { matched: false };
        let first = bench.tell(&mut stored, id(1), &missed).unwrap().created;
        bench.now = bench.now.plus_ms(TRIED_DAYS * DAY_MS - 1);
        assert!(bench.tell(&mut stored, id(1), &missed).unwrap().created.is_empty(), "it may still match");
        assert!(!stored.as_ref().unwrap().at_rest());
        bench.now = bench.now.plus_ms(1);
        let last = bench.tell(&mut stored, id(1), &missed).unwrap().created;
        [first, last].map(|mails| (mails[0].subject.clone(), mails[0].text.trim_end().to_owned()))
    };
    let refund = PaymentEffect::Refunded { amount_refunded_cents: 1205, full: true, currency: Some("usd".to_owned()) };
    let names = "It refers to client_reference_id ref, metadata.orderId order, metadata.invoiceId invoice, payment \
                 intent pi_1, checkout session cs_1.";
    let retries = "Matching is retried with each new order and every hour, for 30 days.";
    let processor = "The payment processor reports a";
    let never = "The payment event evt_1 matched no order in 30 days and is no longer retried.";
    let advice = "Please look it up at the payment processor.";
    let [first, last] = mails(Some(refund));
    assert_eq!(first.0, "A refund of $12.05 matches no order");
    assert_eq!(first.1, format!("{processor} refund of $12.05 that matches no order (event evt_1). {names} {retries}"));
    assert_eq!(
        last,
        ("A refund of $12.05 matched no order in 30 days".to_owned(), format!("{never} {names}\n{advice}"))
    );
    // Records stored by an older release lack these details.
    let [first, last] = mails(None);
    assert_eq!(first.0, "A payment matches no order");
    assert_eq!(first.1, format!("{processor} payment that matches no order (event evt_1). {retries}"));
    assert_eq!(last, ("A payment matched no order in 30 days".to_owned(), format!("{never}\n{advice}")));
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
