//! Tests of good parts: the counts, automatic reprints, and the cases left to an operator.

use super::*;
use crate::printer_status::PrintEnd;
use crate::promise::Promise;
use crate::sign_off::Inspection;

pub(super) fn good(count: u32) -> Inspection {
    Inspection { good_count: Some(count), reason: Some("adhesion".to_owned()), ..Inspection::default() }
}

pub(super) fn sign(
    desk: &mut OrderDecider,
    job: Id,
    inspection: Inspection,
) -> Result<Decision<Order, JobAnswer>, Refusal> {
    desk.ask(&JobCommand::SignOff { job, inspection })
}

/// Delivers the inspection reported by the printer of the job's last print.
fn tell(desk: &mut OrderDecider, job: Id, inspection: Inspection) -> Decision<Order, OrderNewsAnswer> {
    let attempt = desk.o().jobs.get(&job).unwrap().attempts.last().unwrap().id;
    tell_of(desk, job, attempt, inspection)
}

fn tell_of(desk: &mut OrderDecider, job: Id, attempt: Id, inspection: Inspection) -> Decision<Order, OrderNewsAnswer> {
    let (by, at) = ("ann".to_owned(), desk.bench.now);
    desk.ask(&OrderNews::SignedAtPrinter { job, attempt, inspection, by, at }).unwrap()
}

/// Returns the good, running, missing and cancelled parts of the first line.
fn parts(desk: &OrderDecider) -> [u64; 4] {
    let (parts, quantity) = (desk.o().parts()[0], desk.o().lines[0].quantity);
    [parts.good, parts.running, parts.missing(quantity), parts.cancelled]
}

pub(super) fn newest(desk: &OrderDecider) -> Id {
    *desk.o().jobs.keys().max().unwrap()
}

/// Reserves material for every job that requests it.
pub(super) fn reserve(desk: &mut OrderDecider) {
    desk.prepare();
    let validated_jobs = desk.o().jobs.values().filter(|job| job.state == JobState::Validated);
    let held = validated_jobs.map(|job| (ClaimId { job: job.id, number: job.claim }, ClaimState::Held, None)).collect();
    desk.ask(&OrderNews::Stock(id(MATERIAL_ID), held)).unwrap();
}

/// Builds a paid order for the given number of parts on plates of the given size, with all material reserved; returns
/// it with the IDs of its jobs.
pub(super) fn plates(quantity: u32, plate: u32) -> (OrderDecider, Vec<Id>) {
    let mut of = line(quantity, 500, true);
    of.make.as_mut().unwrap().units_per_plate = plate;
    let mut desk = OrderDecider::with(new_order(vec![of]));
    desk.pay();
    reserve(&mut desk);
    let ids = desk.o().jobs.keys().copied().collect();
    (desk, ids)
}

#[test]
fn a_rejected_part_is_made_again_and_the_order_is_ready_once_more() {
    let (mut desk, [one, two]) = pair();
    assert_eq!(parts(&desk), [0, 2, 0, 0]);
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    assert_eq!((parts(&desk), desk.o().status), ([2, 0, 0, 0], OrderStatus::Ready));
    let signed = sign(&mut desk, two, good(0)).unwrap();
    assert_eq!(names(&signed), ["job.signed_off", "job.added"]);
    assert_eq!((parts(&desk), desk.o().status), ([1, 1, 0, 0], OrderStatus::Printing));
    let again = newest(&desk);
    assert!(desk.o().jobs.get(&again).unwrap().reprint);
    reserve(&mut desk);
    let ready = print(&mut desk, again, PrintEnd::Finished);
    assert_eq!(names(&ready).last(), Some(&"order.ready"));
    assert!(desk.o().flags.is_empty(), "{:?}", desk.o().flags);
}

#[test]
fn the_progress_of_an_order_counts_good_parts_without_spares() {
    let (mut desk, jobs) = plates(3, 2);
    assert_eq!((desk.o().part_progress(), jobs.len()), (Some((0, 3)), 2));
    print(&mut desk, jobs[0], PrintEnd::Finished);
    assert_eq!(desk.o().part_progress(), Some((2, 3)));
    print(&mut desk, jobs[1], PrintEnd::Finished);
    assert_eq!(desk.o().part_progress(), Some((3, 3)), "the fourth is a spare");
    sign(&mut desk, jobs[0], good(0)).unwrap();
    assert_eq!(desk.o().part_progress(), Some((2, 3)));
    let unpaid = OrderDecider::with(new_order(vec![line(3, 500, true)]));
    assert_eq!(unpaid.o().part_progress(), None, "it has no jobs");
}

