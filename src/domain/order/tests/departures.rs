//! Tests of parts that are rejected after they left, and of surplus jobs.

use proptest::prelude::*;

use super::parts::{good, newest, plates, reserve, sign};
use super::shipping::some;
use super::*;
use crate::job::Departure;
use crate::mail::part::plain;
use crate::printer_status::PrintEnd;
use crate::sign_off::Inspection;

/// Prints everything that can be printed to completion, without inspections.
pub(super) fn print_all(desk: &mut OrderDecider) {
    reserve(desk);
    let sliced = desk.o().jobs.values().filter(|job| job.state == JobState::Sliced);
    let ids: Vec<Id> = sliced.map(|job| job.id).collect();
    for job in ids {
        print(desk, job, PrintEnd::Finished);
    }
}

/// Returns the number of parts of each line that have left and are good today, according to the prints themselves.
pub(super) fn good_sent(desk: &OrderDecider) -> Vec<u32> {
    let mut sent = vec![0; desk.o().lines.len()];
    for job in desk.o().jobs.values() {
        for attempt in &job.attempts {
            let departed: u32 = attempt.departures.iter().map(|one| one.quantity).sum();
            let good = attempt.sign_off.as_ref().map_or(0, |sign_off| sign_off.good);
            sent[job.line as usize] += departed.min(if attempt.withdrawn { 0 } else { good });
        }
    }
    sent
}

#[test]
fn a_part_that_is_rejected_after_it_left_is_made_again_and_sent() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    desk.ask(&some(&[(0, 1)], false)).unwrap();
    let departure = desk.o().jobs.get(&one).unwrap().attempts[0].departures.clone();
    assert_eq!(departure, [Departure { shipment: 1, quantity: 1 }], "of the oldest print");
    let rejected = sign(&mut desk, one, good(0)).unwrap();
    assert!(names(&rejected).contains(&"order.flagged"));
    assert_eq!(desk.o().flags, ["rejected_after_shipping"]);
    assert!(mails(&rejected).iter().any(|mail| mail.alert.is_some()), "staff is told");
    sign(&mut desk, two, good(0)).unwrap();
    assert_eq!((desk.o().shipped_parts(), desk.o().jobs.size()), (vec![0], 4));
    print_all(&mut desk);
    let shipped = desk.ask(&ship("pickup", "", "", false)).unwrap();
    assert_eq!(names(&shipped), ["order.shipped"]);
    assert_eq!(desk.o().shipments[1].lines, [SentLine { line: 0, quantity: 2 }]);
    assert_eq!((good_sent(&desk), desk.o().shipped_parts()), (vec![2], vec![2]));
    assert!(desk.o().flags.is_empty(), "{:?}", desk.o().flags);
}

#[test]
fn a_shipped_order_goes_on_when_a_part_of_it_is_rejected() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    let rejected = sign(&mut desk, one, good(0)).unwrap();
    assert_eq!(names(&rejected), ["job.signed_off", "job.added", "order.flagged"]);
    assert_eq!(
        (desk.o().status, &desk.o().shipment, desk.o().shipped_parts()),
        (OrderStatus::Printing, &None, vec![1])
    );
    print_all(&mut desk);
    assert_eq!(desk.o().status, OrderStatus::Ready);
    let shipped = desk.ask(&ship("pickup", "", "", false)).unwrap();
    let mail = mails(&shipped)[0];
    assert_eq!(mail.subject, format!("A replacement for order {} was picked up", desk.o().number_text()));
    let words = plain(&mail.text, &mail.parts, mail.link.as_ref());
    assert!(words.contains("1 x bracket"), "{words}");
    assert_eq!((desk.o().status, good_sent(&desk)), (OrderStatus::Shipped, vec![2]));
}

