//! Simulation of a shop for thirty days in virtual time: orders arrive, printers print slower or faster than the files
//! estimate, prints fail, and staff clear beds while the shop is open. The dispatcher's board assigns the jobs and the
//! forecaster promises; it learns only what a server would have observed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::Arc;

use printfloor::domain::dispatch::DispatchIndex;
use printfloor::domain::forecast::{ObservedPrint, Paces, PrinterOutlook, ShopKnowledge, forecast};
use printfloor::domain::id::Id;
use printfloor::domain::job::{Job, JobState};
use printfloor::domain::order::{Order, OrderStatus};
use printfloor::domain::printer::{Clearing, Printer};
use printfloor::domain::promise::DelayRatios;
use printfloor::domain::time::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::{hours, rules};

/// Duration of the simulation in days.
pub const DAYS: i64 = 30;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// 2025-11-03, a Monday, at midnight UTC.
const START: Timestamp = Timestamp(1_762_128_000_000);
const PRINTERS: usize = 8;
const FILES: usize = 25;
/// Mean time between two orders during opening hours, in milliseconds.
const BETWEEN_ORDERS: f64 = 45.0 * MINUTE as f64;
/// Share of prints that fail.
const FAILS: f64 = 0.04;
/// Share of orders with a higher priority.
const URGENT: f64 = 0.1;
/// Time from the selection of a printer until it is printing, in milliseconds.
const STARTING: i64 = MINUTE;

/// Numbers of kept and broken promises of one shop.
pub struct SimulatedOutcome {
    pub met: u32,
    pub missed: u32,
}

pub fn id(kind: u128, number: usize) -> Id {
    Id(Uuid::from_u128((kind << 64) + number as u128 + 1))
}

pub fn printer(number: usize, auto_clear: bool, now: Timestamp) -> Printer {
    serde_json::from_value(json!({
        "id": id(1, number), "name": format!("printer {number}"), "type": "fw_rest", "machineType": "fdm_large",
        "baseUrl": "http://printer", "encryptedApiKey": "", "serial": null, "buildVolume": null, "autoClear": auto_clear,
        "loadedMaterialId": null, "location": null, "tags": [], "inHand": null, "bedNotCleared": false,
        "needsHome": false, "maintenance": null, "printFailed": false, "disconnected": false, "activity": "idle",
        "connection": "connected", "shows": null, "outage": false, "lastSeenAt": now, "idleSince": now,
        "archived": false, "createdAt": now, "updatedAt": now,
    }))
    .unwrap()
}

pub fn order(number: usize, priority: u8, now: Timestamp) -> Order {
    serde_json::from_value(json!({
        "id": id(3, number), "number": number, "kind": "manual", "status": "paid", "site": "industries", "madeBy": null,
        "customerId": null, "customerEmail": null, "lines": [], "currency": "usd", "subtotalCents": 0, "shippingCents": 0,
        "taxCents": 0, "discountCents": 0, "totalCents": 0, "notes": null, "shippingAddress": null,
        "priority": priority, "dueAt": null, "shipment": null, "flags": [], "paymentSession": null,
        "createdAt": now, "paidAt": now, "updatedAt": now,
    }))
    .unwrap()
}

pub fn job(number: usize, order: usize, file: usize, seconds: i64, of: &Order) -> Job {
    serde_json::from_value(json!({
        "id": id(2, number), "number": number, "version": 1, "orderId": id(3, order), "orderNumber": order, "line": 0,
        "skuId": id(5, file), "skuName": "part", "materialId": id(6, 0), "need": 10, "machineType": "fdm_large",
        "dimensions": null, "fileId": id(4, file), "fileFilamentMm": null, "estimatedSeconds": seconds,
        "state": "SLICED", "blockedBy": null, "blockReason": null, "stock": "held", "claim": 1, "released": false,
        "priority": of.priority, "dueAt": null, "printerId": null, "attemptId": null, "triedOn": [], "attempts": [],
        "cancelRequestedAt": null, "error": null, "consumed": 0, "createdAt": of.created_at, "updatedAt": of.created_at,
    }))
    .unwrap()
}

/// Scheduled event in the simulation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    OrderComes,
    PrintEnds(usize),
    BedCleared(usize),
    Retried(Id, Id),
}

struct Running {
    order: Id,
    job: Id,
    began: Timestamp,
    over: Timestamp,
    fails: bool,
}

struct ForecastShop {
    random: fastrand::Rng,
    board: DispatchIndex,
    orders: HashMap<Id, Order>,
    printers: Vec<Printer>,
    running: BTreeMap<usize, Running>,
    next: BinaryHeap<Reverse<(Timestamp, u64, Next)>>,
    count: u64,
    jobs: usize,
    /// Actual print time of each file as a multiple of its estimate, and the estimate.
    files: Vec<(f64, i64)>,
    true_paces: Vec<f64>,
    paces: Paces,
    stretch: DelayRatios,
    outcome: SimulatedOutcome,
}

