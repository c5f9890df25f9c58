#![expect(clippy::unwrap_used, reason = "tests")]

mod search;

use proptest::prelude::*;

use super::trial::with_jobs;
use super::*;
use crate::dispatch::DispatchRules;
use crate::forecast::{Paces, forecast};
use crate::launch::KnownTypes;
use crate::printer::PrinterFields;
use crate::promise::Promise;
use crate::remedy::MAX_PRIORITY;
use crate::shop_clock::ShopClock;
use crate::shop_hours::ShopHours;
use crate::sku::MachineType;
use crate::testing::id;
use crate::testing::samples::{idle_printer, paid_order, printer_fields, sliced_job};
use words::Language;

const NOW: Timestamp = Timestamp(1_763_719_200_000); // Friday, 2025-11-21T10:00:00Z
const MINUTE: i64 = 60_000;
/// Time that each job takes, with its start.
const ROUND: i64 = 61 * MINUTE;

fn printer(number: u32, auto_clear: bool, loaded: u32) -> Printer {
    let fields = printer_fields(&format!("Ada {number}"), MachineType::FdmLarge);
    idle_printer(number, PrinterFields { auto_clear, loaded_material_id: Some(id(loaded)), ..fields }, NOW)
}

/// Builds an order with one-hour jobs of the highest priority, which was promised ten hours ago for the given number of
/// minutes from now.
fn order(number: u32, minutes: i64, jobs: u32) -> Order {
    let mut order = paid_order(number, NOW);
    let made_at = NOW.plus_ms(-600 * MINUTE);
    let promised_at = NOW.plus_ms(minutes * MINUTE);
    order.promise = Some(Promise { made_at, expected_at: made_at, promised_at, met_at: None });
    for n in 1..=jobs {
        let job = Job { priority: MAX_PRIORITY, ..sliced_job(number + n, number, NOW) };
        order.jobs.insert_mut(job.id, Arc::new(job));
    }
    order
}

/// Changes all jobs of an order.
fn with_all(order: &Order, change: impl Fn(&mut Job)) -> Order {
    with_jobs(order, |_| true, change).unwrap()
}

/// Returns a material with a kilogram in stock.
fn plenty(material: Id) -> StockedMaterial {
    let name = String::from(if material == id(2) { "PLA black" } else { "PETG" });
    StockedMaterial { name, available: Amount::units(1000) }
}

/// Orders, printers and opening hours.
#[derive(Debug)]
struct Shop {
    orders: Vec<Order>,
    printers: Vec<Printer>,
    hours: ShopHours,
}

impl Shop {
    fn new(orders: Vec<Order>, printers: Vec<Printer>) -> Self {
        Self { orders, printers, hours: ShopHours::default() }
    }

