//! Exact outcomes of each message, lookup and report of a channel order, and the amounts with which its order is
//! created.

use super::*;
use crate::bounds::MAX_CENTS;
use crate::mail::Mail;
use crate::time::DAY_MS;

fn tell(bench: &Bench, record: &mut Option<ChannelOrder>, command: &ChannelOrderCommand) -> Vec<Mail> {
    bench.tell(record, id(1001), command).unwrap().created
}

/// Builds the record of a paid order whose lines have not been looked up yet.
fn waiting() -> (Bench, Option<ChannelOrder>) {
    let (bench, mut record) = (Bench::new(), None);
    tell(&bench, &mut record, &hear(messages(1)[1].clone()));
    (bench, record)
}

fn order(record: Option<&ChannelOrder>) -> &ChannelOrder {
    record.unwrap()
}

#[test]
fn a_line_is_looked_up_by_its_variant_and_code_or_else_by_its_title() {
    let line = |variant: Option<&str>, code: Option<&str>| SoldLine {
        variant: variant.map(str::to_owned),
        code: code.map(str::to_owned),
        ..content(1).lines[0].clone()
    };
    let cases = [
        (Some(" V1 "), Some("C\n1"), vec!["V1", "C 1"]),
        (Some("V1"), None, vec!["V1"]),
        (None, Some("C1"), vec!["C1"]),
        (None, None, vec!["Vase"]),
    ];
    for (variant, code, names) in cases {
        let line = line(variant, code);
        assert_eq!(line.names().collect::<Vec<_>>(), names);
        assert_eq!(line.primary_name(), names[0]);
    }
    for (length, expected) in [(200, "x".repeat(200)), (201, format!("{}…", "x".repeat(199)))] {
        assert_eq!(variant_name(&"x".repeat(length)), expected, "{length}");
    }
    assert_eq!(variant_name("\u{2028}a\tb\u{2029}"), "a b");
}

#[test]
fn the_status_follows_from_what_is_known() {
    use ChannelOrderStatus as S;
    let table = [
        // Whether it has an order, its order is being created, it was cancelled, it was paid.
        ([true, true, true, true], S::Made),
        ([true, false, false, false], S::Made),
        ([false, true, true, true], S::Waiting),
        ([false, true, false, false], S::Waiting),
        ([false, false, true, true], S::Cancelled),
        ([false, false, true, false], S::Cancelled),
        ([false, false, false, false], S::Unpaid),
        ([false, false, false, true], S::Waiting),
    ];
    for ([has_order, making, cancelled, paid], status) in table {
        let there = ShopState { cancelled, refunded_cents: 0 };
        let record = ChannelOrder { paid, there, making, has_order, ..waiting().1.unwrap() };
        assert_eq!(record.status(), status, "{has_order} {making} {cancelled} {paid}");
    }
}

#[test]
fn a_person_has_to_look_at_what_waits_failed_or_went_wrong() {
    let calm = waiting().1.unwrap();
    let missing = vec!["V1".to_owned()];
    let tracking = |state| ShipmentTracking {
        shipment: shipment(1, false),
        state,
        tries: 0,
        next_at: calm.created_at,
        error: None,
        created_at: calm.created_at,
    };
    let table = [
        (calm.clone(), false),
        (ChannelOrder { missing: missing.clone(), ..calm.clone() }, true),
        (ChannelOrder { missing, has_order: true, ..calm.clone() }, false),
        (ChannelOrder { problem: Some("no".to_owned()), has_order: true, ..calm.clone() }, true),
        (ChannelOrder { trackings: vec![tracking(TrackingState::Failed)], ..calm.clone() }, true),
        (ChannelOrder { trackings: vec![tracking(TrackingState::Pending)], ..calm.clone() }, false),
    ];
    for (record, needs) in table {
        assert_eq!(record.needs_attention(), needs, "{record:?}");
    }
}