/// Simulates one shop.
pub fn simulated(seed: u64) -> SimulatedOutcome {
    let mut random = fastrand::Rng::with_seed(seed);
    let files = (0..FILES).map(|_| (spread(&mut random, 0.15), random.i64(20..360) * 60)).collect();
    let true_paces = (0..PRINTERS).map(|_| spread(&mut random, 0.08)).collect();
    let printers: Vec<Printer> = (0..PRINTERS).map(|n| printer(n, n == 0, START)).collect();
    let mut board = DispatchIndex::new(rules());
    printers.iter().for_each(|printer| board.printer_changed(printer));
    let outcome = SimulatedOutcome { met: 0, missed: 0 };
    let mut shop = ForecastShop {
        random,
        board,
        orders: HashMap::new(),
        printers,
        running: BTreeMap::new(),
        next: BinaryHeap::new(),
        count: 0,
        jobs: 0,
        files,
        true_paces,
        paces: Paces::default(),
        stretch: DelayRatios::default(),
        outcome,
    };
    shop.at(START.plus_ms(8 * HOUR), Next::OrderComes);
    let end = START.plus_ms(DAYS * DAY);
    while let Some(Reverse((now, _, next))) = shop.next.pop() {
        if now > end {
            break;
        }
        shop.happens(now, next, end);
        shop.dispatch(now);
    }
    shop.outcome
}

/// Returns a random factor around 1, whose logarithm is approximately normal with this deviation.
fn spread(random: &mut fastrand::Rng, deviation: f64) -> f64 {
    let normal: f64 = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    (normal * deviation).exp()
}

fn exponential(random: &mut fastrand::Rng, mean: f64) -> i64 {
    (-(1.0 - random.f64()).ln() * mean) as i64
}

impl ForecastShop {
    fn at(&mut self, at: Timestamp, next: Next) {
        self.count += 1;
        self.next.push(Reverse((at, self.count, next)));
    }

    fn happens(&mut self, now: Timestamp, next: Next, end: Timestamp) {
        match next {
            Next::OrderComes => {
                // By day, every day: fewer at the weekend.
                let day = now.since(START) / DAY % 7;
                let mean = if day >= 5 { 3.0 * BETWEEN_ORDERS } else { BETWEEN_ORDERS };
                let mut then = now.plus_ms(exponential(&mut self.random, mean));
                if then.since(START) % DAY > 20 * HOUR {
                    then = START.plus_ms((then.since(START) / DAY + 1) * DAY + 7 * HOUR);
                }
                self.at(then, Next::OrderComes);
                // What would not be ready before the end says nothing about promises.
                if now < end.plus_ms(-4 * DAY) {
                    self.order_comes(now);
                }
            }
            Next::PrintEnds(on) => self.print_ends(now, on),
            Next::BedCleared(on) => {
                let printer = &mut self.printers[on];
                printer.bed_not_cleared = false;
                printer.idle_since = now;
                if let Some(from) = printer.bed_since.take() {
                    printer.clearings.push(Clearing { from, to: now });
                    let many = printer.clearings.len().saturating_sub(8);
                    printer.clearings.drain(..many);
                }
                self.board.printer_changed(&self.printers[on]);
            }
            Next::Retried(order, job) => self.change(order, job, |job| job.state = JobState::Sliced),
        }
    }

    fn order_comes(&mut self, now: Timestamp) {
        let number = self.orders.len();
        let priority = if self.random.f64() < URGENT { 8 } else { 5 };
        let mut order = order(number, priority, now);
        for _ in 0..self.random.usize(1..5) {
            let file = self.random.usize(0..FILES);
            let job = job(self.jobs, number, file, self.files[file].1, &order);
            self.jobs += 1;
            order.jobs.insert_mut(job.id, Arc::new(job));
        }
        self.board.order_changed(&order);
        let id = order.id;
        self.orders.insert(id, order);
        self.dispatch(now);
        self.promise(now, id);
    }

    /// Promises an order as the server does: according to the first forecast that covers the order.
    fn promise(&mut self, now: Timestamp, id: Id) {
        let remaining_ms = |on: usize| {
            self.running.get(&on).map(|running| {
                let share = now.since(running.began) as f64 / running.over.since(running.began).max(1) as f64;
                // Printers tell what is left by what is done, and not exactly.
                ((1.0 - share) * running.over.since(running.began) as f64) as i64
            })
        };
        let outlooks = self.printers.iter().enumerate();
        let outlooks: Vec<_> =
            outlooks.map(|(on, printer)| PrinterOutlook { printer, left_ms: remaining_ms(on) }).collect();
        let (rules, hours) = (rules(), hours());
        let knowledge = ShopKnowledge { rules: &rules, paces: &self.paces, hours: &hours, starting_ms: 60_000 };
        let forecast = forecast(now, self.orders.values(), &outlooks, knowledge);
        if let (Some(expected), Some(order)) = (forecast.orders.get(&id), self.orders.get_mut(&id)) {
            order.promise = Some(self.stretch.promise(now, *expected, 300_000));
        }
    }

