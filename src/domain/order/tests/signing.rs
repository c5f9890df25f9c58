//! Exact outcomes of sign-offs, flags, promises and shipment emails.

use super::parts::{good, plates, reserve, sign};
use super::shipping::some;
use super::*;
use crate::mail::part::plain;
use crate::printer_status::PrintEnd;
use crate::promise::Promise;
use crate::sign_off::Inspection;
use crate::testing::orders::promised;

fn edit(desk: &mut OrderDecider, job: Id, change: impl FnOnce(&mut Job)) {
    let mut edited = (**desk.o().jobs.get(&job).unwrap()).clone();
    change(&mut edited);
    desk.order.as_mut().unwrap().jobs.insert_mut(job, edited.into());
}

/// Returns the message of each flag that a commit sets.
fn flagged<A>(decision: &Decision<Order, A>) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let flags = decision.events.iter().filter(|event| event.event == "order.flagged");
    flags.map(|event| (text(&event.data["flag"]), text(&event.data["message"]))).collect()
}

#[test]
fn each_flag_says_how_much_is_missing() {
    let (mut desk, jobs) = plates(3, 1);
    desk.bench.rules.quality.reprint_missing = false;
    jobs.iter().for_each(|job| drop(print(&mut desk, *job, PrintEnd::Finished)));
    let first = sign(&mut desk, jobs[0], good(0)).unwrap();
    let flags = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(flag, message)| ((*flag).to_owned(), (*message).to_owned())).collect()
    };
    let short = "1 good parts are missing; ship the order with acceptShort, or have them made";
    let missing = "1 rejected parts are not replaced automatically; retry a job or ship the order with acceptShort";
    assert_eq!(flagged(&first), flags(&[("short", short), ("needs_attention", missing)]));
    desk.order.as_mut().unwrap().flags.clear();
    let second = sign(&mut desk, jobs[1], good(0)).unwrap();
    let [short, missing] = [short, missing].map(|message| message.replacen('1', "2", 1));
    assert_eq!(flagged(&second), flags(&[("short", short.as_str()), ("needs_attention", missing.as_str())]));
    desk.ask(&ship("pickup", "", "", true)).unwrap();
    let shipped = sign(&mut desk, jobs[2], good(0)).unwrap();
    let rejected = "1 shipped parts were rejected and must be replaced; ship replacements once they are good";
    assert!(flagged(&shipped).contains(&flags(&[("rejected_after_shipping", rejected)])[0]), "{:?}", flagged(&shipped));
}

#[test]
fn lines_of_several_parts_lack_all_of_them_together() {
    let mut desk = OrderDecider::with(new_order(vec![line(2, 500, true), line(3, 500, true)]));
    desk.pay();
    reserve(&mut desk);
    let jobs: Vec<Id> = desk.o().jobs.keys().copied().collect();
    print(&mut desk, jobs[0], PrintEnd::Finished);
    let mut last = None;
    for job in &jobs[1..] {
        let cancel = JobCommand::Cancel { job: *job, force: false, prints: PrinterRecords::new() };
        last = Some(desk.ask(&cancel).unwrap());
    }
    let flags = flagged(&last.unwrap());
    assert!(flags[0].1.starts_with("4 good parts are missing"), "{flags:?}");
}

#[test]
fn only_the_first_print_of_a_job_counts_for_the_yield_and_a_reprint_never() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Failed);
    desk.ask(&JobCommand::Retry(one)).unwrap();
    let retried = desk.o().jobs.get(&one).unwrap();
    let claim = ClaimId { job: one, number: retried.claim };
    desk.ask(&OrderNews::Stock(id(MATERIAL_ID), vec![(claim, ClaimState::Held, None)])).unwrap();
    print(&mut desk, one, PrintEnd::Finished);
    let first_passes = |desk: &OrderDecider, job: Id| -> Vec<bool> {
        desk.o().jobs.get(&job).unwrap().attempts.iter().map(|attempt| attempt.first_pass).collect()
    };
    assert_eq!(first_passes(&desk, one), [true, false]);
    sign(&mut desk, one, good(0)).unwrap();
    let again = super::parts::newest(&desk);
    reserve(&mut desk);
    print(&mut desk, again, PrintEnd::Finished);
    assert_eq!(first_passes(&desk, again), [false]);
}

#[test]
fn of_two_inspections_at_the_same_moment_that_of_the_page_counts() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    sign(&mut desk, one, good(1)).unwrap();
    let attempt = desk.o().jobs.get(&one).unwrap().attempts[0].id;
    let at = desk.bench.now;
    let report =
        |inspection, at| OrderNews::SignedAtPrinter { job: one, attempt, inspection, by: "ann".to_owned(), at };
    desk.ask(&report(good(0), at)).unwrap();
    assert_eq!(desk.o().parts()[0].good, 1);
    let (mut later, [one, _]) = pair();
    print(&mut later, one, PrintEnd::Finished);
    sign(&mut later, one, good(1)).unwrap();
    let attempt = later.o().jobs.get(&one).unwrap().attempts[0].id;
    let (by, at) = ("ann".to_owned(), at.plus_ms(1));
    later.ask(&OrderNews::SignedAtPrinter { job: one, attempt, inspection: good(0), by, at }).unwrap();
    assert_eq!(later.o().parts()[0].good, 0, "said later");
}

