//! Tests of jobs before they are printed: the files read for them, the slicing of their models, and emails to staff.

use super::*;
use crate::mail::Mail;
use crate::printer_status::PrintEnd;
use crate::requirement::{Referenced, Requirement};

const READING: &str = "reading its SKU and file";
const NO_FILE: &str = "its SKU has neither a G-code file nor a model with a slicer profile";

fn pay() -> OrderCommand {
    OrderCommand::MarkPaid { amount_cents: None, method: "cash".to_owned(), reference: None }
}

fn prepared(sku: u32, make: &ProductionData) -> OrderNews {
    OrderNews::Prepared { sku: id(sku), make: Box::new(make.clone()) }
}

/// Builds a line for the given number of parts sliced from a model.
fn of_model(quantity: u32) -> OrderLine {
    let mut line = line(quantity, 500, false);
    let source = SliceSource { model_file_id: id(15), profile: "fine".to_owned(), copies: 1 };
    line.make.as_mut().unwrap().source = Some(source);
    line
}

/// Builds a paid order for the given number of parts, whose jobs have all their material and wait for the slicer.
fn slicing(quantity: u32) -> OrderDecider {
    let line = of_model(quantity);
    let make = line.make.clone().unwrap();
    let mut desk = OrderDecider::with(new_order(vec![line]));
    desk.ask(&pay()).unwrap();
    desk.ask(&prepared(10, &make)).unwrap();
    let held = |job: &Id| (ClaimId { job: *job, number: 1 }, ClaimState::Held, None);
    let all = desk.o().jobs.keys().map(held).collect();
    desk.ask(&OrderNews::Stock(id(MATERIAL_ID), all)).unwrap();
    desk
}

fn alerts(decision: &Decision<Order, OrderNewsAnswer>) -> Vec<&Mail> {
    mails(decision).into_iter().filter(|mail| mail.alert.is_some()).collect()
}

#[test]
fn a_job_says_once_that_its_sku_has_nothing_to_print() {
    let table = [
        (line(1, 500, true), vec!["order.paid"], READING),
        (of_model(1), vec!["order.paid"], READING),
        (line(1, 500, false), vec!["order.paid", "job.created"], NO_FILE),
    ];
    for (line, events, reason) in table {
        let with_file = ProductionData { file_id: Some(id(11)), source: None, ..line.make.clone().unwrap() };
        let bare = ProductionData { file_id: None, ..with_file.clone() };
        let mut desk = OrderDecider::with(new_order(vec![line]));
        assert_eq!(names(&desk.ask(&pay()).unwrap()), events);
        assert_eq!(desk.job().block_reason.as_deref(), Some(reason));
        let gone = desk.ask(&prepared(10, &bare)).unwrap();
        assert_eq!(names(&gone), if reason == READING { vec!["job.created"] } else { vec![] });
        assert_eq!((desk.state(), desk.job().block_reason.as_deref()), (JobState::Created, Some(NO_FILE)));
        for same in [prepared(10, &bare), prepared(99, &with_file)] {
            assert!(desk.ask(&same).unwrap().next.is_none(), "{same:?}");
        }
        let ready = desk.ask(&prepared(10, &with_file)).unwrap();
        assert_eq!((names(&ready), desk.state()), (vec!["job.validated"], JobState::Validated));
        let named = [
            Requirement::not_deleted(Referenced::Material, id(MATERIAL_ID), "materialId"),
            Requirement::not_deleted(Referenced::File, id(11), "fileId"),
        ];
        assert_eq!((ready.requirements, desk.job().block_reason.clone()), (named.to_vec(), None));
    }
}

#[test]
fn staff_is_mailed_once_for_all_jobs_whose_model_cannot_be_sliced() {
    for (quantity, rest) in [(1, ""), (3, " and 2 more")] {
        let mut desk = slicing(quantity);
        let source = desk.job().source.clone().unwrap();
        let failed = JobSlicingOutcome::Failed("no manifold".to_owned());
        let other = SliceSource { profile: "coarse".to_owned(), ..source.clone() };
        for (sku, source) in [(id(99), source.clone()), (id(10), other)] {
            let news = OrderNews::Slicing { sku, source, news: failed.clone() };
            assert!(desk.ask(&news).unwrap().next.is_none(), "no job waits for that");
        }
        let first = desk.job().number_text();
        let decision = desk.ask(&OrderNews::Slicing { sku: id(10), source, news: failed }).unwrap();
        assert_eq!(names(&decision), vec!["job.blocked"; quantity as usize]);
        let [mail] = alerts(&decision)[..] else { panic!("{:?}", decision.created) };
        assert_eq!(mail.subject, format!("{first}{rest} cannot be sliced"));
        let text = "The model of bracket cannot be sliced with the profile \"fine\": no manifold.";
        assert!(mail.text.starts_with(text), "{}", mail.text);
    }
}

#[test]
fn the_g_code_of_a_model_is_kept_by_all_jobs_that_wait_for_it() {
    let mut desk = slicing(2);
    let source = desk.job().source.clone().unwrap();
    let done = |file_id: Option<Id>| {
        let make = ProductionData { file_id, estimated_seconds: Some(60), ..line(1, 500, true).make.unwrap() };
        let news = JobSlicingOutcome::Done(Box::new(make));
        OrderNews::Slicing { sku: id(10), source: source.clone(), news }
    };
    assert!(desk.ask(&done(None)).unwrap().next.is_none(), "there is no file");
    let sliced = desk.ask(&done(Some(id(16)))).unwrap();
    assert_eq!(names(&sliced), ["job.sliced", "job.sliced"]);
    assert_eq!(sliced.requirements, [Requirement::not_deleted(Referenced::File, id(16), "fileId")]);
    for job in desk.o().jobs.values() {
        assert_eq!((job.state, job.file_id, job.estimated_seconds), (JobState::Sliced, Some(id(16)), Some(60)));
    }
}

#[test]
fn staff_is_mailed_each_failed_job_with_its_error_shortened_in_the_subject() {
    let (mut desk, [one, two]) = pair();
    let failed = print(&mut desk, one, PrintEnd::Failed);
    let [mail] = alerts(&failed)[..] else { panic!("{:?}", failed.created) };
    let job = desk.o().jobs.get(&one).unwrap().number_text();
    assert_eq!(mail.subject, format!("{job} failed: nozzle too hot"));
    let order = desk.o().number_text();
    let text = format!("Job {job} (bracket) of order {order} failed: nozzle too hot.\nBcc: all\nRetry or cancel it;");
    assert!(mail.text.starts_with(&text), "{}", mail.text);
    desk.ask(&JobCommand::Dispatch { job: two, printer: id(PRINTER_ID) }).unwrap();
    let attempt = desk.o().jobs.get(&two).unwrap().attempts[0].id;
    let report = Report::Stopped { reason: "x".repeat(81) };
    let stopped = desk.ask(&OrderNews::Attempt { job: two, attempt, report }).unwrap();
    let job = desk.o().jobs.get(&two).unwrap().number_text();
    assert_eq!(alerts(&stopped)[0].subject, format!("{job} failed: {}…", "x".repeat(80)));
}
