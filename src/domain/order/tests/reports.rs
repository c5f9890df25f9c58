//! Tests of the exact effects of each printer report and each resolution, including late and repeated ones.

use super::*;
use crate::job::{AttemptState, Block, ClaimStatus, PrinterRecord};
use crate::printer_status::PrintEnd;
use crate::time::Timestamp;

/// Builds a desk whose only job was given to a printer.
fn dispatched() -> OrderDecider {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    desk
}

/// Builds a desk whose only job is observed printing.
fn printing() -> OrderDecider {
    let mut desk = dispatched();
    desk.report(Report::Printing);
    desk
}

fn ended(end: PrintEnd, reason: Option<&str>, began_at: Option<Timestamp>, unseen: bool) -> Report {
    let (filament_mm, reason, booked_on) = (None, reason.map(str::to_owned), Vec::new());
    Report::Ended { end, filament_mm, progress: 0.5, reason, began_at, unseen, booked_on }
}

fn not_started(start_sent: bool) -> Report {
    Report::NotStarted { start_sent, counts: false, pardons: None, reason: "busy".to_owned() }
}

fn edit(desk: &mut OrderDecider, change: impl FnOnce(&mut Job)) {
    let mut job = (*desk.job()).clone();
    change(&mut job);
    desk.order.as_mut().unwrap().jobs.insert_mut(job.id, job.into());
}

#[test]
fn a_job_is_given_to_a_printer_only_while_it_waits_for_one_with_all_that_it_needs() {
    let mut desk = OrderDecider::sliced();
    for (status, may) in [
        (OrderStatus::Paid, true),
        (OrderStatus::Printing, true),
        (OrderStatus::Ready, false),
        (OrderStatus::Cancelled, false),
    ] {
        desk.order.as_mut().unwrap().status = status;
        let dispatch = JobCommand::Dispatch { job: desk.job().id, printer: id(PRINTER_ID) };
        assert_eq!(dispatch.decide(desk.order.as_ref(), id(ORDER_ID), &desk.bench.cx()).is_ok(), may, "{status}");
    }
    let lacks: [fn(&mut Job); 4] = [
        |job| job.state = JobState::Validated,
        |job| job.stock = ClaimStatus::InLine,
        |job| job.file_id = None,
        |job| job.attempt_id = Some(job.attempts[0].id),
    ];
    for lack in lacks {
        let mut desk = dispatched();
        desk.report(not_started(false));
        edit(&mut desk, lack);
        assert_eq!(code(desk.dispatch()), "invalid_transition", "{:?}", desk.job());
    }
    let mut desk = dispatched();
    desk.report(not_started(false));
    desk.dispatch().unwrap();
    let numbers: Vec<u32> = desk.job().attempts.iter().map(|attempt| attempt.number).collect();
    assert_eq!((numbers, desk.job().attempt_id), (vec![1, 2], Some(desk.last().id)));
    let unknown = JobCommand::Dispatch { job: id(999), printer: id(PRINTER_ID) };
    assert_eq!(code(desk.ask(&unknown)), "job_not_found");
}

#[test]
fn a_report_that_comes_late_or_twice_takes_nothing_back() {
    use AttemptState as S;
    let mut desk = dispatched();
    let steps = [
        (Report::Uploading, S::Uploading, Some(vec![])),
        (Report::Uploading, S::Uploading, None),
        (Report::StartSent, S::StartSent, Some(vec![])),
        (Report::StartSent, S::StartSent, None),
        (Report::Uploading, S::StartSent, None),
        (Report::Printing, S::Confirmed, Some(vec!["job.printing", "order.printing"])),
        (Report::Printing, S::Confirmed, None),
        (Report::StartSent, S::Confirmed, None),
        (Report::Uploading, S::Confirmed, None),
        (Report::Paused, S::Confirmed, Some(vec!["job.paused"])),
        (Report::Paused, S::Confirmed, None),
        (Report::Printing, S::Confirmed, Some(vec!["job.resumed"])),
    ];
    for (report, state, events) in steps {
        let decision = desk.report(report.clone());
        assert_eq!(decision.next.is_some().then(|| names(&decision)), events, "{report:?}");
        assert_eq!((desk.last().state, decision.answer.is_wanted), (state, true), "{report:?}");
    }
    let over = desk.report(ended(PrintEnd::Finished, None, None, false));
    assert!(!over.answer.is_wanted && !desk.report(Report::Printing).answer.is_wanted);
    for (job, attempt) in [(desk.job().id, id(999)), (id(999), desk.last().id)] {
        let unknown = desk.ask(&OrderNews::Attempt { job, attempt, report: Report::Printing }).unwrap();
        assert!(unknown.next.is_none() && !unknown.answer.is_wanted);
    }
}

