//! Tests of the record of a print that did not finish, and of the state of a job before its SKU is read.

use super::*;
use crate::printer_status::PrintEnd;

/// Prints a job with the given outcome, final progress and printer message.
fn ends(
    desk: &mut OrderDecider,
    job: Id,
    end: PrintEnd,
    progress: f64,
    words: &str,
) -> Decision<Order, OrderNewsAnswer> {
    desk.ask(&JobCommand::Dispatch { job, printer: id(PRINTER_ID) }).unwrap();
    let attempt = desk.o().jobs.get(&job).unwrap().attempts.last().unwrap().id;
    let (reason, booked_on, filament_mm) = (Some(words.to_owned()), Vec::new(), None);
    let report = Report::Ended { end, filament_mm, progress, reason, began_at: None, unseen: false, booked_on };
    desk.ask(&OrderNews::Attempt { job, attempt, report }).unwrap()
}

#[test]
fn the_error_is_the_printers_first_sentence_and_the_rest_are_details() {
    let (mut desk, [one, _]) = pair();
    let words = "MCU 'mcu' shutdown: Timer too close\nThis often indicates the host computer is overloaded. Check\n\
                 for other processes.\n";
    let failed = ends(&mut desk, one, PrintEnd::Failed, 0.16, words);
    let job = desk.o().jobs.get(&one).unwrap().clone();
    assert_eq!(job.error.as_deref(), Some("MCU 'mcu' shutdown: Timer too close"));
    let details = "This often indicates the host computer is overloaded. Check\nfor other processes.";
    assert_eq!(job.error_details.as_deref(), Some(details));
    assert_eq!(
        failed.events.iter().find(|one| one.event == "job.failed").unwrap().data["error"],
        *job.error.as_ref().unwrap()
    );
    assert!(mails(&failed)[0].text.contains(details), "staff reads all of it");
    desk.ask(&JobCommand::Retry(one)).unwrap();
    let job = desk.o().jobs.get(&one).unwrap();
    assert_eq!((&job.error, &job.error_details), (&None, &None));
}

#[test]
fn an_attempt_keeps_how_far_its_print_came() {
    let (mut desk, [one, two]) = pair();
    ends(&mut desk, one, PrintEnd::Failed, 0.16, "it came off");
    ends(&mut desk, two, PrintEnd::Finished, 0.97, "");
    let came = |job| desk.o().jobs.get(&job).unwrap().attempts[0].progress;
    assert_eq!((came(one), came(two)), (Some(0.16), Some(1.0)));
}

#[test]
fn a_new_job_does_not_say_that_its_file_is_missing_before_its_sku_was_read() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    let pay = OrderCommand::MarkPaid { amount_cents: None, method: "cash".into(), reference: None };
    let paid = desk.ask(&pay).unwrap();
    assert!(!names(&paid).contains(&"job.created"), "{:?}", names(&paid));
    assert_eq!(desk.job().block_reason.as_deref(), Some("reading its SKU and file"));
    // The file was taken away since it was ordered.
    let mut make = Box::new(desk.o().lines[0].make.clone().unwrap());
    make.file_id = None;
    let prepared = OrderNews::Prepared { sku: id(10), make };
    assert_eq!(names(&desk.ask(&prepared).unwrap()), ["job.created"]);
    assert!(desk.job().block_reason.as_deref().unwrap().starts_with("its SKU has neither a G-code file"));
    assert!(desk.ask(&prepared).unwrap().next.is_none(), "said once");
}