#[test]
fn the_latest_content_counts_and_what_was_paid_or_cancelled_stays_so() {
    let (bench, mut record) = waiting();
    let paid = messages(1)[1].clone();
    let same_time = ShopOrderUpdate { content: Some(content(9)), paid: false, ..paid.clone() };
    assert!(bench.tell(&mut record, id(1001), &hear(same_time)).unwrap().next.is_none());
    let later = ShopOrderUpdate { changed_at: Timestamp(3), number: "#2".to_owned(), ..paid.clone() };
    tell(&bench, &mut record, &hear(ShopOrderUpdate { content: Some(content(4)), ..later.clone() }));
    let current = order(record.as_ref());
    assert_eq!((current.content.as_ref(), current.number.as_str(), current.paid), (Some(&content(4)), "#2", true));
    assert_eq!((current.external_id.as_str(), current.channel_id), ("1", id(CHANNEL)));
    let back = |refunded_cents, cancelled| ShopOrderUpdate { cancelled, refunded_cents, ..paid.clone() };
    for (update, state) in [
        (back(300, false), (300, false)),
        (back(200, true), (300, true)),
        (back(0, true), (300, true)),
        (back(0, false), (300, true)),
    ] {
        tell(&bench, &mut record, &hear(update));
        let there = order(record.as_ref()).there;
        assert_eq!((there.refunded_cents, there.cancelled), state);
    }
    // The content does not change while the order is being created.
    let (bench, mut record) = waiting();
    tell(&bench, &mut record, &ChannelOrderCommand::Resolved);
    tell(&bench, &mut record, &hear(ShopOrderUpdate { content: Some(content(4)), ..later }));
    assert_eq!(order(record.as_ref()).content, Some(content(1)));
    let (customer, other) = (Some(id(70)), Some(id(71)));
    for (customer, expected) in [(None, None), (customer, customer), (other, customer), (None, customer)] {
        let news = Box::new(paid.clone());
        tell(&bench, &mut record, &ChannelOrderCommand::Hear { channel: id(CHANNEL), customer, news });
        assert_eq!(order(record.as_ref()).customer_id, expected);
    }
}

#[test]
fn what_cannot_be_read_and_was_cancelled_bothers_nobody() {
    let (bench, mut record) = (Bench::new(), None);
    let unreadable = ShopOrderUpdate {
        content: None,
        unreadable: Some("line_items".to_owned()),
        cancelled: true,
        ..messages(1)[1].clone()
    };
    assert!(tell(&bench, &mut record, &hear(unreadable.clone())).is_empty());
    assert_eq!(order(record.as_ref()).problem, None);
    let mut record = None;
    let mails = tell(&bench, &mut record, &hear(ShopOrderUpdate { cancelled: false, ..unreadable }));
    assert_eq!(order(record.as_ref()).problem.as_deref(), Some("the sold items cannot be read: line_items"));
    assert_eq!(mails[0].subject, "Paid order #1 from a sales channel is on hold");
    let text = "It is saved and will be produced as soon as possible. the sold items cannot be read: line_items.";
    assert!(mails[0].text.starts_with(text), "{}", mails[0].text);
}

#[test]
fn each_outcome_counts_only_while_it_is_awaited() {
    use ChannelOrderCommand as C;
    let unresolved = |count: usize| C::Unresolved {
        missing: (1..=count).map(|n| format!("V{n}")).collect(),
        problem: Some("no price".to_owned()),
    };
    let (bench, mut record) = waiting();
    let resolve = |retries| ChannelOrderEffect::Resolve { changed_at: Timestamp(2), retries };
    assert_eq!(order(record.as_ref()).effects(), [resolve(0)]);
    assert!(!order(record.as_ref()).at_rest());
    for early in [C::Made, C::NotMade("no".to_owned())] {
        assert!(bench.tell(&mut record, id(1001), &early).unwrap().next.is_none(), "{early:?}");
    }
    let mails = tell(&bench, &mut record, &unresolved(21));
    assert_eq!(
        (order(record.as_ref()).missing.len(), order(record.as_ref()).missing.last().map(String::as_str)),
        (20, Some("V20"))
    );
    assert!(
        mails[0].text.contains("no entry for V1, V2,") && mails[0].text.contains(" no price."),
        "{}",
        mails[0].text
    );
    tell(&bench, &mut record, &C::Retry);
    assert_eq!((order(record.as_ref()).effects(), order(record.as_ref()).problem.as_deref()), (vec![resolve(1)], None));
    tell(&bench, &mut record, &C::Resolved);
    assert_eq!(
        (order(record.as_ref()).effects(), order(record.as_ref()).missing.len()),
        (vec![ChannelOrderEffect::Make], 0)
    );
    for late in [C::Resolved, unresolved(1), C::Retry] {
        assert!(bench.tell(&mut record, id(1001), &late).unwrap().next.is_none(), "{late:?}");
    }
    tell(&bench, &mut record, &C::NotMade("too many jobs".to_owned()));
    assert_eq!((order(record.as_ref()).effects(), order(record.as_ref()).refused), (vec![resolve(1)], true));
    tell(&bench, &mut record, &C::Resolved);
    tell(&bench, &mut record, &C::Made);
    assert!(order(record.as_ref()).has_order && order(record.as_ref()).at_rest());
    for late in [C::Made, C::NotMade("no".to_owned()), C::Resolved, C::Retry] {
        assert!(bench.tell(&mut record, id(1001), &late).unwrap().next.is_none(), "{late:?}");
    }
    assert!(bench.tell(&mut None::<ChannelOrder>, id(1002), &C::Made).is_err(), "nobody heard of it");
}

