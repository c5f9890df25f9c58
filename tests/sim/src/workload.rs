//! Work of a shop besides orders and their payments: materials, kits, shipments, and the staff's tasks during the day.
//! It is generated from its own random streams, so a story without it is otherwise the same.

use std::collections::BTreeMap;

use fastrand::Rng;

use crate::chance::branch;
use crate::cut::PlanPart;
use crate::plan::{CustomerStep, OrderPlan, PlannedProduct};
use crate::size::Size;

/// Material on the first spool of every printer in a small story.
const BLACK: MaterialPlan = MaterialPlan { name: "PLA black", color: "#000000", grams: 50_000 };
/// Index of the material that some prints take from the second slot.
const SECOND: usize = 1;
/// Grams in the final delivery, so that no job waits forever.
const LAST_DELIVERY_GRAMS: u32 = 20_000;
/// Milliseconds in a minute.
const MINUTE_MS: i64 = 60_000;
/// Minimum time from the placement of an order to its due time, in milliseconds.
const DUE_AFTER_MS: i64 = 180 * MINUTE_MS;
/// Time before the end of all faults from which the staff starts nothing new, in milliseconds.
const CLOSING_MS: i64 = 4 * MINUTE_MS;

/// Work of a shop.
#[derive(Default)]
pub struct Workload {
    /// Materials; most products use the first one.
    pub materials: Vec<MaterialPlan>,
    /// Indices of the materials in the first slots of the printers, in the order of the printers. The list is repeated
    /// if there are more printers.
    pub loads: Vec<usize>,
    /// Kits.
    pub kits: Vec<Kit>,
    /// Tasks of the staff.
    pub tasks: Vec<Task>,
    /// Planned shipments by order number.
    pub parcels: BTreeMap<usize, ParcelPlan>,
}

/// Material of the shop.
#[derive(Clone, Copy)]
pub struct MaterialPlan {
    /// Name.
    pub name: &'static str,
    /// Colour.
    pub color: &'static str,
    /// Initial stock, in grams.
    pub grams: u32,
}

/// Kit of parts of products.
#[derive(Clone)]
pub struct Kit {
    /// Products by index in the plan, each with the number of parts per set.
    pub components: Vec<(usize, u64)>,
    /// Price of a set in minor units.
    pub cents: i64,
}

/// Planned shipments of an order.
#[derive(Clone, Copy)]
pub struct ParcelPlan {
    /// Maximum number of partial shipments before the one with the rest.
    pub early: u32,
    /// `true` if the customer picks up the rest.
    pub is_pickup: bool,
}

/// Task of the staff.
#[derive(Clone, Copy)]
pub struct Task {
    /// Part of the plan as which it can be left out, alone or with others; `None` if nothing goes without it.
    pub part: Option<PlanPart>,
    /// Time in milliseconds since the start of the simulation.
    pub at_ms: i64,
    /// Act.
    pub act: Act,
}

/// Act of the staff. Printers, materials and orders are given by their indices or numbers in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Takes a printer out of service, or returns it to service.
    Maintenance {
        /// Printer.
        printer: usize,
        /// `true` to take the printer out of service.
        is_on: bool,
    },
    /// Pauses a printer's print, and resumes it later.
    Pause {
        /// Printer.
        printer: usize,
        /// Duration of the pause, in milliseconds.
        for_ms: i64,
    },
    /// Receives a delivery of a material.
    Receive {
        /// Material.
        material: usize,
        /// Delivered grams.
        grams: u32,
    },
    /// Performs a stock-take of a material whose actual amount differs from the recorded one.
    Count {
        /// Material.
        material: usize,
        /// Difference in grams.
        difference: i32,
    },
    /// Changes the priority of an order.
    Rank {
        /// Order.
        order: usize,
        /// Priority.
        priority: u8,
    },
    /// Has a good print of an order repeated.
    Remake {
        /// Order.
        order: usize,
    },
    /// Sets whether parts count only after a sign-off, and restarts the server.
    SignOff(bool),
}

impl Act {
    /// Returns the number of the order that it is about, if it is about one.
    pub const fn order(self) -> Option<usize> {
        match self {
            Self::Rank { order, .. } | Self::Remake { order } => Some(order),
            _ => None,
        }
    }

    /// Returns whether a print of the order with this number is made again.
    pub fn is_remake_of(self, number: usize) -> bool {
        self == Self::Remake { order: number }
    }
}

/// Tasks being drawn.
#[derive(Default)]
struct TaskList {
    tasks: Vec<Task>,
    /// Number of parts as which tasks can be left out.
    count: usize,
    /// The same of changes of the rules.
    rules: usize,
}

