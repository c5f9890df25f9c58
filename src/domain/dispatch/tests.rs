#![expect(clippy::unwrap_used, reason = "tests")]

mod causes;
mod fleets;
mod forgiven;
mod index;
mod reasons;

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::file::GcodeForm;
use crate::job::Attempt;
use crate::launch::TypeFacts;
use crate::printer::{ConfirmedStart, PrinterFields, RefusedStarts};
use crate::printer_status::{Activity, Connection};
use crate::sku::Dimensions;
use crate::testing::id;
use crate::testing::samples::{idle_printer, paid_order, printer_fields, sliced_job};

fn board(max_starts_per_minute: Option<u32>) -> DispatchIndex {
    let types = KnownTypes::default();
    DispatchIndex::new(DispatchRules { max_starts_per_minute, refusals_until_failed: 3, types })
}

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn printer(number: u32) -> Printer {
    let build_volume = Some(Dimensions { x: 200.0, y: 200.0, z: 200.0 });
    let fields = printer_fields(&format!("printer {number}"), MachineType::FdmLarge);
    idle_printer(number, PrinterFields { build_volume, ..fields }, NOW)
}

/// Builds a paid order with one ready job for each of the given priorities.
fn order(number: u32, priorities: &[u8]) -> Order {
    let mut order = paid_order(number, NOW);
    for (n, priority) in priorities.iter().enumerate() {
        let mut job = sliced_job(number * 1000 + n as u32, number, NOW);
        (job.number, job.priority, job.estimated_seconds) = (n as i64, *priority, None);
        job.dimensions = Some(Dimensions { x: 100.0, y: 100.0, z: 100.0 });
        order.jobs.insert_mut(job.id, Arc::new(job));
    }
    order
}

fn edit(order: &mut Order, n: u32, change: impl FnOnce(&mut Job)) {
    let key = id(order.number as u32 * 1000 + n);
    let mut job = (**order.jobs.get(&key).unwrap()).clone();
    change(&mut job);
    order.jobs.insert_mut(key, Arc::new(job));
}

fn pairs(board: &mut DispatchIndex) -> Vec<(Id, Id)> {
    board.proposals(NOW).iter().map(|one| (one.job, one.printer)).collect()
}

#[test]
fn the_first_in_line_gets_the_longest_idle_printer() {
    let mut board = board(None);
    let mut orders = order(1, &[5, 9, 5]);
    edit(&mut orders, 2, |job| job.due_at = Some(NOW));
    board.order_changed(&orders);
    let (mut early, late) = (printer(8), printer(7));
    early.idle_since = NOW.plus_ms(-1000);
    board.printer_changed(&early);
    board.printer_changed(&late);
    assert_eq!(pairs(&mut board), [(id(1001), id(8)), (id(1002), id(7))]);
    assert_eq!(pairs(&mut board), [], "what is in flight is not proposed again");
    assert_eq!(board.waiting(), 3);
}

#[test]
fn a_loaded_material_is_preferred_and_another_one_never_used() {
    let mut board = board(None);
    board.order_changed(&order(1, &[5, 5]));
    let (mut loaded, mut other, mut small) = (printer(5), printer(6), printer(7));
    (loaded.fields.loaded_material_id, loaded.idle_since) = (Some(id(2)), NOW.plus_ms(1000));
    other.fields.loaded_material_id = Some(id(3));
    small.fields.build_volume = Some(Dimensions { x: 99.0, y: 300.0, z: 300.0 });
    let any = printer(8);
    for one in [&loaded, &other, &small, &any] {
        board.printer_changed(one);
    }
    assert_eq!(pairs(&mut board), [(id(1000), id(5)), (id(1001), id(8))]);
}

#[test]
fn a_printer_that_was_tried_comes_last() {
    let mut board = board(None);
    let mut one = order(1, &[5]);
    edit(&mut one, 0, |job| job.tried_on = vec![id(7)]);
    board.order_changed(&one);
    board.printer_changed(&printer(7));
    board.printer_changed(&printer(8));
    let proposals = board.proposals(NOW);
    assert_eq!(proposals[0].printer, id(8));
    let mut gone = printer(8);
    gone.maintenance = Some(String::new());
    board.printer_changed(&gone);
    board.settled(&proposals[0], false);
    assert_eq!(pairs(&mut board), [(id(1000), id(7))]);
}