#[test]
fn what_our_order_refuses_is_told_with_its_reason() {
    let (bench, mut record) = waiting();
    tell(&bench, &mut record, &ChannelOrderCommand::Resolved);
    tell(&bench, &mut record, &ChannelOrderCommand::Made);
    let cancelled = ShopOrderUpdate { cancelled: true, ..messages(1)[1].clone() };
    tell(&bench, &mut record, &hear(cancelled));
    let reported = order(record.as_ref()).there;
    assert_eq!(order(record.as_ref()).effects(), [ChannelOrderEffect::TellOrder(reported)]);
    let refused = Some("it was shipped".to_owned());
    let mails = tell(&bench, &mut record, &ChannelOrderCommand::Told { reported, refused });
    assert!(order(record.as_ref()).at_rest() && order(record.as_ref()).problem.as_deref() == Some("it was shipped"));
    assert_eq!(mails.len(), 1);
    assert!(mails[0].text.contains("it was shipped"), "{}", mails[0].text);
    let accepted = ChannelOrderCommand::Told { reported, refused: None };
    assert!(bench.tell(&mut record, id(1001), &accepted).unwrap().next.is_none(), "told twice");
}

#[test]
fn a_report_of_a_shipment_is_tried_for_thirty_days() {
    use ChannelOrderCommand as C;
    let tracked = |number, outcome| C::Tracked { number, outcome };
    let again = || tracked(1, TrackingOutcome::Again("away".to_owned()));
    for (waited_ms, state, mails) in
        [(30 * DAY_MS - 1, TrackingState::Pending, 0), (30 * DAY_MS, TrackingState::Failed, 1)]
    {
        let (mut bench, mut record) = waiting();
        tell(&bench, &mut record, &C::Shipped(vec![shipment(1, false)]));
        bench.now = bench.now.plus_ms(waited_ms);
        assert_eq!(tell(&bench, &mut record, &again()).len(), mails);
        let tracking = &order(record.as_ref()).trackings[0];
        assert_eq!((tracking.state, tracking.tries, tracking.error.as_deref()), (state, 1, Some("away")));
        let retried_at = bench.now.plus_ms(5);
        bench.now = retried_at;
        tell(&bench, &mut record, &C::Retry);
        let tracking = &order(record.as_ref()).trackings[0];
        let is_failed = state == TrackingState::Failed;
        assert_eq!((tracking.state, tracking.tries), (TrackingState::Pending, u32::from(!is_failed)));
        assert_eq!((tracking.next_at, tracking.created_at == retried_at), (retried_at, is_failed));
    }
}

#[test]
fn an_outcome_counts_for_the_shipment_that_it_names_while_that_is_pending() {
    use ChannelOrderCommand as C;
    let (bench, mut record) = waiting();
    tell(&bench, &mut record, &C::Shipped(vec![shipment(1, false), shipment(2, false)]));
    let tracked = |number, outcome| C::Tracked { number, outcome };
    assert!(bench.tell(&mut record, id(1001), &tracked(3, TrackingOutcome::Told)).unwrap().next.is_none());
    tell(&bench, &mut record, &tracked(2, TrackingOutcome::NotWanted));
    tell(&bench, &mut record, &tracked(1, TrackingOutcome::Again("away".to_owned())));
    tell(&bench, &mut record, &tracked(1, TrackingOutcome::Told));
    let states: Vec<_> = order(record.as_ref()).trackings.iter().map(|one| (one.state, one.error.clone())).collect();
    assert_eq!(states, [(TrackingState::Told, None), (TrackingState::NotWanted, None)]);
    for late in [TrackingOutcome::Refused("no".to_owned()), TrackingOutcome::Again("no".to_owned())] {
        assert!(bench.tell(&mut record, id(1001), &tracked(1, late)).unwrap().next.is_none());
    }
    // A later report can mark the shipment as the last one; no report unmarks it.
    for (last, expected) in [(true, true), (true, true), (false, true)] {
        tell(&bench, &mut record, &C::Shipped(vec![shipment(2, last)]));
        assert_eq!(
            (order(record.as_ref()).trackings.len(), order(record.as_ref()).trackings[1].shipment.last),
            (2, expected)
        );
    }
    assert!(!order(record.as_ref()).trackings[0].shipment.last);
    let refused = tracked(3, TrackingOutcome::Refused("422".to_owned()));
    tell(&bench, &mut record, &C::Shipped(vec![shipment(3, true)]));
    let mails = tell(&bench, &mut record, &refused);
    assert_eq!(mails[0].subject, "A shipment of order #1 from a sales channel could not be reported");
    assert!(mails[0].text.contains("shipment 3 of its order #1") && mails[0].text.contains("422"), "{}", mails[0].text);
}