#[test]
fn a_shipped_order_that_makes_nothing_again_by_itself_waits_for_a_person() {
    let (mut desk, [one, two]) = pair();
    desk.bench.rules.quality.reprint_missing = false;
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    let rejected = sign(&mut desk, one, good(0)).unwrap();
    assert!(names(&rejected).contains(&"order.ready"));
    assert_eq!(desk.o().flags, ["short", "needs_attention", "rejected_after_shipping"]);
    assert_eq!(code(desk.ask(&ship("pickup", "", "", false))), "order_short");
    sign(&mut desk, one, good(1)).unwrap();
    assert_eq!((desk.o().flags.len(), desk.o().shipped_parts()), (0, vec![2]), "it was good after all");
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    assert_eq!((desk.o().status, desk.o().shipments.len()), (OrderStatus::Shipped, 1), "nothing more leaves");
}

#[test]
fn what_a_customer_took_short_stays_short_when_another_part_is_rejected() {
    let (mut desk, ids) = plates(3, 1);
    desk.bench.rules.quality.reprint_missing = false;
    for job in &ids {
        print(&mut desk, *job, PrintEnd::Finished);
    }
    sign(&mut desk, ids[0], good(0)).unwrap();
    desk.ask(&ship("pickup", "", "", true)).unwrap();
    assert_eq!(desk.o().status, OrderStatus::Shipped);
    desk.bench.rules.quality.reprint_missing = true;
    sign(&mut desk, ids[1], good(0)).unwrap();
    let again = desk.o().jobs.values().filter(|job| job.reprint).count();
    assert_eq!((again, desk.o().status), (1, OrderStatus::Printing), "one, not two");
}

#[test]
fn an_order_of_which_nothing_is_good_does_not_leave() {
    let (mut desk, [one, two]) = pair();
    desk.bench.rules.quality.reprint_missing = false;
    for job in [one, two] {
        print(&mut desk, job, PrintEnd::Finished);
        sign(&mut desk, job, good(0)).unwrap();
    }
    assert_eq!(desk.o().status, OrderStatus::Ready);
    for accepted in [false, true] {
        assert_eq!(code(desk.ask(&ship("pickup", "", "", accepted))), "nothing_good");
    }
}

#[test]
fn of_a_plate_that_left_in_part_the_rejected_parts_are_those_that_are_here() {
    let (mut desk, ids) = plates(4, 4);
    print(&mut desk, ids[0], PrintEnd::Finished);
    desk.ask(&some(&[(0, 2)], false)).unwrap();
    sign(&mut desk, ids[0], good(3)).unwrap();
    assert_eq!((desk.o().shipped_parts(), desk.o().parts_there()), (vec![2], vec![1]));
    sign(&mut desk, ids[0], good(1)).unwrap();
    assert_eq!((desk.o().shipped_parts(), desk.o().parts_there()), (vec![1], vec![0]));
    assert_eq!(desk.o().parts()[0].rejected_after_shipping, 1);
}

#[test]
fn a_plate_that_replaces_one_part_says_what_the_rest_of_it_is_for() {
    let (mut desk, ids) = plates(4, 4);
    print(&mut desk, ids[0], PrintEnd::Finished);
    sign(&mut desk, ids[0], good(3)).unwrap();
    assert_eq!(desk.o().jobs.get(&newest(&desk)).unwrap().spare_parts, 3);
    assert_eq!(desk.o().jobs.get(&ids[0]).unwrap().spare_parts, 0);
}

#[test]
fn a_job_that_a_correction_makes_superfluous_is_withdrawn_and_its_parts_are_not_given_up() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    for _ in 0..5 {
        sign(&mut desk, one, good(0)).unwrap();
        assert_eq!((desk.o().status, desk.o().parts()[0].running), (OrderStatus::Printing, 1), "made again");
        reserve(&mut desk);
        let corrected = sign(&mut desk, one, good(1)).unwrap();
        assert_eq!(names(&corrected), ["job.signed_off", "job.cancelled", "order.ready"]);
        assert_eq!(desk.o().parts()[0].cancelled, 0, "nobody gave it up");
    }
    assert!(desk.o().flags.is_empty(), "{:?}", desk.o().flags);
}