fn attempt(state: AttemptState, printer: Id) -> Attempt {
    serde_json::from_value(serde_json::json!({
        "id": id(900), "jobId": id(1000), "orderId": id(1), "number": 1, "printerId": printer, "state": state,
        "reason": null, "startedAt": null, "endedAt": NOW, "createdAt": NOW,
    }))
    .unwrap()
}

#[test]
fn a_claimed_printer_is_not_proposed_and_a_refused_pair_cools() {
    let mut board = board(None);
    let mut one = order(1, &[5]);
    edit(&mut one, 0, |job| {
        job.state = JobState::Dispatching;
        job.attempt_id = Some(id(900));
        job.attempts = vec![attempt(AttemptState::Claimed, id(7))];
    });
    board.printer_changed(&printer(7));
    board.order_changed(&one);
    board.order_changed(&order(2, &[5]));
    assert_eq!(pairs(&mut board), []);
    edit(&mut one, 0, |job| {
        job.state = JobState::Sliced;
        job.attempt_id = None;
        job.attempts = vec![attempt(AttemptState::Refused, id(7))];
        job.priority = 9;
    });
    board.order_changed(&one);
    let proposals = board.proposals(NOW);
    assert_eq!(proposals[0].job, id(2000), "the refused one waits");
    assert_eq!(board.next_at(NOW), Some(NOW.plus_ms(REFUSAL_COOLDOWN_MS)));
    board.settled(&proposals[0], false);
    assert_eq!(board.proposals(NOW.plus_ms(REFUSAL_COOLDOWN_MS))[0].job, id(1000));
}

#[test]
fn starts_per_minute_are_limited() {
    let mut board = board(Some(2));
    board.order_changed(&order(1, &[5; 5]));
    (10..15).for_each(|n| board.printer_changed(&printer(n)));
    let proposals = board.proposals(NOW);
    assert_eq!(proposals.len(), 2);
    assert_eq!(board.next_at(NOW), Some(NOW.plus_ms(START_WINDOW_MS)));
    board.settled(&proposals[1], false);
    assert_eq!(board.proposals(NOW.plus_ms(1)).len(), 1);
    assert_eq!(board.proposals(NOW.plus_ms(START_WINDOW_MS)).len(), 1);
}

fn why(job: &Job, printers: &[Printer]) -> Option<String> {
    let printers: Vec<&Printer> = printers.iter().collect();
    let types = KnownTypes::default();
    Some(waiting(job, &around(&printers, &types))?.sentence())
}

/// Builds the context of a job among the given printers, without materials.
fn around<'a>(printers: &'a [&'a Printer], types: &'a KnownTypes) -> WaitContext<'a> {
    WaitContext {
        printers,
        materials: &[],
        holders: &[],
        types,
        job_ends: None,
        now: NOW,
        language: words::Language::English,
    }
}

#[test]
fn a_waiting_job_says_why() {
    let one = order(1, &[5]);
    let job = one.jobs.values().next().unwrap();
    let reason = |printers: &[Printer]| why(job, printers).unwrap();
    assert_eq!(reason(&[]), "No large filament printer has been added.");
    let (mut busy, mut away, mut bed) = (printer(1), printer(2), printer(3));
    busy.activity = Activity::Printing;
    busy.shows = Some("mine.gcode".into());
    away.connection = Connection::Unreachable;
    bed.bed_not_cleared = true;
    let all = [busy.clone(), busy, away, bed, printer(4)];
    let expected = "Waiting for a printer. printer 3 needs its bed cleared; 2 printers are printing something else.";
    assert_eq!(reason(&all[..4]), expected);
    assert_eq!(reason(&all), "Waiting for its turn.");
    let mut paused = (**job).clone();
    paused.state = JobState::AwaitingManualReview;
    paused.block_reason = Some("needs 120 g of PLA black, 80 g free".into());
    assert_eq!(why(&paused, &all).unwrap(), "Needs 120 g of PLA black, 80 g free.");
}

#[test]
fn a_job_that_its_printer_refused_says_so_and_when_it_is_tried_again() {
    let mut one = order(1, &[5]);
    refused(&mut one, 0, &[7]);
    let sick = sick(7, 1000, 2_500);
    let reason = why(one.jobs.values().next().unwrap(), &[sick]).unwrap();
    let expected = "Waiting for a printer. printer 7 is rejecting print starts (next attempt in 8 s); printer 7 \
         rejected the job: Must home first.";
    assert_eq!(reason, expected);
}