    /// Calls `look` with the forecast and the data it was made from.
    fn look<T>(&self, look: impl FnOnce(&Forecast, &[&Order], &[PrinterOutlook<'_>], ShopKnowledge<'_>) -> T) -> T {
        let rules =
            DispatchRules { max_starts_per_minute: None, refusals_until_failed: 3, types: KnownTypes::default() };
        let paces = Paces::default();
        let shop = ShopKnowledge { rules: &rules, paces: &paces, hours: &self.hours, starting_ms: MINUTE };
        let orders: Vec<&Order> = self.orders.iter().collect();
        let printers: Vec<PrinterOutlook<'_>> =
            self.printers.iter().map(|printer| PrinterOutlook { printer, left_ms: None }).collect();
        let forecast = forecast(NOW, orders.iter().copied(), &printers, shop);
        look(&forecast, &orders, &printers, shop)
    }

    fn recoveries(&self) -> HashMap<Id, Arc<OrderRecovery>> {
        let stocked_material = |material| Some(plenty(material));
        self.look(|forecast, orders, printers, shop| recoveries(forecast, orders, printers, shop, &stocked_material))
    }

    /// Returns the remedies for an order as requests, each with the minutes from now until the order is ready.
    fn remedies(&self, order: u32) -> Vec<(String, i64)> {
        let recoveries = self.recoveries();
        let recovery = recoveries.get(&id(order));
        let remedies = recovery.into_iter().flat_map(|recovery| &recovery.remedies);
        let minutes = |at: Timestamp| at.since(NOW) / MINUTE;
        remedies.map(|one| (one.request(Language::English), minutes(one.expected_at))).collect()
    }
}

#[test]
fn an_order_behind_others_is_in_time_with_a_higher_priority() {
    let behind = with_all(&order(20, 120, 1), |job| job.priority = 5);
    let shop = Shop::new(vec![order(10, 600, 3), behind.clone()], vec![printer(5, true, 2)]);
    assert!(shop.remedies(20).is_empty(), "the others have the highest priority too");
    let others = with_all(&order(10, 600, 3), |job| job.priority = 5);
    let shop = Shop::new(vec![others, behind], vec![printer(5, true, 2)]);
    assert_eq!(shop.remedies(20), [("Raise the order's priority to 9".to_owned(), 61)]);
    assert!(!shop.recoveries().contains_key(&id(10)), "it is on time");
}

#[test]
fn a_spool_for_an_idle_printer_brings_an_order_back_that_waits_for_a_busy_one() {
    let shop = Shop::new(vec![order(10, 600, 3), order(20, 150, 1)], vec![printer(5, true, 2), printer(6, true, 9)]);
    assert_eq!(shop.remedies(20), [("Load PLA black into Ada 6".to_owned(), 122)]);
    let recoveries = shop.recoveries();
    let load = &recoveries[&id(20)].remedies[0];
    assert_eq!((load.printer.as_ref().unwrap().id, load.materials[0].id), (id(6), id(2)));
    let loaded = Shop::new(vec![order(10, 600, 3), order(20, 150, 1)], vec![printer(5, true, 2), printer(6, true, 2)]);
    assert!(loaded.remedies(20).is_empty(), "nothing is missing any more");
}

#[test]
fn an_order_without_a_forecast_is_in_time_once_what_it_waits_for_is_done() {
    let only = |printer: Printer, order: Order| Shop::new(vec![order], vec![printer]).remedies(10);
    let request = |words: &str, minutes: i64| vec![(words.to_owned(), minutes)];
    assert_eq!(only(printer(5, true, 9), order(10, 90, 1)), request("Load PLA black into Ada 5", 61));
    let mut out = printer(5, true, 2);
    out.maintenance = Some("belts".to_owned());
    assert_eq!(only(out, order(10, 90, 1)), request("Return Ada 5 to service", 61));
    let failed = with_all(&order(10, 200, 2), |job| job.state = JobState::Failed);
    assert_eq!(only(printer(5, true, 2), failed), request("Retry JOB-000011 and JOB-000012", 122));
    let printed = with_all(&order(10, 90, 1), |job| (job.state, job.unsigned) = (JobState::Completed, true));
    assert_eq!(only(printer(5, true, 2), printed), request("Sign off JOB-000011", 0));
}

#[test]
fn a_bed_that_nobody_would_clear_before_the_evening_is_cleared_now() {
    let mut full = printer(5, false, 2);
    (full.bed_not_cleared, full.bed_since) = (true, Some(NOW));
    let hours = ShopHours::parse(ShopClock::default(), &["mon-fri 18:00-20:00".to_owned()], &[]).unwrap();
    let shop = Shop { hours, ..Shop::new(vec![order(10, 120, 1)], vec![full]) };
    assert_eq!(shop.remedies(10), [("Clear the bed of Ada 5".to_owned(), 61)]);
}

#[test]
fn the_soonest_comes_first_and_the_least_effort_of_equals() {
    let behind = with_all(&order(20, 200, 1), |job| job.priority = 5);
    let others = with_all(&order(10, 900, 5), |job| job.priority = 5);
    let shop = Shop::new(vec![others, behind], vec![printer(5, true, 2), printer(6, true, 9)]);
    let (raise, load) =
        (("Raise the order's priority to 9".to_owned(), 61), ("Load PLA black into Ada 6".to_owned(), 183));
    assert_eq!(shop.remedies(20), [raise, load]);
}

#[test]
fn if_nothing_helps_the_earliest_is_said() {
    let nothing = |shop: &Shop| {
        let recovery = shop.recoveries()[&id(10)].clone();
        assert!(recovery.remedies.is_empty(), "{recovery:?}");
        let quickest = recovery.quickest.as_ref().map(|one| one.act);
        (quickest, recovery.earliest_at.map(|at| at.since(NOW)))
    };
    let shop = |minutes, printers| Shop::new(vec![order(10, minutes, 1)], printers);
    assert_eq!(nothing(&shop(30, vec![printer(5, true, 2)])), (None, Some(ROUND)), "it takes longer than that");
    assert_eq!(nothing(&shop(30, vec![printer(5, true, 9)])), (Some(RemedyAct::Load), Some(ROUND)));
    assert!(shop(30, vec![]).recoveries().is_empty(), "nobody can tell");
    assert_eq!(nothing(&shop(-30, vec![])), (None, None), "its deadline has passed, whatever is done");
    assert_eq!(nothing(&shop(-30, vec![printer(5, true, 2)])), (None, Some(ROUND)), "its deadline has passed");
    let printed = with_all(&order(10, -30, 1), |job| (job.state, job.unsigned) = (JobState::Completed, true));
    assert_eq!(nothing(&Shop::new(vec![printed], vec![])), (Some(RemedyAct::SignOff), Some(0)));
}

#[test]
fn nothing_is_said_of_an_order_that_is_at_risk_and_expected_in_time() {
    let shop = Shop::new(vec![order(10, 65, 1)], vec![printer(5, true, 2)]);
    let timing = shop.look(|forecast, orders, _, _| orders[0].timing(forecast.orders.get(&id(10)).copied(), NOW));
    assert_eq!((timing, shop.recoveries().len()), (Some(Timing::AtRisk), 0));
}

#[test]
fn an_order_waits_for_the_job_that_nobody_can_predict_or_that_ends_last() {
    let shop = Shop::new(vec![order(10, 600, 3)], vec![printer(5, true, 2)]);
    let last = |order: &Order| shop.look(|forecast, _, _, _| last_job(order, forecast).map(|job| job.id));
    assert_eq!(last(&shop.orders[0]), Some(id(13)));
    let with_state = |number: u32, state: JobState| {
        with_jobs(&shop.orders[0], |job| job.id == id(number), |job| job.state = state).unwrap()
    };
    assert_eq!(last(&with_state(13, JobState::Completed)), Some(id(12)), "the other is over");
    let mut unknown = shop.orders[0].clone();
    let job = Job { state: JobState::Failed, ..sliced_job(9, 10, NOW) };
    unknown.jobs.insert_mut(job.id, Arc::new(job));
    assert_eq!(last(&unknown), Some(id(9)), "a person has to retry it");
    assert_eq!(last(&with_all(&shop.orders[0], |job| job.state = JobState::Completed)), Some(id(13)));
    assert_eq!(last(&order(20, 600, 0)), None);
}

#[test]
fn the_number_of_orders_is_bounded_and_the_most_urgent_come_first() {
    let orders: Vec<Order> = (1..=25).map(|n| order(n * 100, 30 + i64::from(n), 1)).collect();
    let shop = Shop::new(orders, vec![printer(5, true, 9)]);
    let recoveries = shop.recoveries();
    assert_eq!(recoveries.len(), MAX_ORDERS);
    assert!(recoveries.contains_key(&id(100)) && !recoveries.contains_key(&id(2500)));
}

/// Random priority, material, minutes and state of a job.
type RandomJob = (u8, u32, i64, u8);

/// Builds a job in one of these states: failed, printed and not signed off, or waiting for a printer.
fn random_job(number: u32, order: u32, (priority, material, minutes, state): RandomJob) -> Job {
    let (state, unsigned) = match state {
        0 => (JobState::Failed, false),
        1 => (JobState::Completed, true),
        _ => (JobState::Sliced, false),
    };
    let estimated_seconds = Some(minutes * 60);
    let base = sliced_job(number, order, NOW);
    Job { priority, material_id: id(500 + material), estimated_seconds, state, unsigned, ..base }
}

prop_compose! {
    /// Generates a shop with orders of up to two jobs, some of them late.
    fn shops()(
        orders in prop::collection::vec(
            (-120i64..600, prop::collection::vec((0u8..10, 0u32..3, 1i64..90, 0u8..6), 1..3)), 1..12
        ),
        floor in prop::collection::vec((any::<bool>(), 0u32..3, any::<bool>(), 0u8..5), 0..6),
    ) -> Shop {
        let invent = |(n, (minutes, jobs)): (usize, (i64, Vec<RandomJob>))| {
            let number = 2000 + n as u32 * 10;
            let mut order = order(number, minutes, 0);
            for (m, job) in jobs.into_iter().enumerate() {
                let job = random_job(number + 1 + m as u32, number, job);
                order.jobs.insert_mut(job.id, Arc::new(job));
            }
            order
        };
        let machine = |(n, (auto, material, is_full, service)): (usize, (bool, u32, bool, u8))| {
            let mut printer = printer(1000 + n as u32, auto, 500 + material);
            (printer.bed_not_cleared, printer.bed_since) = (is_full, is_full.then_some(NOW));
            printer.maintenance = (service == 0).then(String::new);
            printer
        };
        let orders = orders.into_iter().enumerate().map(invent).collect();
        Shop::new(orders, floor.into_iter().enumerate().map(machine).collect())
    }
}

proptest! {
    /// Checks for arbitrary shops that only orders that are late or at risk have remedies, that each remedy gets its
    /// order ready by the deadline, that nothing is ready before now, and that the same state gives the same result.
    #[test]
    fn remedies_end_by_the_deadline(shop in shops()) {
        let recoveries = shop.recoveries();
        prop_assert_eq!(&recoveries, &shop.recoveries());
        let timings: HashMap<Id, Option<Timing>> = shop.look(|forecast, orders, _, _| {
            let timing = |order: &&Order| order.timing(forecast.orders.get(&order.id).copied(), NOW);
            orders.iter().map(|order| (order.id, timing(order))).collect()
        });
        for order in shop.orders.iter().filter(|order| recoveries.contains_key(&order.id)) {
            let (recovery, deadline) = (&recoveries[&order.id], order.deadline().unwrap());
            prop_assert!(matches!(timings[&order.id], Some(Timing::Late | Timing::AtRisk)));
            prop_assert!(recovery.remedies.len() <= MAX_REMEDIES);
            prop_assert!(recovery.remedies.is_sorted_by_key(|one| (one.expected_at, one.act)));
            prop_assert!(recovery.remedies.iter().all(|one| one.expected_at >= NOW && one.expected_at <= deadline));
            prop_assert!(recovery.earliest_at.is_none_or(|at| at >= NOW));
            let first = recovery.remedies.first().map(|one| one.expected_at);
            prop_assert_eq!(first, recovery.earliest_at.filter(|at| *at <= deadline));
            prop_assert!(recovery.quickest.as_ref().is_none_or(|one| one.expected_at > deadline));
        }
    }

    /// Checks for arbitrary shops that an order simulated alone ends at the time stated in the forecast of all orders.
    #[test]
    fn the_end_of_one_order_is_that_of_the_whole_forecast(shop in shops()) {
        shop.look(|forecast, orders, printers, knowledge| {
            for order in orders {
                let goal = SimulationGoal { order: order.id, max_work: MAX_WORK };
                let end = expected_end(NOW, orders.iter().copied(), printers, knowledge, goal);
                prop_assert_eq!((end.at, end.is_cut_off), (forecast.orders.get(&order.id).copied(), false));
            }
            Ok(())
        })?;
    }
}