    fn print_ends(&mut self, now: Timestamp, on: usize) {
        let Some(running) = self.running.remove(&on) else { return };
        let printer = &mut self.printers[on];
        printer.in_hand = None;
        let by_itself = printer.fields.auto_clear && !running.fails;
        if by_itself {
            printer.idle_since = now;
        } else {
            (printer.bed_not_cleared, printer.bed_since) = (true, Some(now));
        }
        self.board.printer_changed(&self.printers[on]);
        let person = exponential(&mut self.random, 20.0 * MINUTE as f64);
        let cleared = hours().after(now, person).unwrap();
        if !by_itself {
            self.at(cleared, Next::BedCleared(on));
        }
        if running.fails {
            self.change(running.order, running.job, |job| {
                (job.state, job.attempt_id) = (JobState::Failed, None);
            });
            self.at(cleared.plus_ms(MINUTE), Next::Retried(running.order, running.job));
            return;
        }
        let order = &self.orders[&running.order];
        let job = &order.jobs.get(&running.job).unwrap();
        let (file, stated_seconds) = (job.file_id.unwrap(), job.estimated_seconds);
        let attempt = id(9, self.count as usize);
        let took_ms = now.since(running.began);
        let printer = self.printers[on].id;
        self.paces.learn(&ObservedPrint { attempt, file, printer, stated_seconds, took_ms });
        self.change(running.order, running.job, |job| {
            (job.state, job.attempt_id) = (JobState::Completed, None);
        });
        let order = self.orders.get_mut(&running.order).unwrap();
        if order.jobs.values().all(|job| job.state == JobState::Completed) {
            order.status = OrderStatus::Ready;
            if let Some(promise) = &mut order.promise {
                promise.met_at = Some(now);
                if now <= promise.promised_at {
                    self.outcome.met += 1;
                } else {
                    self.outcome.missed += 1;
                }
                self.stretch.learn(promise);
            }
        }
    }

    fn change(&mut self, order: Id, job: Id, change: impl FnOnce(&mut Job)) {
        let order = self.orders.get_mut(&order).unwrap();
        let mut changed = Job::clone(order.jobs.get(&job).unwrap());
        change(&mut changed);
        order.jobs.insert_mut(job, Arc::new(changed));
        self.board.order_changed(order);
    }

    fn dispatch(&mut self, now: Timestamp) {
        for proposal in self.board.proposals(now) {
            let on = self.printers.iter().position(|printer| printer.id == proposal.printer).unwrap();
            let attempt = id(8, self.count as usize);
            self.change(proposal.order, proposal.job, |job| {
                job.state = JobState::Printing;
                job.printer_id = Some(proposal.printer);
            });
            let job = self.orders[&proposal.order].jobs.get(&proposal.job).unwrap().clone();
            let file = self.files[usize::try_from(job.file_id.unwrap().0.as_u128() & 0xffff).unwrap() - 1].0;
            let noise = spread(&mut self.random, 0.05);
            let stated = job.estimated_seconds.unwrap() as f64 * 1000.0;
            let whole = (stated * file * self.true_paces[on] * noise) as i64;
            let fails = self.random.f64() < FAILS;
            let prints = if fails { (whole as f64 * self.random.f64()) as i64 } else { whole };
            let began = now.plus_ms(STARTING);
            let over = began.plus_ms(prints.max(1));
            self.printers[on].in_hand = Some(in_hand(attempt, &job, began));
            self.board.printer_changed(&self.printers[on]);
            self.board.settled(&proposal, true);
            let (order, job) = (proposal.order, proposal.job);
            // What is shown of a print that will fail is what would be left of it.
            let expected_end = if fails { began.plus_ms(whole) } else { over };
            self.running.insert(on, Running { order, job, began, over: expected_end, fails });
            self.at(over, Next::PrintEnds(on));
        }
    }
}

fn in_hand(attempt: Id, job: &Job, began: Timestamp) -> printfloor::domain::printer::CurrentAttempt {
    serde_json::from_value(json!({
        "attempt": attempt, "job": job.id, "order": job.order_id, "fileId": job.file_id, "fileName": "part.gcode",
        "remoteName": null, "phase": {"phase": "printing", "at": began}, "step": 1, "heard": 1, "cancel": false,
        "unwanted": false, "progress": 0.5, "estimatedSeconds": job.estimated_seconds, "serverMark": null,
        "beganAt": began, "gone": null, "takenAt": began,
    }))
    .unwrap()
}
