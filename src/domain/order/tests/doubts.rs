//! Tests of starts and prints with unknown outcomes, and of their resolution by an operator.

use super::*;
use crate::job::{AttemptState, PrinterRecord};
use crate::printer_status::PrintEnd;
use crate::sign_off::Inspection;

fn resolve(desk: &OrderDecider, outcome: Resolution, print: PrinterRecord) -> JobCommand {
    JobCommand::Resolve { job: desk.job().id, outcome, print }
}

#[test]
fn an_unverified_start_is_resolved() {
    for (outcome, state) in [
        (Resolution::NotStarted, JobState::Sliced),
        (Resolution::Finished, JobState::Completed),
        (Resolution::Failed, JobState::Failed),
    ] {
        let mut desk = OrderDecider::sliced();
        desk.dispatch().unwrap();
        let resolve = resolve(&desk, outcome, PrinterRecord::default());
        assert_eq!(code(desk.ask(&resolve)), "invalid_transition", "nothing was started");
        desk.report(Report::StartSent);
        if outcome == Resolution::NotStarted {
            assert_eq!(code(desk.ask(&resolve)), "invalid_transition", "the start may yet be seen");
        }
        desk.report(Report::Unverified("no answer".into()));
        assert_eq!(desk.state(), JobState::Dispatching);
        desk.ask(&resolve).unwrap();
        assert_eq!(desk.state(), state);
        assert!(desk.o().effects().iter().any(|effect| matches!(effect, OrderEffect::TellResolution { .. })));
        desk.report(Report::NotStarted { start_sent: true, counts: true, pardons: None, reason: "told".into() });
        assert_eq!(desk.state(), state);
        assert!(!desk.o().effects().iter().any(|effect| matches!(effect, OrderEffect::TellResolution { .. })));
    }
}

#[test]
fn a_print_on_a_dead_printer_is_resolved_and_made_again_elsewhere() {
    let print = PrinterRecord { began: true, progress: 0.4, ..PrinterRecord::default() };
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    desk.report(Report::Printing);
    let command = resolve(&desk, Resolution::Failed, PrinterRecord { shown_now: true, ..print.clone() });
    assert_eq!(code(desk.ask(&command)), "printing", "a print that is shown is cancelled instead");
    assert_eq!(code(desk.ask(&resolve(&desk, Resolution::NotStarted, print.clone()))), "invalid_transition");
    desk.ask(&resolve(&desk, Resolution::Failed, print)).unwrap();
    assert_eq!((desk.state(), desk.job().consumed), (JobState::Failed, Amount::units(40)), "what was seen of it");
    desk.ask(&JobCommand::Retry(desk.job().id)).unwrap();
    desk.stock(ClaimState::Held);
    desk.dispatch().unwrap();
    assert_eq!(desk.job().attempts.len(), 2);
    let first = desk.job().attempts[0].id;
    let late = Report::Ended {
        end: PrintEnd::Failed,
        filament_mm: None,
        progress: 0.4,
        reason: None,
        began_at: None,
        unseen: false,
        booked_on: Vec::new(),
    };
    desk.ask(&OrderNews::Attempt { job: desk.job().id, attempt: first, report: late }).unwrap();
    assert_eq!(desk.state(), JobState::Dispatching, "the dead printer's word is late");
}

#[test]
fn a_print_whose_end_nobody_knows_waits_for_a_person() {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    desk.report(Report::Printing);
    assert_eq!(names(&desk.report(Report::Unverified("cut off".into()))), ["job.unverified"]);
    assert_eq!((desk.state(), desk.last().state), (JobState::Printing, AttemptState::Confirmed));
    assert!(desk.last().unverified);
    desk.report(Report::Printing);
    assert!(!desk.last().unverified, "it is seen again");
    desk.report(Report::Unverified("cut off".into()));
    let print = PrinterRecord { began: true, progress: 0.9, ..PrinterRecord::default() };
    desk.ask(&resolve(&desk, Resolution::Finished, print)).unwrap();
    assert_eq!((desk.state(), desk.last().unverified), (JobState::Completed, false));
    assert_eq!(desk.job().consumed, Amount::units(100));
}

#[test]
fn parts_that_somebody_found_on_the_bed_count_whatever_was_stated_about_their_start() {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    desk.report(Report::StartSent);
    desk.report(Report::Unverified("no answer".into()));
    let not_started = resolve(&desk, Resolution::NotStarted, PrinterRecord::default());
    desk.ask(&not_started).unwrap();
    let (job, attempt) = (desk.job().id, desk.job().attempts[0].id);
    let inspection = Inspection { good_count: Some(1), ..Inspection::default() };
    let (by, at) = ("ann".to_owned(), desk.bench.now);
    desk.ask(&OrderNews::SignedAtPrinter { job, attempt, inspection, by, at }).unwrap();
    assert_eq!((desk.o().parts()[0].good, desk.state()), (1, JobState::Sliced), "it may still be dispatched");
}