impl TaskList {
    /// Adds an act with its time.
    fn add(&mut self, at_ms: i64, act: Act) {
        self.add_together(&[(at_ms, act)]);
    }

    /// Adds acts with their times, of which none can be left out alone.
    fn add_together(&mut self, acts: &[(i64, Act)]) {
        let is_rule = matches!(acts, [(_, Act::SignOff(_)), ..]);
        let count = if is_rule { &mut self.rules } else { &mut self.count };
        let part = Some(if is_rule { PlanPart::Rule(*count) } else { PlanPart::Task(*count) });
        *count += 1;
        self.tasks.extend(acts.iter().map(|(at_ms, act)| Task { part, at_ms: *at_ms, act: *act }));
    }

    /// Adds an act without which nothing goes.
    fn add_needed(&mut self, at_ms: i64, act: Act) {
        self.tasks.push(Task { part: None, at_ms, act });
    }
}

impl Workload {
    /// Generates the work of a story with this many printers, and extends products and orders accordingly. The
    /// `materials` and initial `loads` must be generated before.
    pub fn draw(
        seed: u64,
        size: Size,
        printers: usize,
        sign_off_required: bool,
        (materials, loads): (Vec<MaterialPlan>, Vec<usize>),
        products: &mut [PlannedProduct],
        orders: &mut [OrderPlan],
    ) -> Self {
        let kits = draw_kits(seed, size, products.len());
        let mut tasks = TaskList::default();
        draw_deliveries(seed, size, &materials, &mut tasks);
        draw_tasks(seed, size, printers, (materials.len(), sign_off_required), &mut tasks);
        let mut parcels = BTreeMap::new();
        for order in orders {
            let mut chance = branch(seed, &format!("work on order {}", order.number));
            add_wishes(order, products.len(), kits.len(), &mut chance);
            draw_order_tasks(order, size, (&mut tasks, &mut parcels), &mut chance);
        }
        Self { materials, loads, kits, tasks: tasks.tasks, parcels }
    }
}

/// Generates the materials of a small story, and selects the products that also need the second one.
pub fn draw_materials(seed: u64, products: &mut [PlannedProduct]) -> (Vec<MaterialPlan>, Vec<usize>) {
    let mut chance = branch(seed, "materials");
    if chance.u8(..3) > 0 {
        return (vec![BLACK], vec![0]);
    }
    let white = MaterialPlan { name: "PLA white", color: "#ffffff", grams: chance.u32(60..300) };
    for (place, product) in products.iter_mut().enumerate() {
        let grams = f64::from(chance.u32(2..=20));
        if chance.bool() || place == 0 {
            product.further = Some((SECOND, grams));
        }
    }
    (vec![BLACK, white], vec![0])
}

/// Generates the materials of a day's shop, and assigns them to the products.
pub fn draw_day_materials(seed: u64, products: &mut [PlannedProduct]) -> (Vec<MaterialPlan>, Vec<usize>) {
    let mut chance = branch(seed, "materials");
    let mut little = |name, color| MaterialPlan { name, color, grams: chance.u32(400..2_000) };
    let white = little("PLA white", "#ffffff");
    let red = little("PLA red", "#c01010");
    let grey = little("PETG grey", "#808080");
    let loads = vec![0, 0, 2, 3];
    for product in products {
        product.material = loads[chance.usize(..loads.len())];
        let grams = f64::from(chance.u32(2..=30));
        product.further = (chance.u8(..3) == 0).then_some((SECOND, grams));
    }
    (vec![BLACK, white, red, grey], loads)
}

fn draw_kits(seed: u64, size: Size, products: usize) -> Vec<Kit> {
    let mut chance = branch(seed, "kits");
    let count = match size {
        Size::Story => usize::from(chance.u8(..3) == 0),
        Size::Day => chance.usize(1..=3),
    };
    let mut draw = || {
        let first = chance.usize(..products);
        let mut components = vec![(first, chance.u64(1..=2))];
        if products > 1 {
            components.push(((first + 1) % products, chance.u64(1..=3)));
        }
        Kit { components, cents: chance.i64(1_000..9_000) }
    };
    (0..count).map(|_| draw()).collect()
}

/// Generates deliveries of the scarce materials.
fn draw_deliveries(seed: u64, size: Size, materials: &[MaterialPlan], tasks: &mut TaskList) {
    let mut chance = branch(seed, "deliveries");
    let healed = size.healed_at_ms();
    for material in 1..materials.len() {
        for _ in 0..chance.usize(1..=3) {
            let grams = chance.u32(100..1_000);
            tasks.add(chance.i64(5 * MINUTE_MS..healed), Act::Receive { material, grams });
        }
        tasks.add_needed(size.last_delivery_ms(), Act::Receive { material, grams: LAST_DELIVERY_GRAMS });
    }
}

