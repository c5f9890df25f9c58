//! Tests of shipments and their contents.

use super::*;
use crate::mail::Mail;
use crate::mail::part::plain;
use crate::printer_status::PrintEnd;
use crate::shop_clock::ShopClock;
use crate::sign_off::Inspection;
use crate::testing::orders::promised;

pub(super) fn some(lines: &[(u32, u32)], accept_short: bool) -> OrderCommand {
    let OrderCommand::Ship { shipment, .. } = ship("pickup", "", "", false) else { unreachable!() };
    let lines = lines.iter().map(|(line, quantity)| SentLine { line: *line, quantity: *quantity }).collect();
    OrderCommand::Ship { shipment, lines: Some(lines), accept_short }
}

#[test]
fn parts_leave_as_they_are_made_and_the_last_ships_the_order() {
    let (mut desk, [one, two]) = pair();
    assert_eq!(code(desk.ask(&some(&[(0, 1)], false))), "invalid_transition", "nothing is made yet");
    print(&mut desk, one, PrintEnd::Finished);
    assert_eq!(code(desk.ask(&ship("pickup", "", "", false))), "invalid_transition", "not all is made");
    assert_eq!(code(desk.ask(&some(&[(0, 2)], false))), "parts_not_there");
    let first = desk.ask(&some(&[(0, 1)], false)).unwrap();
    assert_eq!(names(&first), ["order.part_shipped"]);
    assert_eq!((&first.events[0].data["parts"], desk.o().shipped_parts()), (&1.into(), vec![1]));
    assert_eq!((desk.o().status, &desk.o().shipment), (OrderStatus::Printing, &None));
    assert_eq!(code(desk.ask(&some(&[(0, 1)], false))), "parts_not_there", "it has left");
    print(&mut desk, two, PrintEnd::Finished);
    assert_eq!(names(&desk.ask(&ship("pickup", "", "", false)).unwrap()), ["order.shipped"]);
    assert_eq!((desk.o().shipments.len(), desk.o().shipped_parts()), (2, vec![2]));
    assert_eq!(code(desk.ask(&some(&[(0, 1)], false))), "invalid_transition");
}

#[test]
fn a_short_order_is_shipped_once_all_that_is_good_has_left_and_that_is_accepted() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    desk.ask(&JobCommand::Cancel { job: two, force: false, prints: PrinterRecords::new() }).unwrap();
    desk.ask(&some(&[(0, 1)], false)).unwrap();
    assert_eq!(desk.o().status, OrderStatus::Ready);
    assert!(desk.o().lacks_parts());
    assert_eq!(code(desk.ask(&ship("pickup", "", "", false))), "order_short");
    let shipped = desk.ask(&ship("pickup", "", "", true)).unwrap();
    assert_eq!((names(&shipped), desk.o().shipments.len()), (vec!["order.shipped"], 1));
}

#[test]
fn another_shipment_is_suggested_with_as_many_days_until_delivery() {
    let clock = ShopClock::default();
    let day = |text: &str| clock.parse_day_start(text).unwrap();
    let next = |carrier: &str, delivery: &str| {
        let OrderCommand::Ship { shipment, .. } = ship(carrier, "JD1", delivery, false) else { unreachable!() };
        let sent = SentShipment { number: 1, shipment, lines: Vec::new(), shipped_at: day("2026-11-27") };
        sent.suggest_next(day("2026-12-30"), &clock)
    };
    let dhl = |estimated_delivery: &str| {
        Some(ShipmentSuggestion { carrier: "DHL".into(), estimated_delivery: estimated_delivery.into() })
    };
    assert_eq!(next("DHL", "2026-11-30"), dhl("2027-01-02"));
    assert_eq!(next("DHL", "2026-11-27"), dhl("2026-12-30"), "it arrives on the same day");
    for unusual in ["2026-11-26", "", "soon"] {
        assert_eq!(next("DHL", unusual), dhl(""), "{unusual}");
    }
    assert_eq!(next("pickup", "2026-11-27"), None);
}

#[test]
fn what_is_made_too_much_ends_with_the_last_shipment() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    let inspection = |good| Inspection { good_count: Some(good), ..Inspection::default() };
    desk.ask(&JobCommand::SignOff { job: one, inspection: inspection(0) }).unwrap();
    let again = *desk.o().jobs.keys().max().unwrap();
    super::parts::reserve(&mut desk);
    desk.ask(&JobCommand::Dispatch { job: again, printer: id(PRINTER_ID) }).unwrap();
    desk.ask(&JobCommand::SignOff { job: one, inspection: inspection(1) }).unwrap();
    assert_eq!((desk.o().status, desk.o().jobs.size()), (OrderStatus::Printing, 3));
    assert_eq!(desk.o().flags, ["surplus"], "a printer has it");
    desk.ask(&some(&[(0, 2)], false)).unwrap();
    assert_eq!(desk.o().status, OrderStatus::Shipped);
    let attempt = desk.o().jobs.get(&again).unwrap().attempts[0].id;
    desk.ask(&OrderNews::Attempt { job: again, attempt, report: Report::CancelledBeforeStart }).unwrap();
    assert_eq!((desk.o().jobs.get(&again).unwrap().state, desk.o().flags.len()), (JobState::Cancelled, 0));
}

