#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::super::tests::{ATTEMPT, OURS, PrinterFixture, REVOKED, take};
use super::*;
use crate::order::Report;
use crate::printer::{Attention, PrinterCommand, PrinterFields, PrinterNews, PrinterUpload, TakeAttempt};
use crate::printer_status::{Activity, PrintEnd};
use crate::testing::id;
use crate::time::HOUR_MS;
use words::Language;

/// Returns the number of pardons that the printer had when it accepted the attempt of a report.
fn pardons(report: &Report) -> Option<u32> {
    match report {
        Report::NotStarted { pardons, .. } => *pardons,
        other => panic!("{other:?}"),
    }
}

impl PrinterFixture {
    /// Accepts an attempt of a job, lets its upload fail, and acknowledges the report to the order.
    fn refuses(&mut self, attempt: u32, job: u32, why: StartFailure) -> Report {
        self.takes(attempt, job);
        self.ask(PrinterNews::UploadFailed { attempt: id(attempt), why, reason: "no".into() }).unwrap();
        let report = self.report();
        self.heard_of(attempt);
        report
    }

    fn takes(&mut self, attempt: u32, job_number: u32) {
        self.ask(TakeAttempt { job: id(job_number), ..take(attempt) }).unwrap();
        assert!(self.p().in_hand.is_some(), "taken");
    }

    fn rests(&self) -> Option<i64> {
        self.p().refusals.as_ref().and_then(|refusals| refusals.rests_for(self.now()))
    }

    fn prints(&mut self, attempt: u32, job: u32) {
        self.takes(attempt, job);
        self.ask(PrinterUpload::Attempt { attempt: id(attempt), remote_name: OURS.into(), server_mark: None }).unwrap();
        self.sees(Activity::Printing, Some(OURS), None);
        self.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
        self.heard_of(attempt);
        self.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
    }
}

#[test]
fn a_printer_rests_longer_after_each_refusal_until_it_confirms_a_start() {
    let mut shop = PrinterFixture::idle();
    for (n, rest) in [10_000, 30_000, 120_000, 600_000, 600_000].into_iter().enumerate() {
        let report = shop.refuses(ATTEMPT + n as u32, 21, StartFailure::Refused);
        assert!(matches!(report, Report::NotStarted { counts: true, .. }));
        assert_eq!(shop.rests(), Some(rest), "rest {n}");
        assert_eq!(shop.p().attention().contains(&Attention::StartRefused), n >= 1);
        assert!(shop.p().takes_jobs(shop.now()).is_err() && shop.p().free().is_ok());
        shop.bench.now = shop.now().plus_ms(rest);
        assert_eq!(shop.p().takes_jobs(shop.now()), Ok(()));
    }
    shop.prints(90, 22);
    assert_eq!((shop.rests(), shop.p().attention()), (None, vec![]));
    assert_eq!(shop.p().last_start.unwrap().job, id(22));
    shop.refuses(91, 21, StartFailure::Refused);
    assert_eq!(shop.rests(), Some(10_000), "from the beginning");
    shop.ask(PrinterCommand::ClearAttention(None)).unwrap();
    assert_eq!(shop.rests(), None);
}

#[test]
fn who_clears_a_printer_or_gives_it_another_address_forgives_what_it_refused() {
    let mut shop = PrinterFixture::idle();
    shop.ask(PrinterCommand::ClearAttention(None)).unwrap();
    assert_eq!(shop.p().forgiven_at, None, "there was nothing to clear");
    shop.refuses(ATTEMPT, 21, StartFailure::Refused);
    shop.bench.now = shop.now().plus_ms(10_000);
    shop.refuses(ATTEMPT + 1, 22, StartFailure::Refused);
    assert_eq!((shop.p().attention(), shop.p().forgiven_at), (vec![Attention::StartRefused], None));
    shop.ask(PrinterCommand::ClearAttention(None)).unwrap();
    let cleared_at = shop.now();
    assert_eq!((shop.p().attention(), shop.p().forgiven_at), (vec![], Some(cleared_at)));
    shop.prints(ATTEMPT + 2, 21);
    assert_eq!(shop.p().forgiven_at, Some(cleared_at), "also once it has started another job");
    shop.bench.now = shop.now().plus_ms(1000);
    let fields = PrinterFields { base_url: "http://10.0.0.9:7125".into(), ..shop.p().fields.clone() };
    shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(fields) }).unwrap();
    assert_eq!(shop.p().forgiven_at, Some(shop.now()), "another address may be another machine");
}