#[test]
fn the_event_of_a_sign_off_at_the_printer_names_who_inspected_the_parts() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    let signed = tell(&mut desk, one, good(0));
    let actor = |name: &str| signed.events.iter().find(|event| event.event == name).map(|event| event.actor.as_str());
    assert_eq!(actor("job.signed_off"), Some("ann"));
    assert_ne!(actor("job.added"), Some("ann"), "the server adds it");
}

#[test]
fn a_promise_is_met_only_while_nothing_is_made_again() {
    let (mut desk, [one, two]) = pair();
    let now = desk.bench.now;
    let promise = Promise { made_at: now, expected_at: now, promised_at: now.plus_ms(60_000), met_at: None };
    desk.ask(&OrderNews::Promise(promise)).unwrap();
    let met = |desk: &OrderDecider| desk.o().promise.unwrap().met_at;
    print(&mut desk, one, PrintEnd::Finished);
    assert_eq!(met(&desk), None, "one part is missing");
    print(&mut desk, two, PrintEnd::Finished);
    assert_eq!(met(&desk), Some(now));
    sign(&mut desk, two, good(0)).unwrap();
    assert_eq!((desk.o().status, met(&desk)), (OrderStatus::Printing, None), "a part is made again");
    let again = newest(&desk);
    reserve(&mut desk);
    desk.bench.now = now.plus_ms(120_000);
    print(&mut desk, again, PrintEnd::Finished);
    assert_eq!((desk.o().status, met(&desk)), (OrderStatus::Ready, Some(desk.bench.now)), "later than promised");
    desk.ask(&JobCommand::Retry(one)).unwrap();
    assert_eq!((desk.o().status, met(&desk)), (OrderStatus::Printing, None), "a person has it made again");
    // Of an older release: it stood so while a part was made again.
    desk.order.as_mut().unwrap().promise.as_mut().unwrap().met_at = Some(now);
    reserve(&mut desk);
    print(&mut desk, one, PrintEnd::Finished);
    assert_eq!((desk.o().status, met(&desk)), (OrderStatus::Ready, Some(desk.bench.now)));
}

#[test]
fn a_line_makes_at_most_so_many_jobs_by_itself_then_a_person_is_called() {
    let (mut desk, mut ids) = plates(1, 1);
    for round in 0..4 {
        let job = *ids.last().unwrap();
        print(&mut desk, job, PrintEnd::Finished);
        sign(&mut desk, job, good(0)).unwrap();
        ids = desk.o().jobs.keys().copied().collect();
        ids.sort();
        assert_eq!(ids.len(), if round < 3 { round + 2 } else { 4 });
        reserve(&mut desk);
    }
    assert_eq!((parts(&desk), desk.o().status), ([0, 0, 1, 0], OrderStatus::Ready));
    assert_eq!(desk.o().flags, ["short", "needs_attention"]);
    desk.ask(&JobCommand::Retry(ids[0])).unwrap();
    assert!(desk.o().flags.is_empty(), "somebody makes it: {:?}", desk.o().flags);
}

#[test]
fn without_reprints_what_is_missing_waits_for_a_person() {
    let (mut desk, [one, two]) = pair();
    desk.bench.rules.quality.reprint_missing = false;
    print(&mut desk, one, PrintEnd::Finished);
    sign(&mut desk, one, good(0)).unwrap();
    assert_eq!((parts(&desk), desk.o().flags.clone()), ([0, 1, 1, 0], vec!["needs_attention".to_owned()]));
    print(&mut desk, two, PrintEnd::Finished);
    assert_eq!(desk.o().status, OrderStatus::Ready);
    assert_eq!(code(desk.ask(&ship("pickup", "", "", false))), "order_short");
    desk.ask(&ship("pickup", "", "", true)).unwrap();
}

#[test]
fn where_sign_off_is_required_nothing_counts_before_it() {
    let (mut desk, [one, two]) = pair();
    desk.bench.rules.quality.sign_off_required = true;
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    assert_eq!((parts(&desk), desk.o().status), ([0, 2, 0, 0], OrderStatus::Printing));
    tell(&mut desk, one, Inspection::default());
    assert_eq!((parts(&desk), desk.o().status), ([1, 1, 0, 0], OrderStatus::Printing));
    let ready = sign(&mut desk, two, Inspection::default()).unwrap();
    assert_eq!(names(&ready), ["job.signed_off", "order.ready"]);
    assert_eq!(parts(&desk), [2, 0, 0, 0]);
}