/// Builds the content of an untaxed order for one part.
fn plain(price: i64, shipping_cents: i64, discount_cents: i64, total_cents: i64) -> SoldContent {
    let mut plain = SoldContent { shipping_cents, discount_cents, total_cents, shipping_tax_rate_bps: 0, ..content(1) };
    (plain.lines[0].unit_price_cents, plain.lines[0].tax_rate_bps) = (price, 0);
    plain
}

#[test]
fn a_small_difference_is_rounding_and_a_larger_one_a_charge_or_a_discount() {
    // Price, shipping, discount and total in the other shop; shipping, discount and rounding here.
    let cases = [
        ((1000, 0, 0, 1000), (0, 0, 0)),
        ((1000, 0, 0, 1003), (0, 0, 3)),
        ((1000, 0, 0, 1004), (4, 0, 0)),
        ((1000, 0, 0, 997), (0, 0, -3)),
        ((1000, 0, 0, 996), (0, 4, 0)),
        ((1000, 0, 100, 950), (0, 50, 0)),
        ((1000, 0, 100, 1200), (200, 0, 0)),
        ((1000, 500, 0, 200), (200, 1000, 0)),
        ((1000, 0, 5000, 0), (0, 1000, 0)),
        ((19_995, 0, 0, 20_000), (0, 0, 5)),
        ((19_995, 0, 0, 20_001), (6, 0, 0)),
    ];
    for ((price, shipping, discount, total), (shipping_cents, discount_cents, rounding_cents)) in cases {
        let unit_prices = vec![price];
        let expected = SoldAmounts { unit_prices, shipping_cents, discount_cents, rounding_cents };
        assert_eq!(amounts(&plain(price, shipping, discount, total)), Some(expected), "{price} {shipping} {total}");
    }
}

#[test]
fn prices_that_include_tax_are_converted_half_up() {
    let taxed =
        |price: i64, bps: i64| SoldLine { unit_price_cents: price, tax_rate_bps: bps, ..content(1).lines[0].clone() };
    let gross = |lines, shipping_cents, discount_cents, total_cents| SoldContent {
        lines,
        taxes_included: true,
        shipping_cents,
        shipping_tax_rate_bps: 1900,
        discount_cents,
        total_cents,
        ..content(1)
    };
    let cases = [
        (gross(vec![taxed(1190, 1900)], 595, 0, 1785), (vec![1000], 500, 0, 0)),
        // 839.496 is rounded to 839, which is 998 with tax.
        (gross(vec![taxed(999, 1900)], 0, 0, 999), (vec![839], 0, 0, 1)),
        // The discount is at the highest rate, and spread over both.
        (gross(vec![taxed(1070, 700), taxed(1190, 1900)], 0, 119, 2148), (vec![1000, 1000], 0, 100, 0)),
    ];
    for (content, (unit_prices, shipping_cents, discount_cents, rounding_cents)) in cases {
        let expected = SoldAmounts { unit_prices, shipping_cents, discount_cents, rounding_cents };
        assert_eq!(amounts(&content), Some(expected), "{content:?}");
    }
}

#[test]
fn amounts_and_rates_out_of_bounds_are_not_converted() {
    assert!(amounts(&plain(MAX_CENTS, 0, 0, MAX_CENTS)).is_some());
    for odd in [
        plain(-1, 0, 0, 0),
        plain(MAX_CENTS + 1, 0, 0, MAX_CENTS),
        plain(1000, -1, 0, 1000),
        plain(1000, 0, -1, 1000),
        plain(0, 0, 0, -1),
        SoldContent { shipping_tax_rate_bps: 10_001, ..plain(1000, 0, 0, 1000) },
        SoldContent { shipping_tax_rate_bps: -1, ..plain(1000, 0, 0, 1000) },
    ] {
        assert_eq!(amounts(&odd), None, "{odd:?}");
    }
    let mut rated = plain(1000, 0, 0, 2000);
    rated.lines[0].tax_rate_bps = 10_000;
    assert_eq!(amounts(&rated).map(|costs| costs.unit_prices), Some(vec![1000]));
    rated.lines[0].tax_rate_bps = 10_001;
    assert_eq!(amounts(&rated), None);
}
