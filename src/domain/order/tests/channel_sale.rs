use super::*;
use crate::invoice::Sums;

/// Builds an order with two lines in the other shop: a plain part, and a set of three parts, with a rounding of one
/// cent.
pub(super) fn sold() -> SoldOrder {
    let mut new = new_order(vec![line(2, 1250, true), line(1, 999, true), line(3, 0, true)]);
    new.lines[1].make = None;
    (new.lines[2].kit_line, new.lines[2].per_set) = (Some(1), Some(3));
    SoldOrder {
        new,
        sold: ChannelOrigin {
            channel_order_id: id(70),
            channel_id: id(71),
            number: "#1001".to_owned(),
            lines: 2,
            shipping_tax_rate_bps: 0,
            rounding_cents: 1,
            tells_customer: true,
            told_shipments: 0,
            told_last: false,
        },
        shipping_cents: 400,
        discount_cents: 100,
        total_cents: 2500 + 999 + 400 - 100 + 1,
    }
}

fn sold_desk() -> OrderDecider {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    desk.ask(&OrderCommand::CreateSold(Box::new(sold()))).unwrap();
    desk
}

#[test]
fn it_is_paid_invoiced_and_made_in_one_commit() {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    let decision = desk.ask(&OrderCommand::CreateSold(Box::new(sold()))).unwrap();
    let invoice = decision.created.iter().find_map(|one| match one {
        OrderCreated::Invoice(new) => Some(new.invoice.clone()),
        OrderCreated::Mail(_) => None,
    });
    let invoice = invoice.unwrap();
    let sums: &Sums = &invoice.content.sums;
    assert_eq!((sums.total_cents, sums.payable_cents(), invoice.due_cents()), (3799, 3800, 0));
    let order = desk.order.as_ref().unwrap();
    assert_eq!((order.status, order.total_cents, order.ledger.kept_cents), (OrderStatus::Paid, 3800, 3800));
    assert_eq!(order.jobs.size(), 5, "two parts, and the three of the set");
    assert!(order.flags.is_empty(), "{:?}", order.flags);
    assert_eq!(order.ledger.payments[0].method, CHANNEL_METHOD);
    let again = desk.ask(&OrderCommand::CreateSold(Box::new(sold()))).unwrap_err();
    assert_eq!(again.code, "exists");
}

#[test]
fn sums_that_do_not_add_up_are_refused() {
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    let wrong = SoldOrder { total_cents: 3801, ..sold() };
    let refusal = desk.ask(&OrderCommand::CreateSold(Box::new(wrong))).unwrap_err();
    assert_eq!(refusal.faults[0].path, "totalCents");
}

#[test]
fn the_processor_is_never_asked_to_pay_it_back_and_refunds_there_are_recorded_once() {
    let mut desk = sold_desk();
    let refund = OrderCommand::Refund { payment: None, amount_cents: None, at_processor: true };
    assert!(desk.ask(&refund).is_err(), "there is no payment of the processor");
    let there = |cents, cancelled| OrderCommand::There(ShopOrderChange { cancelled, refunded_cents: cents });
    desk.ask(&there(500, false)).unwrap();
    assert!(desk.ask(&there(500, false)).unwrap().next.is_none());
    assert!(desk.ask(&there(300, false)).unwrap().next.is_none(), "told late");
    assert_eq!(desk.order.as_ref().unwrap().ledger.kept_cents, 3300);
    desk.ask(&there(500, true)).unwrap();
    let order = desk.order.as_ref().unwrap();
    assert_eq!(order.status, OrderStatus::Cancelled);
    assert_eq!(order.flags, ["refund_due"], "until the shop has paid it back");
    desk.ask(&there(9_999, true)).unwrap();
    let order = desk.order.as_ref().unwrap();
    assert_eq!((order.status, order.ledger.kept_cents), (OrderStatus::Refunded, 0));
    assert!(order.flags.is_empty(), "{:?}", order.flags);
}

#[test]
fn what_was_given_back_by_hand_is_not_what_the_shop_paid_back() {
    let mut desk = sold_desk();
    let payment = Some(desk.o().ledger.payments[0].id);
    let by_hand = OrderCommand::RefundOtherwise { payment, amount_cents: Some(500), method: "cash".to_owned() };
    desk.ask(&by_hand).unwrap();
    let there = |cents| OrderCommand::There(ShopOrderChange { cancelled: false, refunded_cents: cents });
    desk.ask(&there(500)).unwrap();
    assert_eq!((desk.o().ledger.kept_cents, desk.o().ledger.payments.len()), (2800, 3));
    // What an operator notes that the shop paid back, and what the shop tells of it, are the same.
    desk.ask(&OrderCommand::Refund { payment, amount_cents: Some(300), at_processor: false }).unwrap();
    assert!(desk.ask(&there(800)).unwrap().next.is_none());
    assert_eq!((desk.o().ledger.kept_cents, desk.o().ledger.payments.len()), (2500, 4));
    desk.ask(&there(3800)).unwrap();
    assert_eq!((desk.o().ledger.kept_cents, desk.o().status), (0, OrderStatus::Refunded));
}

