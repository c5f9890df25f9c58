//! Tests of the bounds of the search: which acts are tried, and that an order has no result if others were left out.

use super::*;
use crate::job::{Attempt, AttemptState};
use crate::printer::RefusedStarts;
use crate::printer_status::{Activity, Connection};

impl Shop {
    /// Returns the orders that have a result within this much work.
    fn within(&self, max_work: usize) -> Vec<Id> {
        let recoveries = self.look(|forecast, orders, printers, shop| {
            recoveries_within(max_work, forecast, orders, printers, shop, &|material| Some(plenty(material)))
        });
        let mut ids: Vec<Id> = recoveries.into_keys().collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the acts that get order 10 ready sooner, if it has a result.
    fn acts(&self) -> Option<Vec<RemedyAct>> {
        let recoveries = self.recoveries();
        let recovery = recoveries.get(&id(10))?;
        Some(recovery.remedies.iter().chain(&recovery.quickest).map(|one| one.act).collect())
    }
}

/// Builds an attempt of job 12 on printer 5 that may or may not have printed.
fn unverified_attempt() -> Attempt {
    let text = serde_json::json!({
        "id": id(50), "jobId": id(12), "orderId": id(10), "number": 1, "printerId": id(5),
        "state": AttemptState::StartSent, "unverified": true, "createdAt": NOW,
    });
    serde_json::from_value(text).unwrap()
}

#[test]
fn the_work_is_bounded() {
    // Both orders wait for a spool. A forecast indexes 301 jobs at 10 units each, examines the printer, and then
    // examines the printer and the only kind of job in each of about 301 steps.
    let crowd = Shop::new(vec![order(10, 600, 300), order(20_000, 90, 1)], vec![printer(5, true, 9)]);
    assert!(crowd.within(0).is_empty(), "nothing was tried, so nothing is said");
    assert!(crowd.within(3_000).is_empty(), "the jobs are too many to be indexed");
    assert!(crowd.within(3_300).is_empty(), "the steps are too many");
    assert_eq!(crowd.within(5_000), [id(20_000)], "there is work left for the most urgent only");
    assert_eq!(crowd.within(8_000), [id(10), id(20_000)]);
    let late = with_all(&order(10, -30, 1), |job| (job.state, job.unsigned) = (JobState::Completed, true));
    assert!(Shop::new(vec![late], vec![]).within(0).is_empty());
    let unsigned = with_all(&order(10, 30, 1), |job| (job.state, job.unsigned) = (JobState::Completed, true));
    assert_eq!(Shop::new(vec![unsigned], vec![]).within(0), [id(10)], "what every forecast assumes takes no work");
}

#[test]
fn nothing_is_said_if_a_job_waits_for_an_act_that_is_not_tried() {
    let with = |change: &dyn Fn(&mut Job)| {
        let waiting = with_jobs(&order(10, -30, 2), |job| job.id == id(12), change).unwrap();
        Shop::new(vec![waiting], vec![printer(5, true, 2)]).acts()
    };
    assert_eq!(with(&|_| ()), Some(vec![]), "its deadline has passed");
    let below = |job: &mut Job| {
        (job.state, job.blocked_by) = (JobState::AwaitingManualReview, Some(Block::ReorderPoint));
    };
    assert_eq!(with(&below), None, "it may be released");
    assert_eq!(with(&|job| (job.state, job.file_id) = (JobState::Created, None)), None, "it may get G-code");
    let unverified = |job: &mut Job| {
        job.attempts = vec![unverified_attempt()];
        (job.state, job.attempt_id) = (JobState::Dispatching, Some(id(50)));
    };
    assert_eq!(with(&unverified), None, "somebody may say whether it printed");
    assert_eq!(with(&|job| (job.state, job.file_id) = (JobState::Cancelled, None)), Some(vec![]), "it is over");
    let short = |job: &mut Job| {
        (job.state, job.blocked_by) = (JobState::AwaitingManualReview, Some(Block::Material));
    };
    assert_eq!(with(&short), Some(vec![]), "what is to be bought is not tried");
}

/// State that keeps a printer from its next job.
type PrinterChange<'a> = &'a dyn Fn(&mut Printer);

#[test]
fn nothing_is_said_if_a_printer_waits_for_an_act_that_is_not_tried() {
    let beside = |change: &dyn Fn(&mut Printer), loaded: u32| {
        let mut other = printer(6, true, loaded);
        change(&mut other);
        Shop::new(vec![order(10, 30, 2)], vec![printer(5, true, 2), other]).acts()
    };
    let refusals = RefusedStarts { count: 3, job: id(9), at: NOW, disk_full: false, words: String::new() };
    let changes: [(&str, PrinterChange<'_>); 5] = [
        ("disconnected", &|printer| printer.disconnected = true),
        ("not homed", &|printer| printer.needs_home = true),
        ("in an error", &|printer| printer.activity = Activity::Error),
        ("silent", &|printer| printer.connection = Connection::Unreachable),
        ("refusing starts", &|printer| printer.refusals = Some(refusals.clone())),
    ];
    for (state, change) in changes {
        assert_eq!(beside(change, 2), None, "the other is {state}");
    }
    assert_eq!(beside(&|printer| printer.needs_home = true, 9), Some(vec![]), "it lacks a spool too");
    assert_eq!(beside(&|printer| printer.archived = true, 2), Some(vec![]), "it is gone");
    assert_eq!(beside(&|printer| printer.maintenance = Some(String::new()), 2), Some(vec![RemedyAct::ReturnToService]));
}

#[test]
fn nothing_is_said_if_needs_or_printers_were_left_out() {
    let needing = |kinds: u32| {
        let mut order = order(10, 30, kinds);
        for number in 1..=kinds {
            let has_number = |job: &Job| job.id == id(10 + number);
            let need = Amount::units(i64::from(number));
            order = with_jobs(&order, has_number, |job| job.need = need).unwrap();
        }
        Shop::new(vec![order], vec![printer(5, true, 9)]).acts()
    };
    assert_eq!([needing(3), needing(4)], [Some(vec![RemedyAct::Load]), None]);
    let loadable = |printers: u32| {
        let printers = (0..printers).map(|number| printer(100 + number, true, 9)).collect();
        Shop::new(vec![order(10, 30, 1)], printers).acts()
    };
    assert_eq!([loadable(2), loadable(3)], [Some(vec![RemedyAct::Load]), None]);
    let busy = Printer { activity: Activity::Printing, ..printer(7, true, 9) };
    let printers = vec![printer(5, true, 9), printer(6, true, 9), busy];
    let acts = Shop::new(vec![order(10, 30, 1)], printers).acts();
    assert_eq!(acts, Some(vec![RemedyAct::Load]), "nothing can be loaded into the third");
}

#[test]
fn of_equal_printers_those_are_tried_that_are_free_first() {
    // Somebody clears a bed within a quarter of an hour after the print.
    let full = |number: u32, minutes_ago: i64| {
        let mut full = printer(100 + number, false, 9);
        (full.bed_not_cleared, full.bed_since) = (true, Some(NOW.plus_ms(-minutes_ago * MINUTE)));
        full
    };
    let printers = vec![full(1, 0), full(2, 0), full(3, 10), full(4, 5)];
    let shop = Shop::new(vec![order(10, 90, 1)], printers);
    let requests: Vec<String> = shop.remedies(10).into_iter().map(|(request, _)| request).collect();
    assert_eq!(requests, ["Load PLA black into Ada 103", "Load PLA black into Ada 104"]);
}

#[test]
fn failed_jobs_are_retried_only_if_there_is_material_for_all_of_them() {
    // Each of them takes ten grams.
    let failed = with_all(&order(10, 200, 2), |job| job.state = JobState::Failed);
    let shop = Shop::new(vec![failed], vec![printer(5, true, 2)]);
    let acts = |available: Option<i64>| {
        let stocked_material =
            |_: Id| Some(StockedMaterial { name: String::new(), available: Amount::units(available?) });
        let recoveries = shop.look(|forecast, orders, printers, knowledge| {
            recoveries(forecast, orders, printers, knowledge, &stocked_material)
        });
        recoveries.values().flat_map(|one| &one.remedies).map(|one| one.act).collect::<Vec<RemedyAct>>()
    };
    assert_eq!(acts(Some(20)), [RemedyAct::Retry]);
    assert!(acts(Some(19)).is_empty() && acts(None).is_empty());
}