#[test]
fn plates_for_missing_parts_say_how_many_of_their_parts_are_spare() {
    let (mut desk, jobs) = plates(7, 3);
    desk.bench.rules.quality.reprint_missing = false;
    for job in &jobs {
        print(&mut desk, *job, PrintEnd::Finished);
    }
    sign(&mut desk, jobs[0], good(0)).unwrap();
    sign(&mut desk, jobs[1], good(0)).unwrap();
    desk.bench.rules.quality.reprint_missing = true;
    sign(&mut desk, jobs[2], good(0)).unwrap();
    let spares: Vec<u32> = desk.o().jobs.values().filter(|job| job.reprint).map(|job| job.spare_parts).collect();
    assert_eq!(spares, [0, 0, 2], "of nine parts seven are missing");
}

#[test]
fn a_finished_print_from_before_sign_offs_counts_as_a_whole() {
    let (mut desk, jobs) = plates(3, 3);
    print(&mut desk, jobs[0], PrintEnd::Finished);
    for (unsigned, parts) in [(false, 3), (true, 0)] {
        edit(&mut desk, jobs[0], |job| (job.attempts[0].sign_off, job.unsigned) = (None, unsigned));
        assert_eq!(desk.o().parts()[0].good, parts);
    }
    let (mut failed, jobs) = plates(3, 3);
    print(&mut failed, jobs[0], PrintEnd::Failed);
    edit(&mut failed, jobs[0], |job| job.attempts[0].sign_off = None);
    assert_eq!(failed.o().parts()[0].good, 0);
}

#[test]
fn a_promise_is_made_once_for_an_open_order_that_needs_nothing_but_time() {
    let (desk, jobs) = pair();
    let now = desk.bench.now;
    let promise = |promised_at| Promise { made_at: now, expected_at: now, promised_at, met_at: Some(now) };
    let promise_of = |desk: &OrderDecider, promised_at| {
        let news = OrderNews::Promise(promise(promised_at));
        let decided = news.decide(desk.order.as_ref(), id(ORDER_ID), &desk.bench.cx()).unwrap();
        decided.next.and_then(|order| order.promise).map(|promise| (promise.promised_at, promise.met_at))
    };
    assert_eq!(promise_of(&desk, now), Some((now, None)));
    assert_eq!(promise_of(&desk, now.plus_ms(-1)), None, "it could not be kept");
    for (status, may) in [(OrderStatus::Printing, true), (OrderStatus::Ready, false), (OrderStatus::Cancelled, false)] {
        let mut desk = OrderDecider { bench: Bench::new(), order: desk.order.clone() };
        desk.order.as_mut().unwrap().status = status;
        assert_eq!(promise_of(&desk, now).is_some(), may, "{status}");
    }
    for (state, is_cancelled, may) in [
        (JobState::Failed, false, false),
        (JobState::Failed, true, true),
        (JobState::AwaitingManualReview, false, false),
        (JobState::Paused, false, true),
        (JobState::Completed, false, true),
        (JobState::Cancelled, false, true),
    ] {
        let mut desk = OrderDecider { bench: Bench::new(), order: desk.order.clone() };
        edit(&mut desk, jobs[0], |job| (job.state, job.cancel_requested_at) = (state, is_cancelled.then_some(now)));
        assert_eq!(promise_of(&desk, now).is_some(), may, "{state} {is_cancelled}");
    }
}

#[test]
fn an_order_that_leaves_as_a_whole_before_it_is_ready_meets_its_promise() {
    let mut desk = promised();
    let job = *desk.o().jobs.keys().min().unwrap();
    sign(&mut desk, job, good(0)).unwrap();
    let again = super::parts::newest(&desk);
    reserve(&mut desk);
    desk.ask(&JobCommand::Dispatch { job: again, printer: id(PRINTER_ID) }).unwrap();
    sign(&mut desk, job, good(1)).unwrap();
    assert_eq!((desk.o().status, desk.o().promise.unwrap().met_at), (OrderStatus::Printing, None));
    desk.bench.now = desk.bench.now.plus_ms(60_000);
    desk.ask(&some(&[(0, 2)], false)).unwrap();
    assert_eq!((desk.o().status, desk.o().promise.unwrap().met_at), (OrderStatus::Shipped, Some(desk.bench.now)));
}