#[test]
fn the_shop_counts_sets_that_have_left_whole() {
    let mut desk = sold_desk();
    let order = desk.order.as_mut().unwrap();
    let sent = |number, lines: &[(u32, u32)]| SentShipment {
        number,
        shipment: Shipment {
            carrier: "DHL".to_owned(),
            tracking_number: format!("T{number}"),
            estimated_delivery: "2026-12-01".to_owned(),
        },
        lines: lines.iter().map(|(line, quantity)| SentLine { line: *line, quantity: *quantity }).collect(),
        shipped_at: desk.bench.now,
    };
    order.shipments = vec![sent(1, &[(0, 1), (2, 2)]), sent(2, &[(0, 1), (2, 1)])];
    let units: Vec<Vec<u32>> = order.left_there().into_iter().map(|left| left.units).collect();
    assert_eq!(units, [vec![1, 0], vec![1, 1]]);
    let pending_shipments = |order: &Order| {
        order.effects().into_iter().find_map(|effect| match effect {
            OrderEffect::TellShop { shipments, last, .. } => Some((shipments, last)),
            _ => None,
        })
    };
    assert_eq!(pending_shipments(order), Some((2, false)));
    desk.ask(&OrderNews::ShopTold { shipments: 2, last: false }).unwrap();
    assert_eq!(pending_shipments(desk.order.as_ref().unwrap()), None);
}

#[test]
fn the_shop_hears_of_each_shipment_and_of_the_last_one_once() {
    let OrderCommand::Ship { shipment, .. } = ship("DHL", "T1", "2026-12-01", false) else { unreachable!() };
    let table = [
        (OrderStatus::Printing, 0, (0, false), None),
        (OrderStatus::Printing, 1, (0, false), Some((1, false))),
        (OrderStatus::Printing, 1, (1, false), None),
        (OrderStatus::Printing, 1, (2, false), None),
        (OrderStatus::Printing, 2, (1, true), Some((2, false))),
        (OrderStatus::Shipped, 0, (0, false), None),
        (OrderStatus::Shipped, 1, (1, false), Some((1, true))),
        (OrderStatus::Shipped, 1, (1, true), None),
        (OrderStatus::Shipped, 2, (1, true), Some((2, true))),
    ];
    let mut order = sold_desk().order.unwrap();
    for (status, sent, (told_shipments, told_last), expected) in table {
        let shipped_at = order.created_at;
        let sent_shipment = |number| SentShipment { number, shipment: shipment.clone(), lines: Vec::new(), shipped_at };
        (order.status, order.shipments) = (status, (1..=sent).map(sent_shipment).collect());
        let sold = order.sold.as_mut().unwrap();
        (sold.told_shipments, sold.told_last) = (told_shipments, told_last);
        let tells = |(shipments, last)| OrderEffect::TellShop { channel_order: id(70), shipments, last };
        assert_eq!(order.tell_shop(), expected.map(tells), "{status} {sent} {told_shipments} {told_last}");
    }
    order.sold = None;
    assert_eq!((order.tell_shop(), order.rounding_cents()), (None, 0), "sold by nobody else");
}

#[test]
fn what_the_shop_was_told_is_never_less_than_before() {
    let table = [
        ((1, false), (1, false), None),
        ((1, false), (2, false), Some((2, false))),
        ((1, false), (1, true), Some((1, true))),
        ((1, false), (0, true), Some((1, true))),
        ((2, true), (1, false), None),
        ((2, true), (2, true), None),
        ((2, true), (3, false), Some((3, true))),
    ];
    for (before, (shipments, last), after) in table {
        let mut desk = sold_desk();
        let sold = desk.order.as_mut().unwrap().sold.as_mut().unwrap();
        (sold.told_shipments, sold.told_last) = before;
        let next = desk.ask(&OrderNews::ShopTold { shipments, last }).unwrap().next;
        let reported = next.map(|order| order.sold.map(|sold| (sold.told_shipments, sold.told_last)).unwrap());
        assert_eq!(reported, after, "{before:?} {shipments} {last}");
    }
    let mut own = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    assert!(own.ask(&OrderNews::ShopTold { shipments: 1, last: true }).unwrap().next.is_none());
}

#[test]
fn an_order_that_has_left_is_not_cancelled_there_any_more() {
    let there = OrderCommand::There(ShopOrderChange { cancelled: true, refunded_cents: 0 });
    for (status, after) in [(OrderStatus::Shipped, OrderStatus::Shipped), (OrderStatus::Ready, OrderStatus::Cancelled)]
    {
        let mut desk = sold_desk();
        desk.order.as_mut().unwrap().status = status;
        desk.ask(&there).unwrap();
        assert_eq!(desk.o().status, after);
        assert!(desk.ask(&there).unwrap().next.is_none(), "told twice");
    }
}

#[test]
fn what_was_free_there_is_made_without_a_payment() {
    let mut free = sold();
    (free.new.lines[0].unit_price_cents, free.new.lines[1].unit_price_cents) = (0, 0);
    (free.shipping_cents, free.discount_cents, free.total_cents, free.sold.rounding_cents) = (0, 0, 0, 0);
    let mut desk = OrderDecider { bench: Bench::new(), order: None };
    desk.ask(&OrderCommand::CreateSold(Box::new(free))).unwrap();
    assert_eq!((desk.o().status, desk.o().ledger.payments.len(), desk.o().jobs.size()), (OrderStatus::Paid, 0, 5));
    assert_eq!(sold_desk().o().rounding_cents(), 1);
}