#[test]
fn a_file_that_nobody_prints_waits_and_says_so() {
    let mut board = board(None);
    let mut one = order(1, &[5, 5]);
    edit(&mut one, 0, |job| job.file_form = GcodeForm::Binary);
    board.order_changed(&one);
    board.printer_changed(&printer(7));
    board.printer_changed(&printer(8));
    assert_eq!(pairs(&mut board).iter().map(|pair| pair.0).collect::<Vec<_>>(), [id(1001)]);
    assert_eq!(board.refused_jobs(), []);
    let job = &**one.jobs.get(&id(1000)).unwrap();
    assert!(why(job, &[printer(7)]).unwrap().contains("No printer type accepts .bgcode files"));
    let types = KnownTypes::new([("other", TypeFacts { forms: vec![GcodeForm::Binary], ..TypeFacts::default() })]);
    let printer = printer(7);
    let reason = waiting(job, &around(&[&printer], &types)).unwrap().sentence();
    assert_eq!(reason, "No printer can print this job. printer 7 does not accept .bgcode files.");
}

/// Records that the given printers refused the `n`th job of the order a second ago.
fn refused(order: &mut Order, n: u32, printers: &[u32]) {
    edit(order, n, |job| {
        job.tried_on = printers.iter().map(|printer| id(*printer)).collect();
        job.attempts = printers.iter().map(|printer| attempt(AttemptState::NotStarted, id(*printer))).collect();
        for one in &mut job.attempts {
            one.ended_at = Some(NOW.plus_ms(-1000));
            one.reason = Some("Must home first".into());
        }
    });
}

/// Builds a printer that refused the given job `ago_ms` milliseconds ago.
fn sick(number: u32, job: u32, ago_ms: i64) -> Printer {
    let at = NOW.plus_ms(-ago_ms);
    let refusals = RefusedStarts { count: 1, job: id(job), at, disk_full: false, words: "no".into() };
    Printer { refusals: Some(refusals), ..printer(number) }
}

#[test]
fn a_printer_that_refused_a_start_rests_and_is_then_tried_with_another_job_first() {
    let mut board = board(None);
    let mut one = order(1, &[9, 5]);
    refused(&mut one, 0, &[7]);
    board.order_changed(&one);
    board.printer_changed(&sick(7, 1000, 9_999));
    assert_eq!(pairs(&mut board), []);
    assert_eq!(board.next_at(NOW), Some(NOW.plus_ms(1)));
    board.printer_changed(&sick(7, 1000, 10_000));
    let proposals = board.proposals(NOW);
    assert_eq!((proposals.len(), proposals[0].job), (1, id(1001)), "the other, though it is behind");
    board.settled(&proposals[0], false);
    // Both were refused: not the one that was refused last. Nothing else waits: the same again.
    refused(&mut one, 1, &[7]);
    board.order_changed(&one);
    board.printer_changed(&sick(7, 1000, 10_000));
    let proposals = board.proposals(NOW);
    assert_eq!((proposals.len(), proposals[0].job), (1, id(1001)));
    board.settled(&proposals[0], false);
    edit(&mut one, 1, |job| job.state = JobState::Cancelled);
    board.order_changed(&one);
    assert_eq!(pairs(&mut board), [(id(1000), id(7))]);
}

#[test]
fn a_healthy_printer_is_preferred_to_one_that_refused_a_start() {
    let mut board = board(None);
    board.order_changed(&order(1, &[5]));
    let mut loaded = sick(7, 999, 60_000);
    loaded.fields.loaded_material_id = Some(id(2));
    board.printer_changed(&loaded);
    board.printer_changed(&printer(8));
    assert_eq!(pairs(&mut board), [(id(1000), id(8))]);
}