#[test]
fn what_a_shipment_names_is_checked_as_a_whole() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    let refused = desk.ask(&some(&[(7, 1), (0, 0), (0, 1)], false)).unwrap_err();
    let paths: Vec<&str> = refused.faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["lines.0.line", "lines.1.quantity", "lines.2.line"]);
    assert_eq!(desk.ask(&some(&[], false)).unwrap_err().faults[0].path, "lines");
}

/// Replaces the number and ID of the order in a text with constants, so that every run yields the same text.
fn normalize(desk: &OrderDecider, text: &str) -> String {
    text.replace(&desk.o().number_text(), "ORD-000001").replace(&desk.o().id.to_string(), "the-order")
}

/// Renders the email as text.
fn written(mail: &Mail) -> String {
    plain(&mail.text, &mail.parts, mail.link.as_ref())
}

#[test]
fn the_customer_is_told_of_each_shipment_what_is_in_it_and_that_the_promise_was_kept() {
    let mut desk = promised();
    let first = desk.ask(&some(&[(0, 1)], false)).unwrap();
    let [mail] = mails(&first)[..] else { panic!("{:?}", first.created) };
    assert_eq!((&mail.to[..], mail.alert), (&["buyer@example.org".to_owned()][..], None));
    assert_eq!(mail.subject, format!("Part of order {} was picked up", desk.o().number_text()));
    let last = desk.ask(&ship("DHL", "JD 1", "2026-12-01", false)).unwrap();
    let [mail] = mails(&last)[..] else { panic!("{:?}", last.created) };
    insta::assert_snapshot!(normalize(&desk, &format!("{}\n\n{}", mail.subject, written(mail))), @r#"
    The rest of order ORD-000001 is on its way

    Hello,

    The rest of order ORD-000001 is on its way:

    1 x Bracket <large> Tracking number: 0

    Carrier: DHL
    Tracking number: JD 1
    Expected delivery: 1 Dec 2026

    Track shipment: https://parcels.example/JD+1

    We kept our promise to have your order ready by 14 Nov 2023 23:13. It was ready on 14 Nov 2023 22:13.

    View order: https://shop.example/orders/the-order
    "#);
}

#[test]
fn a_customer_who_was_told_too_early_a_date_is_told_so() {
    let mut desk = promised();
    let order = desk.order.as_mut().unwrap();
    let promise = order.promise.as_mut().unwrap();
    promise.promised_at = promise.made_at.plus_ms(-60_000);
    let shipped = desk.ask(&ship("pickup", "", "", false)).unwrap();
    insta::assert_snapshot!(normalize(&desk, &written(mails(&shipped)[0])), @r#"
    Hello,

    Order ORD-000001 was picked up:

    2 x Bracket <large> Tracking number: 0

    We promised to have your order ready by 14 Nov 2023 22:12, but it was not ready until 14 Nov 2023 22:13. We're sorry for the delay.

    View order: https://shop.example/orders/the-order
    "#);
}

#[test]
fn what_is_made_again_is_not_told_as_kept_and_what_has_left_as_a_whole_is() {
    let mut desk = promised();
    let one = *desk.o().jobs.keys().min().unwrap();
    let inspection = |good| Inspection { good_count: Some(good), ..Inspection::default() };
    desk.ask(&JobCommand::SignOff { job: one, inspection: inspection(0) }).unwrap();
    let part = desk.ask(&some(&[(0, 1)], false)).unwrap();
    let words = written(mails(&part)[0]);
    assert!(words.contains("Your whole order is promised for 14 Nov 2023 23:13."), "{words}");
    desk.ask(&JobCommand::SignOff { job: one, inspection: inspection(1) }).unwrap();
    assert_eq!((desk.o().status, desk.o().promise.unwrap().met_at), (OrderStatus::Ready, Some(desk.bench.now)));
    let rest = desk.ask(&some(&[(0, 1)], false)).unwrap();
    let words = written(mails(&rest)[0]);
    assert_eq!(desk.o().status, OrderStatus::Shipped);
    assert!(words.contains("We kept our promise"), "{words}");
}

#[test]
fn a_shop_that_tells_its_customers_itself_sends_no_mail_of_shipments() {
    let mut desk = promised();
    desk.bench.rules.shipment_notices = false;
    assert!(desk.ask(&ship("pickup", "", "", false)).unwrap().created.is_empty());
    let (mut unknown, [one, two]) = pair();
    print(&mut unknown, one, PrintEnd::Finished);
    print(&mut unknown, two, PrintEnd::Finished);
    unknown.order.as_mut().unwrap().customer_email = None;
    assert!(unknown.ask(&ship("pickup", "", "", false)).unwrap().created.is_empty(), "nobody to tell");
}
