//! Plan of a story, generated from its seed: the shop, the steps of customers and staff, and the faults.

use fastrand::Rng;

use crate::chance::branch;
use crate::claims::{self, BankClaim};
use crate::clerk::InvoicePlan;
use crate::cut::Cut;
use crate::endpoints::EndpointPlan;
use crate::faults::{FaultKind, FaultPlan};
use crate::size::Size;
use crate::sold::ShopPlan;
use crate::spool_manager::SpoolPlan;
use crate::till::{self, Remainder, TillStep};
use crate::workload::{Workload, draw_materials};

/// Maximum time between a crash and the next server's start, in milliseconds.
const MAX_DOWN_MS: i64 = 4 * 60_000;

/// Plan of a story.
#[derive(Default)]
pub struct Plan {
    /// Seed from which the plan was generated.
    pub seed: u64,
    /// Size of the story.
    pub size: Size,
    /// Number of printers.
    pub printers: usize,
    /// `true` if parts count only after a sign-off.
    pub sign_off_required: bool,
    /// Products of the shop.
    pub products: Vec<PlannedProduct>,
    /// Orders by their numbers.
    pub orders: Vec<OrderPlan>,
    /// Invoices without orders, by their numbers.
    pub invoices: Vec<InvoicePlan>,
    /// Spool changes.
    pub spools: Vec<SpoolChange>,
    /// Webhook endpoints, by their numbers.
    pub endpoints: Vec<EndpointPlan>,
    /// Other shops whose orders are produced here.
    pub shops: Vec<ShopPlan>,
    /// Spool manager that counts the first material as well, if there is one.
    pub spool_manager: Option<SpoolPlan>,
    /// Crashes, in order.
    pub crashes: Vec<CrashPlan>,
    /// Faults.
    pub faults: FaultPlan,
    /// Work besides orders and their money.
    pub work: Workload,
}

/// Product of the shop.
#[derive(Clone)]
pub struct PlannedProduct {
    /// Number of parts on a plate.
    pub plate: u64,
    /// Duration of a print in seconds.
    pub seconds: u64,
    /// Material of a print in grams.
    pub grams: f64,
    /// Price of a part in minor units.
    pub cents: i64,
    /// Index of the material in the plan.
    pub material: usize,
    /// Index of the print's second material in the plan, with its amount in grams; `None` for a single material.
    pub further: Option<(usize, f64)>,
}

/// Order of a customer.
#[derive(Clone)]
pub struct OrderPlan {
    /// Number of the order in the plan.
    pub number: usize,
    /// Ordered products by index in the plan, with their quantities. The indices of kits follow those of the products.
    pub lines: Vec<(usize, u64)>,
    /// Priority; `None` for the default one.
    pub priority: Option<u8>,
    /// Due time, in milliseconds since the start of the simulation; `None` if there is no due time.
    pub due_ms: Option<i64>,
    /// Steps of the customer, each with its time in milliseconds since the start of the simulation. The first one
    /// places the order.
    pub steps: Vec<(i64, CustomerStep)>,
}

/// Step of a customer, or of the staff on a customer's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomerStep {
    /// Places the order.
    Place,
    /// The processor sends the event for a payment.
    Pay(usize, Share),
    /// The processor sends the event for a full refund (`true`) or a partial refund of a third.
    Refund(usize, Share, bool),
    /// Pays in cash.
    Cash,
    /// The staff refunds a third of the cash payment.
    CashBack,
    /// Cancels the order.
    Cancel,
    /// Step of the customer or the staff that involves the payment processor's checkout.
    Till(TillStep),
    /// The customer's bank claims money of the payment.
    Claim(BankClaim),
    /// The bank decides on its claim.
    Decide(BankClaim),
}

/// Share of an order's total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All of it.
    Whole,
    /// Half of it, rounded down.
    Half,
    /// The other half.
    Rest,
}

impl Share {
    /// Returns the amount in minor units.
    pub const fn cents(self, total: i64) -> i64 {
        match self {
            Self::Whole => total,
            Self::Half => total / 2,
            Self::Rest => total - total / 2,
        }
    }
}

impl OrderPlan {
    /// Returns whether the order is cancelled at some time, or all of its money goes back or is lost.
    pub fn is_cancelled(&self) -> bool {
        let nothing = CustomerStep::Till(TillStep::Leave(Remainder::Nothing));
        let ends = [CustomerStep::Cancel, nothing, CustomerStep::Decide(BankClaim::Lost)];
        self.steps.iter().any(|(_, step)| ends.contains(step))
    }
}

/// Change to the spool in a printer.
#[derive(Clone, Copy)]
pub struct SpoolChange {
    /// Number of the change in the plan.
    pub number: usize,
    /// Time in milliseconds since the start of the simulation.
    pub at_ms: i64,
    /// Number of the printer.
    pub printer: usize,
    /// Material on the new spool in grams.
    pub grams: u32,
}

/// Crash of a server.
#[derive(Clone, Copy)]
pub struct CrashPlan {
    /// Number of the crash in the plan.
    pub number: usize,
    /// Step of the server at which it crashes.
    pub step: u64,
    /// Time until the next server starts, in milliseconds.
    pub down_ms: i64,
}