/// Generates the tasks that do not belong to an order.
fn draw_tasks(
    seed: u64,
    size: Size,
    printers: usize,
    (materials, sign_off_required): (usize, bool),
    tasks: &mut TaskList,
) {
    let mut chance = branch(seed, "staff");
    let (begin, end) = (2 * MINUTE_MS, size.healed_at_ms() - CLOSING_MS);
    let span_ms = end - begin;
    for _ in 0..count(size, 3, 6, &mut chance) {
        let (printer, at_ms) = (chance.usize(..printers), chance.i64(begin..end));
        let back_ms = (at_ms + chance.i64(span_ms / 12..span_ms / 5)).min(end);
        let [out, back] = [true, false].map(|is_on| Act::Maintenance { printer, is_on });
        tasks.add_together(&[(at_ms, out), (back_ms, back)]);
    }
    for _ in 0..count(size, 3, 8, &mut chance) {
        let act = Act::Pause { printer: chance.usize(..printers), for_ms: chance.i64(20_000..200_000) };
        tasks.add(chance.i64(begin..end), act);
    }
    for _ in 0..count(size, 3, 6, &mut chance) {
        let act = Act::Count { material: chance.usize(..materials), difference: chance.i32(-80..=40) };
        tasks.add(chance.i64(begin..end), act);
    }
    for _ in 0..count(size, 3, 4, &mut chance) {
        let act = Act::Receive { material: 0, grams: chance.u32(500..3_000) };
        tasks.add(chance.i64(begin..end), act);
    }
    let mut changes: Vec<i64> = (0..count(size, 4, 2, &mut chance)).map(|_| chance.i64(begin..end)).collect();
    changes.sort_unstable();
    let mut is_required = sign_off_required;
    for at_ms in changes {
        is_required = !is_required;
        tasks.add(at_ms, Act::SignOff(is_required));
    }
}

/// Returns how often something happens: once in one of `odds` small stories, and at most `most` times a day.
fn count(size: Size, odds: u8, most: usize, chance: &mut Rng) -> usize {
    match size {
        Size::Story => usize::from(chance.u8(..odds) == 0),
        Size::Day => chance.usize(1..=most),
    }
}

/// Adds a kit, a priority, a due time and a partial cash refund to an order, each at random.
fn add_wishes(order: &mut OrderPlan, products: usize, kits: usize, chance: &mut Rng) {
    let placed_ms = order.steps.first().map_or(0, |(at, _)| *at);
    if kits > 0 && chance.bool() {
        order.lines.push((products + chance.usize(..kits), chance.u64(1..=2)));
    }
    if chance.bool() {
        order.priority = Some(chance.u8(..=9));
    }
    if chance.bool() {
        order.due_ms = Some(placed_ms + DUE_AFTER_MS + chance.i64(0..2 * DUE_AFTER_MS));
    }
    let cash = order.steps.iter().find(|(_, step)| *step == CustomerStep::Cash).map(|(at, _)| *at);
    // With the checkout, money goes back by its own steps.
    let cash = cash.filter(|_| order.remainder().is_none());
    if let Some(paid_ms) = cash.filter(|_| chance.bool()) {
        order.steps.push((paid_ms + chance.i64(1_000..5 * MINUTE_MS), CustomerStep::CashBack));
    }
}

/// Generates the tasks and shipments of an order. Nothing is shipped or repeated for a cancelled order.
fn draw_order_tasks(
    order: &OrderPlan,
    size: Size,
    (tasks, parcels): (&mut TaskList, &mut BTreeMap<usize, ParcelPlan>),
    chance: &mut Rng,
) {
    let placed_ms = order.steps.first().map_or(0, |(at, _)| *at);
    let end = size.healed_at_ms() - CLOSING_MS;
    let mut later = || chance.i64((placed_ms + MINUTE_MS).min(end - 1)..end);
    let (rank_ms, remake_ms) = (later(), later());
    if chance.u8(..3) == 0 {
        tasks.add(rank_ms, Act::Rank { order: order.number, priority: chance.u8(..=9) });
    }
    let (is_shipped, is_made_again) = (chance.bool(), chance.u8(..3) == 0);
    let plan = ParcelPlan { early: chance.u32(..=2), is_pickup: chance.u8(..4) == 0 };
    if is_shipped && !order.is_cancelled() {
        parcels.insert(order.number, plan);
    } else if is_made_again && !order.is_cancelled() {
        tasks.add(remake_ms, Act::Remake { order: order.number });
    }
}