#[test]
fn a_report_says_whether_the_attempt_was_accepted_before_the_printer_was_cleared() {
    for step in [-HOUR_MS, HOUR_MS] {
        let mut shop = PrinterFixture::idle();
        assert_eq!(pardons(&shop.refuses(ATTEMPT, 21, StartFailure::Refused)), Some(0));
        shop.ask(PrinterCommand::ClearAttention(None)).unwrap();
        shop.bench.now = shop.now().plus_ms(step);
        assert_eq!(pardons(&shop.refuses(ATTEMPT + 1, 21, StartFailure::Refused)), Some(1), "{step}");
        shop.takes(ATTEMPT + 2, 22);
        shop.ask(PrinterCommand::ClearAttention(None)).unwrap();
        let (attempt, reason) = (id(ATTEMPT + 2), "no".to_owned());
        shop.ask(PrinterNews::UploadFailed { attempt, why: StartFailure::Refused, reason }).unwrap();
        assert_eq!((pardons(&shop.report()), shop.p().pardons), (Some(1), 2), "{step}");
    }
}

#[test]
fn who_clears_a_firmware_error_alone_forgives_no_refusal() {
    let mut shop = PrinterFixture::idle();
    shop.refuses(ATTEMPT, 21, StartFailure::Refused);
    shop.bench.now = shop.now().plus_ms(10_000);
    shop.prints(ATTEMPT + 1, 22);
    shop.sees(Activity::Error, None, None);
    shop.sees(Activity::Idle, None, None);
    shop.ask(PrinterCommand::ClearAttention(None)).unwrap();
    assert_eq!((shop.p().fault.as_ref(), shop.p().forgiven_at), (None, None), "its file was at fault");
    shop.ask(PrinterCommand::Homed).unwrap();
    shop.refuses(ATTEMPT + 2, 21, StartFailure::Refused);
    shop.sees(Activity::Error, None, None);
    shop.sees(Activity::Idle, None, None);
    shop.ask(PrinterCommand::ClearAttention(None)).unwrap();
    assert_eq!(shop.p().forgiven_at, Some(shop.now()), "both are cleared");
}

#[test]
fn what_says_nothing_about_the_job_does_not_count_for_it() {
    let mut shop = PrinterFixture::idle();
    let report = shop.refuses(ATTEMPT, 21, StartFailure::Unreachable);
    assert!(matches!(report, Report::NotStarted { counts: false, .. }));
    assert_eq!(shop.rests(), Some(10_000), "but the printer rests");
    let mut shop = PrinterFixture::idle();
    let report = shop.refuses(ATTEMPT, 21, StartFailure::NoFile);
    assert!(matches!(report, Report::NotStarted { counts: true, .. }));
    assert_eq!(shop.rests(), None, "and what says nothing about the printer does not hold it");
    let mut shop = PrinterFixture::idle();
    let report = shop.refuses(ATTEMPT, 21, StartFailure::Busy);
    assert!(matches!(report, Report::NotStarted { counts: false, .. }));
    assert_eq!(shop.rests(), None, "a person's print refuses nothing");
}

#[test]
fn a_full_disk_is_said_at_once() {
    let mut shop = PrinterFixture::idle();
    shop.refuses(ATTEMPT, 21, StartFailure::DiskFull);
    assert_eq!(shop.p().attention(), [Attention::DiskFull]);
    assert!(shop.p().attention_words(Language::English).unwrap().contains("full"));
    assert_eq!(shop.p().takes_jobs(shop.now()), Err(Unready::DiskFull));
}

#[test]
fn a_start_that_certainly_did_not_happen_lets_the_printer_rest_too() {
    let mut shop = PrinterFixture::started();
    shop.judged(REVOKED);
    assert_eq!(shop.rests(), Some(10_000));
    let mut shop = PrinterFixture::started();
    shop.ask(PrinterNews::StartRefused { attempt: id(ATTEMPT), reason: "Must home first".into() }).unwrap();
    assert_eq!(shop.rests(), Some(10_000));
}

proptest! {
    #[test]
    fn no_rest_is_longer_than_its_own_span(count in 1u32..20, step in -10_000_000i64..10_000_000) {
        let at = Timestamp(1_700_000_000_000);
        let refusals = RefusedStarts { count, job: id(1), at, disk_full: false, words: String::new() };
        let span = RESTS_MS[(count as usize - 1).min(3)];
        match refusals.rests_for(at.plus_ms(step)) {
            Some(left) => prop_assert!(left > 0 && left <= span && step >= 0 && left + step == span),
            None => prop_assert!(step < 0 || step >= span),
        }
    }
}