#[test]
fn a_doubt_is_published_once_and_its_reason_kept_up_to_date() {
    let doubt = |reason: &str| Report::Unverified(reason.to_owned());
    let mut desk = dispatched();
    assert_eq!(names(&desk.report(doubt("no answer"))), ["job.unverified"]);
    assert!(desk.report(doubt("no answer")).next.is_none());
    let other = desk.report(doubt("cut off"));
    assert!(other.next.is_some() && names(&other).is_empty());
    let last = desk.last();
    assert_eq!((last.state, last.reason.as_deref()), (AttemptState::StartSent, Some("cut off")));
    desk.report(Report::Printing);
    assert_eq!((desk.last().unverified, desk.last().reason), (false, None), "it is seen");
}

#[test]
fn a_print_that_was_seen_ends_its_job_whatever_the_printer_says_of_its_start() {
    let stopped = || Report::Stopped { reason: "emergency stop. Check it.".to_owned() };
    let table = [
        (not_started(true), AttemptState::Failed, "busy"),
        (stopped(), AttemptState::Failed, "emergency stop"),
        (Report::CancelledBeforeStart, AttemptState::Cancelled, "cancelled at the printer"),
    ];
    for (report, state, error) in table {
        let mut desk = printing();
        desk.report(report.clone());
        let (job, last) = (desk.job(), desk.last());
        assert_eq!((job.state, last.state, job.consumed), (JobState::Failed, state, Amount::ZERO), "{report:?}");
        assert_eq!((job.error.as_deref(), job.live()), (Some(error), None), "{report:?}");
    }
    let table = [
        (not_started(true), JobState::Sliced, AttemptState::NotStarted, "busy"),
        (not_started(false), JobState::Sliced, AttemptState::Refused, "busy"),
        (Report::CancelledBeforeStart, JobState::Sliced, AttemptState::Cancelled, "cancelled before it started"),
        (stopped(), JobState::Failed, AttemptState::Failed, "emergency stop"),
    ];
    for (report, state, attempt, reason) in table {
        let mut desk = dispatched();
        desk.report(report.clone());
        let last = desk.last();
        assert_eq!((desk.state(), last.state, last.reason.as_deref()), (state, attempt, Some(reason)), "{report:?}");
        assert_eq!((last.ended_at, desk.job().attempt_id), (Some(desk.bench.now), None));
        assert_eq!(desk.job().printer_id.is_some(), state == JobState::Failed, "another printer may take it");
    }
}

#[test]
fn an_attempt_that_printed_nothing_confirms_a_cancellation() {
    for report in [not_started(true), Report::Stopped { reason: "stop".to_owned() }, Report::CancelledBeforeStart] {
        let mut desk = dispatched();
        let job = desk.job().id;
        desk.ask(&JobCommand::Cancel { job, force: false, prints: PrinterRecords::new() }).unwrap();
        let decision = desk.report(report);
        assert_eq!((desk.state(), names(&decision)[0]), (JobState::Cancelled, "job.cancelled"));
        assert_eq!(desk.job().stock, ClaimStatus::Settling { consumed: Amount::ZERO });
    }
}

#[test]
fn a_print_has_the_times_that_somebody_saw() {
    let start = Bench::new().now.plus_ms(-5_000);
    let table =
        [(None, false, None, true), (Some(start), false, Some(start), false), (Some(start), true, Some(start), true)];
    for (began_at, unseen, started_at, is_unseen) in table {
        let mut desk = dispatched();
        desk.report(ended(PrintEnd::Finished, None, began_at, unseen));
        let last = desk.last();
        assert_eq!((last.started_at, last.unseen, last.ended_at), (started_at, is_unseen, Some(desk.bench.now)));
        assert_eq!(last.took_ms(), started_at.filter(|_| !is_unseen).map(|_| 5_000));
        assert_eq!((last.used, last.used_of.as_slice()), (Amount::units(100), &[(id(MATERIAL_ID), last.used)][..]));
    }
    // The order's own observation takes precedence.
    let mut desk = printing();
    let began_at = desk.bench.now;
    desk.bench.now = began_at.plus_ms(7_000);
    desk.report(ended(PrintEnd::Finished, None, Some(start), false));
    assert_eq!((desk.last().started_at, desk.last().took_ms()), (Some(began_at), Some(7_000)));
}