#[test]
fn a_superfluous_job_that_a_printer_has_is_told_and_withdrawn_when_it_did_not_start() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    sign(&mut desk, one, good(0)).unwrap();
    let again = newest(&desk);
    reserve(&mut desk);
    desk.ask(&JobCommand::Dispatch { job: again, printer: id(PRINTER_ID) }).unwrap();
    let corrected = sign(&mut desk, one, good(1)).unwrap();
    assert_eq!(desk.o().flags, ["surplus"]);
    let number = desk.o().jobs.get(&again).unwrap().number_text();
    assert!(mails(&corrected).iter().any(|mail| mail.text.contains(&number)), "people are told which");
    let attempt = desk.o().jobs.get(&again).unwrap().attempts[0].id;
    let report = Report::NotStarted { start_sent: false, counts: false, pardons: None, reason: "busy".into() };
    desk.ask(&OrderNews::Attempt { job: again, attempt, report }).unwrap();
    assert_eq!(desk.o().jobs.get(&again).unwrap().state, JobState::Cancelled);
    assert!(desk.o().flags.is_empty(), "{:?}", desk.o().flags);
}

#[test]
fn an_order_is_ready_once_the_last_job_that_it_waited_for_is_superfluous() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.bench.rules.quality.sign_off_required = true;
    desk.pay();
    let job = newest(&desk);
    reserve(&mut desk);
    print(&mut desk, job, PrintEnd::Finished);
    sign(&mut desk, job, good(0)).unwrap();
    let again = newest(&desk);
    reserve(&mut desk);
    desk.ask(&JobCommand::Dispatch { job: again, printer: id(PRINTER_ID) }).unwrap();
    sign(&mut desk, job, good(1)).unwrap();
    assert_eq!(desk.o().status, OrderStatus::Printing, "a printer has the other");
    let attempt = desk.o().jobs.get(&again).unwrap().attempts[0].id;
    let report =
        Report::NotStarted { start_sent: true, counts: false, pardons: None, reason: "it did not start".into() };
    let decision = desk.ask(&OrderNews::Attempt { job: again, attempt, report }).unwrap();
    assert_eq!(names(&decision), ["job.not_started", "job.cancelled", "order.ready"]);
    assert_eq!(desk.o().status, OrderStatus::Ready);
}

#[test]
fn a_rejected_part_of_a_kit_is_owed_again_as_a_part() {
    let kit = OrderLine { make: None, unit_price_cents: 900, ..line(2, 900, true) };
    let part = |per_set| OrderLine { kit_line: Some(0), per_set: Some(per_set), ..line(2 * per_set, 0, true) };
    let mut desk = OrderDecider::with(new_order(vec![kit, part(1), part(2)]));
    desk.pay();
    print_all(&mut desk);
    desk.ask(&some(&[(0, 1)], false)).unwrap();
    assert_eq!(desk.o().shipped_parts(), [1, 1, 2]);
    let of_second = desk.o().jobs.values().find(|job| job.line == 2).unwrap().id;
    sign(&mut desk, of_second, good(0)).unwrap();
    assert_eq!((desk.o().shipped_parts(), desk.o().parts_there()), (vec![0, 1, 1], vec![1, 1, 2]));
    print_all(&mut desk);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    assert_eq!(desk.o().shipments[1].lines, [SentLine { line: 1, quantity: 1 }, SentLine { line: 2, quantity: 3 }]);
    assert_eq!((desk.o().status, desk.o().shipped_parts()), (OrderStatus::Shipped, vec![2, 2, 4]));
}

/// Reloads the order as stored by a release that did not record departures.
pub(super) fn of_an_older_release(desk: &mut OrderDecider) {
    let order = desk.order.as_mut().unwrap();
    let jobs: Vec<Job> = order.jobs.values().map(|job| (**job).clone()).collect();
    for mut job in jobs {
        job.attempts.iter_mut().for_each(|attempt| attempt.departures.clear());
        let mut stored = serde_json::to_value(&job).unwrap();
        for member in ["spareParts", "surplus"] {
            stored.as_object_mut().unwrap().remove(member);
        }
        let read: Job = serde_json::from_value(stored).unwrap();
        order.jobs.insert_mut(read.id, read.into());
    }
    order.trace_departures();
}