#[test]
fn a_job_is_given_up_when_three_printers_or_all_of_two_refused_it() {
    // (printers that fit, printers that refused it, given up)
    let cases: [(&[u32], &[u32], bool); 8] = [
        (&[7, 8, 9, 10], &[7, 8], false),
        (&[7, 8, 9, 10], &[7, 8, 9], true),
        (&[7, 8, 9], &[7, 8], false),
        (&[7, 8], &[7], false),
        (&[7, 8], &[7, 8], true),
        (&[7], &[7], false),
        (&[7], &[7, 50], true),
        (&[], &[7, 8], false),
    ];
    for (fitting, refused_by, given_up) in cases {
        let mut board = board(None);
        let mut one = order(1, &[5]);
        refused(&mut one, 0, refused_by);
        board.order_changed(&one);
        let mut other = printer(50);
        other.fields.machine_type = MachineType::ResinLarge;
        board.printer_changed(&other);
        fitting.iter().for_each(|number| board.printer_changed(&printer(*number)));
        let refused_jobs = board.refused_jobs();
        assert_eq!(!refused_jobs.is_empty(), given_up, "{fitting:?} {refused_by:?}");
        if given_up {
            assert_eq!(refused_jobs[0].printers.len(), refused_by.len());
            assert_eq!(pairs(&mut board), [], "it is not proposed meanwhile");
            assert_eq!(board.refused_jobs(), [], "asked for once");
            board.job_settled(&refused_jobs[0].job);
            assert_eq!(board.refused_jobs().len(), 1, "again, if the order did not hear it");
        }
    }
}

#[test]
fn the_only_printer_that_fits_must_have_started_another_job_since() {
    let last_start = |job: u32, ms: i64| Some(ConfirmedStart { job: id(job), at: NOW.plus_ms(ms) });
    let cases =
        [(None, false), (last_start(1000, 0), false), (last_start(77, -1000), false), (last_start(77, -999), true)];
    for (last_start, given_up) in cases {
        let mut board = board(None);
        let mut one = order(1, &[5]);
        refused(&mut one, 0, &[7]);
        board.order_changed(&one);
        board.printer_changed(&Printer { last_start, ..printer(7) });
        assert_eq!(!board.refused_jobs().is_empty(), given_up, "{last_start:?}");
    }
}

proptest! {
    /// Checks that no job is overtaken by a later one that takes its printer, and that no fitting pair is left
    /// unassigned.
    #[test]
    fn the_line_is_kept(
        jobs in prop::collection::vec((0u8..10, 0u32..3, 50u32..250), 1..30),
        machines in prop::collection::vec((prop::option::of(0u32..3), 100u32..250), 0..12),
    ) {
        let mut board = board(None);
        let mut one = order(1, &jobs.iter().map(|job| job.0).collect::<Vec<_>>());
        for (n, (_, material, size)) in jobs.iter().enumerate() {
            edit(&mut one, n as u32, |job| {
                job.material_id = id(*material);
                job.dimensions = Some(Dimensions { x: f64::from(*size), y: 10.0, z: 10.0 });
            });
        }
        board.order_changed(&one);
        let mut printers = Vec::new();
        for (n, (loaded, volume)) in machines.iter().enumerate() {
            let mut machine = printer(500 + n as u32);
            machine.fields.loaded_material_id = loaded.map(id);
            machine.fields.build_volume = Some(Dimensions { x: f64::from(*volume), y: 10.0, z: 10.0 });
            board.printer_changed(&machine);
            printers.push(machine);
        }
        let proposals = board.proposals(NOW);
        let fits = |job: &Job, machine: &Printer| {
            let loaded = machine.fields.loaded_material_id.is_none_or(|loaded| loaded == job.material_id);
            let inside = |size: &Dimensions| machine.fields.build_volume.as_ref().is_none_or(|volume| size.fits_in(volume));
            loaded && job.dimensions.as_ref().is_none_or(inside)
        };
        let rank = |job: &Job| (Reverse(job.priority), job.id);
        let assigned: HashMap<Id, &Job> =
            proposals.iter().map(|pair| (pair.printer, &**one.jobs.get(&pair.job).unwrap())).collect();
        prop_assert_eq!(assigned.len(), proposals.len(), "one job for each printer");
        for machine in &printers {
            if let Some(job) = assigned.get(&machine.id) {
                prop_assert!(fits(job, machine));
            }
            for waiting in one.jobs.values().filter(|job| !proposals.iter().any(|pair| pair.job == job.id)) {
                let better = assigned.get(&machine.id).is_none_or(|job| rank(waiting) < rank(job));
                prop_assert!(!(better && fits(waiting, machine)), "{} was passed", waiting.id);
            }
        }
    }
}

#[test]
fn finished_orders_leave_the_board() {
    let mut board = board(None);
    let mut one = order(1, &[5, 5]);
    board.order_changed(&one);
    one.status = OrderStatus::Cancelled;
    board.order_changed(&one);
    assert_eq!((board.waiting(), board.orders.len(), board.classes.len()), (0, 0, 0));
}
