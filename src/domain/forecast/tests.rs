#![expect(clippy::unwrap_used, reason = "tests")]

mod floor;

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::amount::Amount;
use crate::dispatch::DispatchIndex;
use crate::file::GcodeForm;
use crate::launch::{KnownTypes, LaunchNeeds, MaterialNeed, SlicingTarget, fit};
use crate::printer::{PrinterFields, PrinterNews, PrinterUpload, Slot, SlotSource, TakeAttempt};
use crate::printer_status::{Activity, Connection, Status};
use crate::shop_clock::ShopClock;
use crate::sku::MachineType;
use crate::testing::samples::{idle_printer, paid_order, printer_fields, sliced_job};
use crate::testing::{Bench, id};

const NOW: Timestamp = Timestamp(1_763_719_200_000); // Friday, 2025-11-21T10:00:00Z
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const STARTING_MS: i64 = MINUTE;

fn rules() -> DispatchRules {
    DispatchRules { max_starts_per_minute: None, refusals_until_failed: 3, types: KnownTypes::default() }
}

fn printer(number: u32, auto_clear: bool, loaded: Option<u32>) -> Printer {
    let fields = printer_fields(&format!("printer {number}"), MachineType::FdmLarge);
    idle_printer(number, PrinterFields { auto_clear, loaded_material_id: loaded.map(id), ..fields }, NOW)
}

/// Builds a one-hour job that is ready to print.
fn job(number: u32, order: u32) -> Job {
    sliced_job(number, order, NOW)
}

fn order(number: u32, jobs: impl IntoIterator<Item = Job>) -> Order {
    let mut order = paid_order(number, NOW);
    for job in jobs {
        order.jobs.insert_mut(job.id, Arc::new(job));
    }
    order
}

fn forecast_for(orders: &[Order], printers: &[Printer], hours: &ShopHours) -> Forecast {
    let outlooks: Vec<_> = printers.iter().map(|printer| PrinterOutlook { printer, left_ms: None }).collect();
    let (rules, paces) = (rules(), Paces::default());
    forecast(NOW, orders, &outlooks, ShopKnowledge { rules: &rules, paces: &paces, hours, starting_ms: STARTING_MS })
}

fn always() -> ShopHours {
    ShopHours::default()
}

#[test]
fn jobs_follow_each_other_on_a_printer_with_the_bed_cleared_between() {
    let orders = [order(10, [job(11, 10)]), order(20, [job(21, 20)])];
    let first = NOW.plus_ms(STARTING_MS + HOUR);
    let second = first.plus_ms(ASSUMED_CLEARING_MS + STARTING_MS + HOUR);
    let prediction = forecast_for(&orders, &[printer(5, false, None)], &always());
    assert_eq!((prediction.orders[&id(10)], prediction.orders[&id(20)]), (first, second));
    assert_eq!(prediction.printers[&id(5)], Some(second.plus_ms(ASSUMED_CLEARING_MS)));
    assert_eq!((prediction.done_at(), prediction.untold), (Some(second), 0));
    let queued: Vec<(Id, Id, Timestamp)> =
        prediction.queues[&id(5)].iter().map(|one| (one.job, one.order, one.done_at)).collect();
    assert_eq!(queued, [(id(11), id(10), first), (id(21), id(20), second)]);
    assert!(prediction.queues[&id(5)].iter().all(|one| one.print_ms == HOUR), "{:?}", prediction.queues);
}

#[test]
fn the_first_few_that_wait_are_named_as_they_start_and_then_those_that_no_printer_takes() {
    let named = |jobs: Vec<Job>, printers: &[Printer]| {
        let prediction = forecast_for(&[order(10, jobs)], printers, &always());
        let jobs: Vec<Id> = prediction.first_waiting.iter().map(|one| one.job).collect();
        assert!(prediction.first_waiting.iter().all(|one| one.order == id(10)));
        (jobs, prediction.waiting)
    };
    // No printer is large enough for one of them, however urgent it is.
    let stuck = |number| Job { machine_type: MachineType::ResinLarge, priority: 90, ..job(number, 10) };
    let urgent = |number| Job { priority: 80, ..job(number, 10) };
    let printers = [printer(5, true, None)];
    assert_eq!(named(vec![], &printers), (vec![], 0));
    assert_eq!(named(vec![stuck(11), job(12, 10), urgent(13)], &printers), (vec![id(13), id(12), id(11)], 3));
    let many = (0..9).map(|n| job(21 + n, 10)).chain([stuck(11)]).collect();
    assert_eq!(named(many, &printers), (vec![id(21), id(22), id(23)], 10), "a few are enough");
    let none = named((0..9).map(|n| job(21 + n, 10)).chain([urgent(40)]).collect(), &[]);
    assert_eq!(none, (vec![id(40), id(21), id(22)], 10), "no printer at all");
}