#[test]
fn a_plate_may_be_good_in_part_and_spare_parts_count() {
    let (mut desk, ids) = plates(5, 2);
    for job in &ids {
        print(&mut desk, *job, PrintEnd::Finished);
    }
    assert_eq!(parts(&desk), [6, 0, 0, 0], "plates are printed as a whole");
    sign(&mut desk, ids[0], good(1)).unwrap();
    assert_eq!((parts(&desk), desk.o().jobs.size()), ([5, 0, 0, 0], 3), "the spare part fills in");
    sign(&mut desk, ids[1], good(1)).unwrap();
    assert_eq!((parts(&desk), desk.o().jobs.size()), ([4, 2, 0, 0], 4), "one plate more");
    let refused = sign(&mut desk, ids[2], good(3)).unwrap_err();
    assert_eq!(refused.faults[0].path, "goodCount");
}

#[test]
fn a_printer_tells_once_and_the_later_word_counts() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    tell(&mut desk, one, good(0));
    assert_eq!(parts(&desk), [0, 2, 0, 0]);
    desk.bench.now = desk.bench.now.plus_ms(1000);
    assert_eq!(names(&sign(&mut desk, one, good(1)).unwrap()), ["job.signed_off", "job.cancelled"]);
    assert_eq!(parts(&desk), [1, 1, 0, 0], "the job made meanwhile is withdrawn");
    assert!(tell(&mut desk, one, good(0)).next.is_none(), "told again after a crash");
    assert!(sign(&mut desk, one, Inspection::default()).unwrap().next.is_none(), "confirmed without a word");
    assert_eq!(parts(&desk), [1, 1, 0, 0]);
}

#[test]
fn what_is_said_once_more_is_later_than_what_the_printer_has_still_to_tell() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    sign(&mut desk, one, good(1)).unwrap();
    let attempt = desk.o().jobs.get(&one).unwrap().attempts[0].id;
    let at = desk.bench.now.plus_ms(1000);
    let command = OrderNews::SignedAtPrinter { job: one, attempt, inspection: good(0), by: "ann".to_owned(), at };
    desk.bench.now = at.plus_ms(1000);
    assert_eq!(names(&sign(&mut desk, one, good(1)).unwrap()), [""; 0], "nothing new");
    desk.ask(&command).unwrap();
    assert_eq!((parts(&desk), desk.o().jobs.size()), ([1, 1, 0, 0], 2), "it is good, as was said last");
}

#[test]
fn clearing_the_bed_without_a_word_contradicts_nobody() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    sign(&mut desk, one, good(0)).unwrap();
    desk.bench.now = desk.bench.now.plus_ms(1000);
    tell(&mut desk, one, Inspection::default());
    assert_eq!(parts(&desk), [0, 2, 0, 0]);
}

#[test]
fn a_job_printed_again_takes_its_parts_out_also_when_they_are_signed_off_late() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    let first = desk.o().jobs.get(&one).unwrap().attempts[0].id;
    desk.ask(&JobCommand::Retry(one)).unwrap();
    assert_eq!(parts(&desk), [1, 1, 0, 0]);
    tell_of(&mut desk, one, first, good(1));
    assert_eq!(parts(&desk), [1, 1, 0, 0], "late");
    tell_of(&mut desk, one, first, good(0));
    assert_eq!((parts(&desk), desk.o().jobs.size()), ([1, 1, 0, 0], 2), "nothing more is made for it");
    reserve(&mut desk);
    print(&mut desk, one, PrintEnd::Finished);
    assert_eq!((parts(&desk), desk.o().status), ([2, 0, 0, 0], OrderStatus::Ready));
}

#[test]
fn a_failed_job_waits_for_a_person_whatever_was_good_of_it() {
    let (mut desk, ids) = plates(4, 4);
    print(&mut desk, ids[0], PrintEnd::Failed);
    sign(&mut desk, ids[0], good(3)).unwrap();
    assert_eq!((parts(&desk), desk.o().jobs.size()), ([3, 4, 0, 0], 1));
    desk.ask(&JobCommand::Cancel { job: ids[0], force: false, prints: PrinterRecords::new() }).unwrap();
    assert_eq!(parts(&desk), [3, 0, 0, 1], "a person gave up the fourth");
}