#[test]
fn shipments_of_older_releases_are_traced_to_prints_of_before_that_are_good_today() {
    let (mut desk, ids) = plates(3, 1);
    print(&mut desk, ids[0], PrintEnd::Finished);
    print(&mut desk, ids[1], PrintEnd::Finished);
    sign(&mut desk, ids[0], good(0)).unwrap();
    desk.ask(&some(&[(0, 1)], false)).unwrap();
    desk.bench.now = desk.bench.now.plus_ms(1_000);
    print_all(&mut desk);
    let noted = |desk: &OrderDecider| {
        ids.iter().map(|job| desk.o().jobs.get(job).unwrap().attempts[0].departures.len()).collect::<Vec<_>>()
    };
    assert_eq!(noted(&desk), [0, 1, 0]);
    of_an_older_release(&mut desk);
    assert_eq!((noted(&desk), desk.o().shipped_parts()), (vec![0, 1, 0], vec![1]));
    // All that was there then was rejected, so what left was, too.
    sign(&mut desk, ids[1], good(0)).unwrap();
    of_an_older_release(&mut desk);
    assert_eq!((desk.o().shipped_parts(), desk.o().parts()[0].rejected_after_shipping), (vec![0], 1));
    print_all(&mut desk);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    assert_eq!((desk.o().shipments[1].lines[0].quantity, good_sent(&desk)), (3, vec![3]));
}

#[test]
fn a_customer_who_takes_it_without_a_rejected_part_is_owed_nothing() {
    let (mut desk, [one, two]) = pair();
    desk.bench.rules.quality.reprint_missing = false;
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    desk.ask(&ship("pickup", "", "", false)).unwrap();
    sign(&mut desk, one, good(0)).unwrap();
    assert!(desk.o().flags.contains(&"rejected_after_shipping".to_owned()));
    desk.ask(&ship("pickup", "", "", true)).unwrap();
    assert_eq!((desk.o().status, &desk.o().flags[..]), (OrderStatus::Shipped, &["short".to_owned()][..]));
}

/// Action on an order in production.
#[derive(Clone, Debug)]
enum Act {
    Print(u8),
    Sign(u8, u8),
    AtPrinter(u8, u8),
    Ship(u8, u8),
    ShipAll,
    Reload,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => any::<u8>().prop_map(Act::Print),
        5 => (any::<u8>(), 0u8..4).prop_map(|(job, good)| Act::Sign(job, good)),
        1 => (any::<u8>(), 0u8..4).prop_map(|(job, good)| Act::AtPrinter(job, good)),
        3 => (0u8..3, 1u8..4).prop_map(|(line, quantity)| Act::Ship(line, quantity)),
        1 => Just(Act::ShipAll),
        1 => Just(Act::Reload),
    ];
    prop::collection::vec(act, 0..60)
}

/// Starts a print and asserts that it is not a surplus reprint.
fn start(desk: &mut OrderDecider, which: u8) {
    reserve(desk);
    let sliced: Vec<Id> =
        desk.o().jobs.values().filter(|job| job.state == JobState::Sliced).map(|job| job.id).collect();
    let Some(job) = sliced.get(usize::from(which) % sliced.len().max(1)) else { return };
    let job = desk.o().jobs.get(job).unwrap().clone();
    let (parts, quantity) =
        (desk.o().parts()[job.line as usize], u64::from(desk.o().lines[job.line as usize].quantity));
    let without = parts.good + parts.running - u64::from(desk.o().plate_of(&job));
    assert!(!job.reprint || without < quantity, "{} is superfluous: {parts:?} of {quantity}", job.number_text());
    print(desk, job.id, PrintEnd::Finished);
}