#[test]
fn a_printer_that_clears_itself_waits_for_nobody_and_others_wait_for_the_morning() {
    let jobs: Vec<Job> = (0..10).map(|n| job(11 + n, 10)).collect();
    let office = ShopHours::parse(ShopClock::default(), &["mon-fri 08:00-18:00".to_owned()], &[]).unwrap();
    let by_itself = forecast_for(&[order(10, jobs.clone())], &[printer(5, true, None)], &office);
    assert_eq!(by_itself.orders[&id(10)], NOW.plus_ms(10 * (STARTING_MS + HOUR)));
    // Six prints are cleared until 18:00 on Friday; the seventh stays on its bed until Monday.
    let by_hand = forecast_for(&[order(10, jobs)], &[printer(5, false, None)], &office);
    let done = by_hand.orders[&id(10)];
    let monday: Timestamp = "2025-11-24T08:00:00Z".parse().unwrap();
    assert!(done > monday.plus_ms(2 * HOUR) && done < monday.plus_ms(6 * HOUR), "{done}");
}

#[test]
fn the_urgent_comes_first() {
    let mut urgent = job(21, 20);
    urgent.priority = 9;
    let prediction =
        forecast_for(&[order(10, [job(11, 10)]), order(20, [urgent])], &[printer(5, true, None)], &always());
    assert!(prediction.orders[&id(20)] < prediction.orders[&id(10)]);
}

#[test]
fn what_nobody_can_tell_has_no_moment() {
    let mut short = job(12, 10);
    short.state = JobState::AwaitingManualReview;
    let mut other = job(21, 20);
    other.material_id = id(99);
    let mut failed = job(31, 30);
    failed.state = JobState::Failed;
    let mut done = job(41, 40);
    done.state = JobState::Completed;
    let orders =
        [order(10, [job(11, 10), short]), order(20, [other]), order(30, [failed]), order(40, [done, job(42, 40)])];
    let prediction = forecast_for(&orders, &[printer(5, true, Some(2))], &always());
    assert_eq!(prediction.jobs.len(), 2, "those that are ready for the printer");
    assert_eq!(prediction.orders.keys().collect::<Vec<_>>(), [&id(40)]);
    assert_eq!(prediction.untold, 3);
}

fn spool(left: Option<i64>) -> Slot {
    Slot {
        slot: 0,
        material_id: Some(id(2)),
        spool: None,
        color: None,
        remaining: left.map(Amount::units),
        source: SlotSource::Manual,
        vendor_code: None,
        kind: None,
        weighed: false,
        updated_at: NOW,
    }
}

#[test]
fn prints_use_up_the_spools_of_which_it_is_known_what_is_left() {
    // Each job takes ten grams.
    let orders: Vec<Order> = (1..=4).map(|n| order(n * 10, [job(n * 10 + 1, n * 10)])).collect();
    let shop = |spools: &[Option<i64>]| {
        let printers: Vec<Printer> = spools
            .iter()
            .enumerate()
            .map(|(n, left)| printer(5 + n as u32, true, None).with_slots(vec![spool(*left)]))
            .collect();
        forecast_for(&orders, &printers, &always())
    };
    assert_eq!((shop(&[None]).jobs.len(), shop(&[Some(40)]).jobs.len()), (4, 4));
    let short = shop(&[Some(25)]);
    assert_eq!((short.jobs.len(), short.untold), (2, 2), "the third would need another spool");
    let both = shop(&[Some(10), Some(30)]);
    assert_eq!((both.jobs.len(), both.untold), (4, 0));
    assert_eq!(
        both.done_at(),
        Some(NOW.plus_ms(3 * (STARTING_MS + HOUR))),
        "three on the printer that has enough for them"
    );
}