#[test]
fn a_job_that_was_cancelled_is_not_made_by_itself() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    sign(&mut desk, one, good(0)).unwrap();
    let again = newest(&desk);
    desk.ask(&JobCommand::Cancel { job: again, force: false, prints: PrinterRecords::new() }).unwrap();
    print(&mut desk, two, PrintEnd::Finished);
    assert_eq!((parts(&desk), desk.o().status), ([1, 0, 0, 1], OrderStatus::Ready));
    sign(&mut desk, one, good(0)).unwrap();
    assert_eq!((desk.o().jobs.size(), &desk.o().flags[..]), (3, &["short".to_owned()][..]));
}

#[test]
fn a_cancelled_job_is_made_again_only_while_its_line_misses_parts() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    sign(&mut desk, one, good(0)).unwrap();
    let again = newest(&desk);
    desk.ask(&JobCommand::Cancel { job: again, force: false, prints: PrinterRecords::new() }).unwrap();
    // Of two wanted one is under way.
    assert_eq!(parts(&desk), [0, 1, 0, 1]);
    desk.ask(&JobCommand::Retry(one)).unwrap();
    assert_eq!(code(desk.ask(&JobCommand::Retry(again))), "nothing_missing");
    desk.ask(&JobCommand::Cancel { job: two, force: false, prints: PrinterRecords::new() }).unwrap();
    desk.ask(&JobCommand::Retry(again)).unwrap();
    assert_eq!(code(desk.ask(&JobCommand::Retry(two))), "nothing_missing");
}

#[test]
fn after_cancelling_a_sign_off_is_only_recorded() {
    let (mut desk, [one, two]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
    sign(&mut desk, one, good(0)).unwrap();
    assert_eq!((desk.o().status, desk.o().jobs.size()), (OrderStatus::Cancelled, 2));
    assert_eq!(parts(&desk)[0], 1);
    assert_eq!(desk.o().flags, ["refund_due"]);
}

#[test]
fn what_cannot_be_signed_off_is_refused() {
    let (mut desk, [one, _]) = pair();
    assert_eq!(code(sign(&mut desk, one, good(1))), "nothing_to_sign_off");
    print(&mut desk, one, PrintEnd::Finished);
    let strange = Inspection { reason: Some("moon phase".to_owned()), ..Inspection::default() };
    assert_eq!(sign(&mut desk, one, strange).unwrap_err().faults[0].path, "reason");
}

#[test]
fn a_print_from_before_sign_offs_were_recorded_counts_as_a_whole() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    let order = desk.order.as_mut().unwrap();
    let mut job = (**order.jobs.get(&one).unwrap()).clone();
    job.attempts[0].sign_off = None;
    order.jobs.insert_mut(one, job.into());
    assert_eq!(parts(&desk), [1, 1, 0, 0]);
}

#[test]
fn the_picture_of_a_print_is_kept_with_its_attempt_until_it_is_deleted_unless_a_sign_off_names_it() {
    let (mut desk, [one, _]) = pair();
    print(&mut desk, one, PrintEnd::Finished);
    let last = |desk: &OrderDecider| desk.o().jobs.get(&one).unwrap().attempts.last().unwrap().clone();
    let (attempt, photo) = (last(&desk).id, id(77));
    let photographed = |job, attempt, file| OrderNews::Photographed { job, attempt, file };
    assert!(desk.ask(&photographed(one, attempt, Some(photo))).unwrap().next.is_some());
    assert_eq!(last(&desk).photo_file_id, Some(photo));
    assert!(desk.ask(&photographed(one, attempt, Some(photo))).unwrap().next.is_none(), "told twice");
    assert!(
        desk.ask(&photographed(one, id(78), Some(photo))).unwrap().next.is_none(),
        "of an attempt that is not known"
    );
    let named = Inspection { photo_file_id: Some(photo), ..good(0) };
    sign(&mut desk, one, named).unwrap();
    assert_eq!(desk.ask(&photographed(one, attempt, None)).unwrap_err().code, "photo_in_use");
    let other = Inspection { photo_file_id: Some(id(79)), ..good(0) };
    sign(&mut desk, one, other).unwrap();
    desk.ask(&photographed(one, attempt, None)).unwrap();
    assert_eq!(last(&desk).photo_file_id, None);
}
