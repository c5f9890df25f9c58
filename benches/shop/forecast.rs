//! Benchmark of the forecast: its computation time with a long queue, the duration of the search for remedies for late
//! orders, and the share of promises that a simulated shop keeps.

mod shop;

use std::time::Instant;

use printfloor::domain::amount::Amount;
use printfloor::domain::dispatch::{DispatchRules, KnownTypes};
use printfloor::domain::forecast::{Paces, PrinterOutlook, ShopKnowledge, StockedMaterial, forecast, recoveries};
use printfloor::domain::id::Id;
use printfloor::domain::order::Order;
use printfloor::domain::printer::Printer;
use printfloor::domain::promise::Promise;
use printfloor::domain::shop_clock::ShopClock;
use printfloor::domain::shop_hours::ShopHours;
use printfloor::domain::time::Timestamp;

use super::table::Row;

const JOBS: usize = 1_000;
const PRINTERS: usize = 100;
/// Number of times that the queue is simulated; the slowest counts.
const TIMES: usize = 20;
/// Maximum time of a forecast in milliseconds.
const MOST_MS: f64 = 50.0;
/// Number of different materials and amounts, and therefore of different needs, among the jobs of late orders.
const MATERIALS: usize = 20;
const AMOUNTS: usize = 10;
/// Number of searches for remedies; the slowest one counts.
const SEARCHES: usize = 5;
/// Maximum duration of this search, in milliseconds: a change must be forecast two seconds after it, despite the
/// search.
const MOST_SEARCH_MS: f64 = 1_000.0;
/// Number of simulated shops, each of [`shop::DAYS`] days.
const SHOPS: u64 = 20;

/// Runs this part of the benchmark.
pub fn run() -> Vec<Row> {
    vec![speed(), search_speed(), promises()]
}

pub fn rules() -> DispatchRules {
    DispatchRules { max_starts_per_minute: None, refusals_until_failed: 3, types: KnownTypes::default() }
}

pub fn hours() -> ShopHours {
    let clock = ShopClock::parse("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    ShopHours::parse(clock, &["mon-sat 08:00-20:00".to_owned()], &[]).unwrap()
}

fn speed() -> Row {
    let now = Timestamp(1_763_719_200_000);
    let mut random = fastrand::Rng::with_seed(1);
    let printers: Vec<Printer> = (0..PRINTERS).map(|n| shop::printer(n, n.is_multiple_of(3), now)).collect();
    let orders: Vec<Order> = (0..JOBS)
        .map(|n| {
            let mut order = shop::order(n, random.u8(0..10), now);
            order.jobs.insert_mut(shop::id(2, n), shop::job(n, n, n % 50, random.i64(600..20_000), &order).into());
            order
        })
        .collect();
    let outlooks: Vec<_> = printers.iter().map(|printer| PrinterOutlook { printer, left_ms: None }).collect();
    let (rules, paces, hours) = (rules(), Paces::default(), hours());
    let knowledge = ShopKnowledge { rules: &rules, paces: &paces, hours: &hours, starting_ms: 60_000 };
    let slowest = (0..TIMES)
        .map(|_| {
            let began = Instant::now();
            assert_eq!(forecast(now, &orders, &outlooks, knowledge).jobs.len(), JOBS);
            began.elapsed().as_secs_f64() * 1000.0
        })
        .fold(0.0, f64::max);
    let what = format!("forecast of {JOBS} jobs on {PRINTERS} printers, slowest of {TIMES}");
    Row::figure(what, format!("{slowest:.1} ms")).at_most(slowest, MOST_MS, "ms")
}

/// Returns orders due by the evening, most of them late, whose jobs have different needs.
fn late_orders(now: Timestamp) -> Vec<Order> {
    let mut random = fastrand::Rng::with_seed(2);
    let late_order = |n: usize| {
        let mut order = shop::order(n, random.u8(0..10), now);
        let made_at = now.plus_ms(-3_600_000);
        let promised_at = now.plus_ms(8 * 3_600_000 + n as i64 * 1_000);
        order.promise = Some(Promise { made_at, expected_at: made_at, promised_at, met_at: None });
        let mut job = shop::job(n, n, n % 50, random.i64(3_600..20_000), &order);
        job.material_id = shop::id(6, n % MATERIALS);
        job.need = Amount::units((n / MATERIALS % AMOUNTS + 1) as i64);
        order.jobs.insert_mut(job.id, job.into());
        order
    };
    (0..JOBS).map(late_order).collect()
}

fn search_speed() -> Row {
    let now = Timestamp(1_763_719_200_000);
    let with_spool = |n: usize| {
        let mut printer = shop::printer(n, n.is_multiple_of(3), now);
        printer.fields.loaded_material_id = Some(shop::id(6, n % MATERIALS));
        printer
    };
    let (orders, printers) = (late_orders(now), (0..PRINTERS).map(with_spool).collect::<Vec<Printer>>());
    let orders: Vec<&Order> = orders.iter().collect();
    let outlooks: Vec<_> = printers.iter().map(|printer| PrinterOutlook { printer, left_ms: None }).collect();
    let (rules, paces, hours) = (rules(), Paces::default(), hours());
    let knowledge = ShopKnowledge { rules: &rules, paces: &paces, hours: &hours, starting_ms: 60_000 };
    let plan = forecast(now, orders.iter().copied(), &outlooks, knowledge);
    let plenty = |_: Id| Some(StockedMaterial { name: "PLA".to_owned(), available: Amount::units(1_000_000) });
    let slowest = (0..SEARCHES)
        .map(|_| {
            let began = Instant::now();
            assert!(!recoveries(&plan, &orders, &outlooks, knowledge, &plenty).is_empty());
            began.elapsed().as_secs_f64() * 1000.0
        })
        .fold(0.0, f64::max);
    let needs = MATERIALS * AMOUNTS;
    let what = format!(
        "search for what has late orders ready in time: {JOBS} jobs with {needs} different needs on {PRINTERS} \
         printers, slowest of {SEARCHES}"
    );
    Row::figure(what, format!("{slowest:.1} ms")).at_most(slowest, MOST_SEARCH_MS, "ms")
}

fn promises() -> Row {
    let (mut met, mut orders) = (0, 0);
    for seed in 0..SHOPS {
        let shop = shop::simulated(seed);
        (met, orders) = (met + shop.met, orders + shop.met + shop.missed);
    }
    let share = 100.0 * f64::from(met) / f64::from(orders.max(1));
    let what = format!("promises kept in {SHOPS} simulated shops of {} days ({orders} orders)", shop::DAYS);
    Row { aim: "75 to 85 %".to_owned(), ..Row::figure(what, format!("{share:.1} %")) }
}