#[test]
fn a_print_that_goes_on_ends_as_its_printer_says() {
    let (mut bench, mut one) = (Bench::new(), Some(printer(5, true, None)));
    bench.now = NOW;
    let take = TakeAttempt {
        attempt: id(50),
        job: id(11),
        order: id(10),
        file_id: id(3),
        file_name: "a.gcode".into(),
        claimed_at: NOW,
        needs: Box::new(LaunchNeeds {
            machine_type: MachineType::FdmLarge,
            dimensions: None,
            form: GcodeForm::default(),
            sliced_for: SlicingTarget::default(),
            materials: vec![MaterialNeed { material_id: id(2), need: Amount::units(1) }],
        }),
        types: KnownTypes::default(),
        stated_mm: None,
        estimated_seconds: Some(3600),
    };
    bench.tell(&mut one, id(5), &take).unwrap();
    let uploaded = PrinterUpload::Attempt { attempt: id(50), remote_name: "a.gcode".into(), server_mark: None };
    bench.tell(&mut one, id(5), &uploaded).unwrap();
    let status = Status {
        state: Activity::Printing,
        connection: Connection::Connected,
        file: Some("a.gcode".into()),
        progress: 50.0,
        updated_at: NOW.plus_ms(1),
        ..Status::default()
    };
    bench.tell(&mut one, id(5), &PrinterNews::Seen(Box::new(status))).unwrap();
    let one = one.unwrap();
    // What the print takes is no longer there for the next.
    let short = one.clone().with_slots(vec![spool(Some(9))]);
    let mut running = job(11, 10);
    running.state = JobState::Printing;
    running.attempt_id = Some(id(50));
    let orders = [order(10, [running, job(12, 10)])];
    let (rules, paces, hours) = (rules(), Paces::default(), always());
    let outlook = [PrinterOutlook { printer: &one, left_ms: Some(20 * MINUTE) }];
    let prediction = forecast(
        NOW,
        &orders,
        &outlook,
        ShopKnowledge { rules: &rules, paces: &paces, hours: &hours, starting_ms: STARTING_MS },
    );
    assert_eq!(prediction.jobs[&id(11)], NOW.plus_ms(20 * MINUTE));
    assert_eq!(prediction.jobs[&id(12)], NOW.plus_ms(20 * MINUTE + STARTING_MS + HOUR));
    let job_count = |printer: &Printer| {
        let outlook = [PrinterOutlook { printer, left_ms: Some(20 * MINUTE) }];
        let shop = ShopKnowledge { rules: &rules, paces: &paces, hours: &hours, starting_ms: STARTING_MS };
        forecast(NOW, &orders, &outlook, shop).jobs.len()
    };
    // The one in hand takes a gram, the next ten.
    assert_eq!(job_count(&short), 1);
    assert_eq!(job_count(&one.clone().with_slots(vec![spool(Some(10))])), 1);
    assert_eq!(job_count(&one.with_slots(vec![spool(Some(11))])), 2);
}

#[test]
fn a_limit_on_starts_spreads_them() {
    let printers: Vec<Printer> = (0..3).map(|n| printer(5 + n, true, None)).collect();
    let jobs = (0..3).map(|n| job(11 + n, 10));
    let rules = DispatchRules { max_starts_per_minute: Some(1), ..rules() };
    let outlooks: Vec<_> = printers.iter().map(|printer| PrinterOutlook { printer, left_ms: None }).collect();
    let (paces, hours) = (Paces::default(), always());
    let shop = ShopKnowledge { rules: &rules, paces: &paces, hours: &hours, starting_ms: STARTING_MS };
    let prediction = forecast(NOW, &[order(10, jobs)], &outlooks, shop);
    assert_eq!(prediction.orders[&id(10)], NOW.plus_ms(2 * MINUTE + STARTING_MS + HOUR));
}