#[test]
fn the_mail_of_a_shipment_says_what_became_of_the_promise() {
    let words = |late_ms: i64, is_met: bool| {
        let mut desk = promised();
        let order = desk.order.as_mut().unwrap();
        order.status = OrderStatus::Printing;
        let promise = order.promise.as_mut().unwrap();
        promise.promised_at = desk.bench.now.plus_ms(-late_ms);
        promise.met_at = is_met.then_some(desk.bench.now);
        let shipped = desk.ask(&some(&[(0, 1)], false)).unwrap();
        let mail = mails(&shipped)[0];
        plain(&mail.text, &mail.parts, None)
    };
    for (late_ms, is_met, expected) in [
        (0, true, "We kept our promise"),
        (1, true, "but it was not ready until"),
        (0, false, "Your whole order is promised for"),
        (1, false, "The rest is late"),
    ] {
        let text = words(late_ms, is_met);
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn the_mail_of_a_shipment_names_the_kit_of_a_part_and_nobody_is_mailed_twice() {
    let kit = OrderLine { make: None, description: "desk set".to_owned(), ..line(1, 900, true) };
    let part = OrderLine { kit_line: Some(0), per_set: Some(1), ..line(1, 0, true) };
    let mut desk = OrderDecider::with(new_order(vec![kit, part]));
    desk.pay();
    reserve(&mut desk);
    let job = desk.job().id;
    print(&mut desk, job, PrintEnd::Finished);
    let order = desk.order.clone();
    let shipped = desk.ask(&ship("DHL", "JD1", "2026-12-01", false)).unwrap();
    let mail = mails(&shipped)[0];
    let text = plain(&mail.text, &mail.parts, None);
    assert!(text.contains("1 x bracket (part of desk set)"), "{text}");
    assert_eq!(mail.subject, format!("Order {} is on its way", desk.o().number_text()));
    for (tells_customer, count) in [(true, 0), (false, 1)] {
        let mut sold = OrderDecider { bench: Bench::new(), order: order.clone() };
        let origin = ChannelOrigin { tells_customer, ..super::channel_sale::sold().sold };
        sold.order.as_mut().unwrap().sold = Some(origin);
        let shipped = sold.ask(&ship("DHL", "JD1", "2026-12-01", false)).unwrap();
        assert_eq!(mails(&shipped).len(), count);
    }
}

#[test]
fn a_shipment_needs_a_carrier_a_number_and_a_real_date_unless_it_is_picked_up() {
    let (mut desk, jobs) = pair();
    jobs.iter().for_each(|job| drop(print(&mut desk, *job, PrintEnd::Finished)));
    let cases = [
        (("", "", ""), vec!["carrier", "trackingNumber", "estimatedDelivery"]),
        (("DHL", " ", "2026-12-01"), vec!["trackingNumber"]),
        (("DHL", "1", "2026-02-30"), vec!["estimatedDelivery"]),
        (("DHL", "1", "2026-12-01T10:00"), vec!["estimatedDelivery"]),
    ];
    for ((carrier, number, date), expected) in cases {
        let refused = desk.ask(&ship(carrier, number, date, false)).unwrap_err();
        assert_eq!(refused.faults.iter().map(|fault| fault.path.as_str()).collect::<Vec<_>>(), expected);
    }
    desk.ask(&ship(" Pickup ", "9", "never", false)).unwrap();
    let recorded = desk.o().shipment.clone().unwrap();
    assert_eq!((recorded.carrier.as_str(), recorded.tracking_number.as_str()), (PICKUP, ""));
    assert_eq!(recorded.estimated_delivery, desk.bench.rules.clock.field_date(desk.bench.now));
}

#[test]
fn an_order_has_at_most_fifty_shipments_and_each_has_the_next_number() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    let sent = desk.ask(&some(&[(0, 1)], false)).unwrap().next.unwrap().shipments[0].clone();
    let empty = |number| SentShipment { number, lines: Vec::new(), ..sent.clone() };
    for (count, may) in [(49, true), (50, false)] {
        let mut full = OrderDecider { bench: Bench::new(), order: desk.order.clone() };
        full.order.as_mut().unwrap().shipments = (1..=count).map(empty).collect();
        edit(&mut full, one, |job| job.attempts[0].departures.clear());
        let shipped = full.ask(&some(&[(0, 1)], false));
        assert_eq!(shipped.is_ok(), may, "{count}");
        if may {
            assert_eq!(full.o().shipments[49].number, 50);
        } else {
            assert_eq!(code(shipped), "too_many_shipments");
        }
    }
}

#[test]
fn an_inspection_without_a_count_only_confirms_a_print() {
    let (mut desk, [one, _]) = pair();
    assert_eq!(code(sign(&mut desk, one, good(1))), "nothing_to_sign_off");
    print(&mut desk, one, PrintEnd::Finished);
    let signed = sign(&mut desk, one, Inspection::default()).unwrap();
    assert_eq!(names(&signed), ["job.signed_off"]);
    let data = &signed.events[0].data;
    assert_eq!((&data["goodCount"], &data["plateParts"]), (&1.into(), &1.into()));
    assert_eq!(code(sign(&mut desk, one, good(2))), "validation_failed");
}