#[test]
fn a_print_that_ended_without_a_word_has_a_reason_all_the_same() {
    let table = [
        (PrintEnd::Failed, None, "the print failed", None),
        (PrintEnd::Failed, Some(" "), "the print failed", None),
        (PrintEnd::Cancelled, None, "cancelled at the printer", None),
        (PrintEnd::Failed, Some("it came off"), "it came off", Some("it came off")),
    ];
    for (end, words, error, reason) in table {
        let mut desk = printing();
        desk.report(ended(end, words, None, false));
        assert_eq!((desk.job().error.as_deref(), desk.last().reason.as_deref()), (Some(error), reason), "{words:?}");
        assert_eq!(desk.job().consumed, Amount::units(50));
    }
}

#[test]
fn a_job_is_failed_once_each_of_the_printers_refused_it() {
    let printers = [id(PRINTER_ID), id(PRINTER_ID + 1)];
    let mut desk = OrderDecider::sliced();
    let job = desk.job().id;
    let give_up = JobCommand::FailRefused { job, printers: printers.to_vec() };
    for printer in printers {
        assert_eq!(code(desk.ask(&give_up)), "invalid_transition");
        desk.ask(&JobCommand::Dispatch { job, printer }).unwrap();
        assert_eq!(code(desk.ask(&give_up)), "invalid_transition", "a printer has it");
        let reason = "no room".to_owned();
        desk.report(Report::NotStarted { start_sent: true, counts: true, pardons: None, reason });
    }
    desk.ask(&give_up).unwrap();
    assert_eq!(desk.job().error.as_deref(), Some("refused by 2 printers; the last reason was: no room"));
    assert_eq!((desk.state(), desk.job().consumed), (JobState::Failed, Amount::ZERO));
}

#[test]
fn a_person_resolves_only_what_is_in_doubt_or_was_begun() {
    let resolve = |desk: &mut OrderDecider, outcome, began: bool| {
        let print = PrinterRecord { began, progress: 0.4, ..PrinterRecord::default() };
        let job = desk.job().id;
        desk.ask(&JobCommand::Resolve { job, outcome, print }).map(drop)
    };
    let mut free = OrderDecider::sliced();
    assert!(resolve(&mut free, Resolution::Failed, true).is_err(), "no printer has it");
    assert!(resolve(&mut dispatched(), Resolution::Failed, false).is_err(), "nothing was started");
    // The printer saw the print begin, but the order does not know yet.
    let mut begun = dispatched();
    assert!(resolve(&mut begun, Resolution::NotStarted, true).is_err(), "it was seen");
    resolve(&mut begun, Resolution::Failed, true).unwrap();
    assert_eq!((begun.state(), begun.job().consumed), (JobState::Failed, Amount::units(40)));
    assert_eq!(begun.job().error.as_deref(), Some("an operator stated that the print failed"));
    assert_eq!((begun.last().word, begun.last().unseen), (Some(Resolution::Failed), true));
    // Its progress is unknown, so all material counts as used and none is promised twice.
    let mut unseen = dispatched();
    unseen.report(Report::StartSent);
    resolve(&mut unseen, Resolution::Failed, false).unwrap();
    assert_eq!(unseen.job().consumed, Amount::units(100));
    let mut doubted = dispatched();
    doubted.report(Report::Unverified("no answer".to_owned()));
    resolve(&mut doubted, Resolution::NotStarted, false).unwrap();
    assert_eq!((doubted.state(), doubted.last().state), (JobState::Sliced, AttemptState::NotStarted));
    assert_eq!(doubted.job().tried_on, [id(PRINTER_ID)], "it counts as a refusal");
}

#[test]
fn a_reservation_that_is_recalled_during_an_attempt_is_returned_if_nothing_was_printed() {
    for (report, state, claim) in [
        (not_started(false), JobState::AwaitingManualReview, 2),
        (ended(PrintEnd::Finished, None, None, false), JobState::Completed, 1),
    ] {
        let mut desk = dispatched();
        let claim_id = ClaimId { job: desk.job().id, number: 1 };
        let strange = [ClaimId { number: 9, ..claim_id }, ClaimId { job: id(999), ..claim_id }];
        let recall = RecallClaims([&[claim_id][..], &strange[..]].concat(), "counted".to_owned());
        assert_eq!(desk.ask(&recall).unwrap().answer, [claim_id], "it is kept while a printer has the job");
        assert!(desk.job().recalled && desk.job().stock == ClaimStatus::Held);
        desk.report(report);
        let job = desk.job();
        assert_eq!((job.state, job.claim), (state, claim));
        let reason = (claim == 2).then_some("its material was counted at less than the reserved amount");
        assert_eq!((job.block_reason.as_deref(), job.blocked_by), (reason, reason.map(|_| Block::Material)));
        let settled = ClaimId { number: claim, ..claim_id };
        let again = desk.ask(&RecallClaims(vec![settled], "counted".to_owned())).unwrap();
        assert!(again.next.is_none() && again.answer.is_empty(), "nothing is reserved under it");
    }
}