fn act(desk: &mut OrderDecider, act: &Act) {
    let printed: Vec<Id> = desk.o().jobs.values().filter(|job| job.last_print().is_some()).map(|job| job.id).collect();
    let one = |which: u8| printed.get(usize::from(which) % printed.len().max(1)).copied();
    desk.bench.now = desk.bench.now.plus_ms(1_000);
    let at_most = |desk: &OrderDecider, job: Id, count: u8| {
        u32::from(count).min(desk.o().plate_of(desk.o().jobs.get(&job).unwrap()))
    };
    match act {
        Act::Print(which) => start(desk, *which),
        Act::Sign(which, count) => {
            if let Some(job) = one(*which) {
                let count = at_most(desk, job, *count);
                sign(desk, job, good(count)).unwrap();
            }
        }
        Act::AtPrinter(which, count) => {
            if let Some(job) = one(*which) {
                let attempt = desk.o().jobs.get(&job).unwrap().last_print().unwrap().id;
                let inspection = Inspection { good_count: Some(u32::from(*count)), ..Inspection::default() };
                let (by, at) = ("ann".to_owned(), desk.bench.now);
                desk.ask(&OrderNews::SignedAtPrinter { job, attempt, inspection, by, at }).unwrap();
            }
        }
        Act::Ship(line, quantity) => {
            let there = desk.o().parts_there();
            let before = good_sent(desk);
            if desk.ask(&some(&[(u32::from(*line), u32::from(*quantity))], false)).is_ok() {
                assert!(u64::from(*quantity) <= there[usize::from(*line)]);
                let after = good_sent(desk);
                for (n, line) in desk.o().lines.iter().enumerate() {
                    assert!(after[n] == before[n] || after[n] <= line.quantity, "no more leaves than is owed");
                }
            }
        }
        Act::ShipAll => {
            let _ = desk.ask(&ship("pickup", "", "", false));
        }
        Act::Reload => desk.order.as_mut().unwrap().trace_departures(),
    }
}

crate::drawn_cases! {
    75 of 300;
    #[test]
    fn whatever_is_said_and_sent_in_between_the_customer_has_what_was_ordered_in_the_end(
        acts in acts(), quantity in 1u32..4, plate in 1u32..4, sets in 1u32..3, required: bool,
    ) {
        let mut own = line(quantity, 500, true);
        own.make.as_mut().unwrap().units_per_plate = plate;
        let kit = OrderLine { make: None, unit_price_cents: 900, ..line(sets, 900, true) };
        let part = OrderLine { kit_line: Some(1), per_set: Some(2), quantity: 2 * sets, unit_price_cents: 0, ..own.clone() };
        let mut desk = OrderDecider::with(new_order(vec![own, kit, part]));
        desk.bench.rules.quality.max_reprints = 1_000;
        desk.bench.rules.quality.sign_off_required = required;
        desk.pay();
        for one in &acts {
            act(&mut desk, one);
        }
        // Everything is made well now, and everybody says so.
        for _ in 0..20 {
            reserve(&mut desk);
            let sliced: Vec<Id> = desk.o().jobs.values().filter(|job| job.state == JobState::Sliced).map(|job| job.id).collect();
            for job in sliced {
                start(&mut desk, 0);
                let _ = sign(&mut desk, job, Inspection::default());
            }
            let unsigned: Vec<Id> = desk.o().jobs.values().filter(|job| job.unsigned).map(|job| job.id).collect();
            for job in unsigned {
                sign(&mut desk, job, Inspection::default()).unwrap();
            }
        }
        if desk.o().status != OrderStatus::Shipped {
            desk.ask(&ship("pickup", "", "", false)).unwrap();
        }
        prop_assert_eq!(desk.o().status, OrderStatus::Shipped);
        prop_assert!(desk.o().jobs.values().all(|job| job.over()), "nothing is made any more");
        prop_assert!(desk.o().flags.is_empty(), "{:?}", desk.o().flags);
        let sent = good_sent(&desk);
        let ordered: Vec<u32> = desk.o().lines.iter().map(|line| line.quantity).collect();
        prop_assert!(sent[0] >= ordered[0] && sent[2] >= ordered[2], "{:?} of {:?}", sent, ordered);
        let shipped: Vec<u64> = ordered.iter().map(|quantity| u64::from(*quantity)).collect();
        prop_assert_eq!(desk.o().shipped_parts(), shipped);
    }
}