#[test]
fn a_bed_waits_as_long_as_beds_did() {
    let mut machine = printer(5, false, None);
    let cleared = |n: i64| Clearing { from: NOW.plus_ms(-n * HOUR), to: NOW.plus_ms(-n * HOUR + 5 * MINUTE) };
    machine.clearings = (1..=8).map(cleared).collect();
    // Eight of five minutes, and two of fifteen that are assumed.
    assert_eq!(clearing_ms(&machine.clearings, &always()), 7 * MINUTE);
}

fn observed_print(attempt: u32, file: u32, printer: u32, ratio: f64) -> ObservedPrint {
    ObservedPrint {
        attempt: id(attempt),
        file: id(file),
        printer: id(printer),
        stated_seconds: Some(3600),
        took_ms: (HOUR as f64 * ratio) as i64,
    }
}

#[test]
fn files_and_printers_that_take_longer_are_expected_to() {
    let mut paces = Paces::default();
    for n in 0..40 {
        paces.learn(&observed_print(100 + n, 1, 7, 1.5));
        paces.learn(&observed_print(200 + n, 2, 7, 1.0));
        paces.learn(&observed_print(300 + n, 2, 8, 1.0));
    }
    let hours = |file, printer| paces.expected_ms(Some(id(file)), id(printer), Some(3600)) as f64 / HOUR as f64;
    assert!((hours(1, 7) - 1.5).abs() < 0.1, "{}", hours(1, 7));
    assert!((hours(2, 8) - 1.0).abs() < 0.1, "{}", hours(2, 8));
    assert!(hours(1, 8) > 1.2, "the file is slow on other printers too: {}", hours(1, 8));
    let before = paces.clone();
    paces.learn(&observed_print(100, 1, 7, 5.0));
    assert_eq!(paces, before, "no print is learnt twice");
}

proptest! {
    /// Checks that, for any floor and queue, the jobs that start immediately are those that the dispatcher would start,
    /// each job is printed once on a printer that fits, and the same state gives the same forecast.
    #[test]
    fn it_plays_by_the_dispatchers_rule(
        jobs in prop::collection::vec((0u8..10, 0u32..3, 1i64..20), 1..40),
        floor in prop::collection::vec((any::<bool>(), prop::option::of(0u32..3)), 1..8),
    ) {
        let printers: Vec<Printer> = floor.iter().enumerate()
            .map(|(n, (auto, loaded))| printer(1000 + n as u32, *auto, loaded.map(|material| 500 + material)))
            .collect();
        let orders: Vec<Order> = jobs.iter().enumerate().map(|(n, (priority, material, minutes))| {
            let number = 2000 + n as u32 * 2;
            let job = Job {
                priority: *priority, material_id: id(500 + material), estimated_seconds: Some(minutes * 60),
                ..job(number + 1, number)
            };
            order(number, [job])
        }).collect();
        let forecast = forecast_for(&orders, &printers, &always());
        prop_assert_eq!(&forecast, &forecast_for(&orders, &printers, &always()));
        let mut board = DispatchIndex::new(rules());
        orders.iter().for_each(|order| board.order_changed(order));
        printers.iter().for_each(|printer| board.printer_changed(printer));
        let minutes_of = |id: &Id| orders.iter().find_map(|order| order.jobs.get(id)?.estimated_seconds).unwrap_or(0);
        for proposal in board.proposals(NOW) {
            let expected = NOW.plus_ms(STARTING_MS + minutes_of(&proposal.job) * 1000);
            prop_assert_eq!(forecast.jobs.get(&proposal.job), Some(&expected));
        }
        for (_, job) in orders.iter().flat_map(|order| order.jobs.iter()) {
            let fits = |printer: &Printer| fit(&job.launch_needs(), &printer.launch_facts(&KnownTypes::default())).fits();
            prop_assert_eq!(forecast.jobs.contains_key(&job.id), printers.iter().any(fits));
        }
        let work: i64 = forecast.jobs.keys().map(|job| STARTING_MS + minutes_of(job) * 1000).sum();
        let last = forecast.done_at().map_or(0, |at| at.since(NOW));
        prop_assert!(last * printers.len() as i64 >= work, "a printer would print two at once");
    }
}