impl Plan {
    /// Draws the plan of a seed in the given size, and leaves the given parts out.
    pub fn draw_sized(size: Size, seed: u64, cut: &Cut) -> Self {
        let mut faults = FaultPlan::draw(&mut branch(seed, "faults"));
        cut.faults().for_each(|kind| faults.remove(kind));
        let mut plan = match size {
            Size::Story => Self::draw(seed, faults),
            Size::Day => Self::draw_day(seed, faults),
        };
        plan.leave_out(cut);
        plan
    }

    /// Draws the plan of a small story with these faults.
    fn draw(seed: u64, faults: FaultPlan) -> Self {
        let mut chance = branch(seed, "shop");
        let printers = chance.usize(1..=2);
        let mut products: Vec<PlannedProduct> =
            (0..chance.usize(1..=3)).map(|_| PlannedProduct::draw(&mut chance)).collect();
        let orders = (0..chance.usize(1..=3)).map(|number| draw_order(seed, number, products.len()));
        let mut orders: Vec<OrderPlan> = orders.collect();
        let spools = (0..chance.usize(..=2)).map(|number| SpoolChange {
            number,
            at_ms: chance.i64(90_000..1_800_000),
            printer: chance.usize(..printers),
            grams: chance.u32(500..1_000),
        });
        let spools = spools.collect();
        let sign_off_required = chance.bool();
        let (size, materials) = (Size::Story, draw_materials(seed, &mut products));
        let work = Workload::draw(seed, size, printers, sign_off_required, materials, &mut products, &mut orders);
        claims::add(seed, size, &faults, &mut orders, &work);
        let crashes = CrashPlan::draw_all(seed, size, &faults);
        let endpoints = EndpointPlan::draw_all(seed, size, &faults);
        let cents: Vec<i64> = products.iter().map(|product| product.cents).collect();
        let shops = ShopPlan::draw_all(seed, size, &faults, &cents);
        let invoices = InvoicePlan::draw_all(seed, size);
        let spool_manager = SpoolPlan::draw(seed, size, &faults);
        Self {
            seed,
            size,
            printers,
            sign_off_required,
            products,
            orders,
            invoices,
            spools,
            endpoints,
            shops,
            spool_manager,
            crashes,
            faults,
            work,
        }
    }
}

impl Plan {
    /// Creates the plan of a shop with this many printers in which nothing happens.
    pub fn still(printers: usize) -> Self {
        Self { printers, ..Self::default() }
    }
}

impl PlannedProduct {
    fn draw(chance: &mut Rng) -> Self {
        Self {
            plate: chance.u64(1..=2),
            seconds: chance.u64(60..=420),
            grams: chance.u32(5..=60).into(),
            cents: chance.i64(300..=5_000),
            material: 0,
            further: None,
        }
    }
}

impl CrashPlan {
    /// Generates the crashes for a seed.
    pub fn draw_all(seed: u64, size: Size, faults: &FaultPlan) -> Vec<Self> {
        let mut chance = branch(seed, FaultKind::Crash.word());
        let count = faults.times(FaultKind::Crash, size.most_crashes()) as usize;
        (0..count).map(|number| Self::draw(number, size, &mut chance)).collect()
    }

    fn draw(number: usize, size: Size, chance: &mut Rng) -> Self {
        // Short lives are as frequent as long ones: what a start does is interrupted as often as the work of a day.
        let longest = 1_u64 << chance.u32(2..=size.longest_life());
        let is_soon = chance.bool();
        let down_ms = chance.i64(0..MAX_DOWN_MS);
        Self { number, step: chance.u64(1..=longest), down_ms: if is_soon { down_ms / 60 } else { down_ms } }
    }
}

/// Generates an order.
fn draw_order(seed: u64, number: usize, products: usize) -> OrderPlan {
    let mut chance = branch(seed, &format!("order {number}"));
    let first = chance.usize(..products);
    let mut lines = vec![(first, chance.u64(1..=3))];
    if products > 1 && chance.bool() {
        lines.push(((first + 1) % products, chance.u64(1..=2)));
    }
    let mut at_ms = chance.i64(60_000..Size::Story.last_order_ms());
    let mut steps = vec![(at_ms, CustomerStep::Place)];
    let money = draw_money(&mut chance);
    for step in till::draw(seed, number).unwrap_or(money) {
        at_ms += chance.i64(1_000..300_000);
        steps.push((at_ms, step));
    }
    OrderPlan { number, lines, priority: None, due_ms: None, steps }
}

/// Generates the payments for an order. Payment events arrive twice, late and in any order.
pub fn draw_money(chance: &mut Rng) -> Vec<CustomerStep> {
    use CustomerStep::{Cancel, Cash, Pay, Refund};
    use Share::{Half, Rest, Whole};
    let paid = Pay(0, Whole);
    let mut other = match chance.u8(..8) {
        0 | 1 => vec![],
        2 => {
            // Nothing is paid before both halves are there.
            let mut halves = vec![Pay(0, Half), Pay(1, Rest), Pay(0, Half)];
            chance.shuffle(&mut halves);
            return halves;
        }
        3 => return vec![Cash],
        4 => vec![Pay(1, Whole), Refund(1, Whole, false), Refund(1, Whole, true)],
        5 => return vec![paid, Cancel, Refund(0, Whole, true)],
        6 => return vec![paid, Refund(0, Whole, false), Cancel],
        _ => vec![Refund(0, Whole, false)],
    };
    other.push(paid);
    chance.shuffle(&mut other);
    other.insert(0, paid);
    other
}
