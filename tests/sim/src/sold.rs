//! Plan of the other shops in a story: what they sell, when their messages arrive, and when their systems fail.

use fastrand::Rng;

use crate::chance::branch;
use crate::endpoints::Spell;
use crate::faults::{FaultKind, FaultPlan};
use crate::size::Size;

/// One in this many small stories has another shop. Each day-long story has one.
const STORIES_PER_SHOP: u8 = 3;
/// Maximum number of copies of a message.
const MOST_COPIES: u8 = 3;
/// Maximum delay of a message, in milliseconds.
const MAX_LATE_MS: i64 = 300_000;
/// Maximum duration of one period, in milliseconds.
const MAX_SPELL_MS: i64 = 600_000;
/// Temporary faults in a shop's API.
const SPELLS: [FaultKind; 2] = [FaultKind::ShopDown, FaultKind::ShopHangs];

/// Plan of another shop.
#[derive(Clone)]
pub struct ShopPlan {
    /// Number of the shop in the plan, which is part of its URL.
    pub number: usize,
    /// Time at which the staff creates the sales channel, in milliseconds since the start of the simulation.
    pub create_ms: i64,
    /// Time at which the staff maps the shop's products, in milliseconds since the start of the simulation.
    pub map_ms: i64,
    /// Orders that the shop sells.
    pub orders: Vec<SoldPlan>,
    /// Messages in the order in which they first arrive.
    pub letters: Vec<ChannelLetter>,
    /// Periods in which the shop's API fails.
    pub spells: Vec<Spell>,
}

/// Order that another shop sells.
#[derive(Clone)]
pub struct SoldPlan {
    /// ID of the order in that shop.
    pub id: u64,
    /// Sold products by index in the plan, with quantities and prices in minor units.
    pub lines: Vec<(usize, u32, i64)>,
    /// `true` if the order is cancelled and refunded in the other shop.
    pub is_cancelled: bool,
}

/// Copy of a message about an order.
#[derive(Clone, Copy)]
pub struct ChannelLetter {
    /// Time of first arrival, in milliseconds since the start of the simulation.
    pub at_ms: i64,
    /// Index of the order in the shop's plan.
    pub order: usize,
    /// State of the order that the message reports.
    pub stage: SaleStage,
}

/// State of an order in the other shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SaleStage {
    /// Nobody has paid for it yet.
    Placed,
    /// It is paid.
    Paid,
    /// Cancelled and refunded.
    Cancelled,
}

impl ShopPlan {
    /// Generates the other shops for a seed. `cents` are the prices of the products in minor units.
    pub fn draw_all(seed: u64, size: Size, faults: &FaultPlan, cents: &[i64]) -> Vec<Self> {
        let exists = branch(seed, "other shops").u8(..STORIES_PER_SHOP) == 0 || size == Size::Day;
        exists.then(|| Self::draw(seed, size, 0, faults, cents)).into_iter().collect()
    }

    fn draw(seed: u64, size: Size, number: usize, faults: &FaultPlan, cents: &[i64]) -> Self {
        let mut chance = branch(seed, &format!("other shop {number}"));
        let create_ms = chance.i64(1_000..60_000) * size.stretch();
        let map_ms = create_ms + chance.i64(0..600_000) * size.stretch();
        let (mut orders, mut letters) = (Vec::new(), Vec::new());
        for order in 0..chance.usize(1..=size.most_sold()) {
            orders.push(SoldPlan::draw(&mut branch(seed, &format!("sold {number} {order}")), order, cents));
            let stages = draw_stages(size, &mut branch(seed, &format!("stages {number} {order}")), &orders[order]);
            for (at_ms, stage) in stages {
                let mut chance = branch(seed, &format!("letters {number} {order} {stage:?}"));
                let copies = draw_copies(&mut chance, faults);
                letters.extend(copies.into_iter().map(|late_ms| ChannelLetter {
                    at_ms: at_ms + late_ms,
                    order,
                    stage,
                }));
            }
        }
        letters.sort_by_key(|letter| letter.at_ms);
        let (mut spells, healed_at) = (Vec::new(), size.healed_at_ms());
        for fault in SPELLS {
            let mut chance = branch(seed, &format!("{fault} {number}"));
            for _ in 0..faults.times(fault, size.most_outages()) {
                let from_ms = chance.i64(60_000..healed_at);
                let until_ms = (from_ms + chance.i64(1_000..MAX_SPELL_MS)).min(healed_at);
                spells.push(Spell { from_ms, until_ms, fault });
            }
        }
        Self { number, create_ms, map_ms, orders, letters, spells }
    }
}

impl SoldPlan {
    fn draw(chance: &mut Rng, number: usize, cents: &[i64]) -> Self {
        let first = chance.usize(..cents.len());
        let mut products = vec![(first, chance.u32(1..=2))];
        if cents.len() > 1 && chance.bool() {
            products.push(((first + 1) % cents.len(), 1));
        }
        // Prices there are not those here.
        let lines = products.into_iter().map(|(product, quantity)| (product, quantity, cents[product] + 100)).collect();
        Self { id: 1_001 + number as u64, lines, is_cancelled: chance.u8(..4) == 0 }
    }

    /// Returns the total in minor units.
    pub fn total_cents(&self) -> i64 {
        self.lines.iter().map(|(_, quantity, cents)| i64::from(*quantity) * cents).sum()
    }
}

/// Draws when an order reaches each of its states in a story of this size.
fn draw_stages(size: Size, chance: &mut Rng, order: &SoldPlan) -> Vec<(i64, SaleStage)> {
    let placed_ms = chance.i64(60_000..size.last_order_ms());
    let paid_ms = placed_ms + chance.i64(1_000..120_000) * size.stretch();
    let mut stages = vec![(placed_ms, SaleStage::Placed), (paid_ms, SaleStage::Paid)];
    if order.is_cancelled {
        stages.push((paid_ms + chance.i64(1_000..900_000) * size.stretch(), SaleStage::Cancelled));
    }
    stages
}

/// Generates the delays of a message's copies, in milliseconds.
fn draw_copies(chance: &mut Rng, faults: &FaultPlan) -> Vec<i64> {
    let (is_repeated, is_late) = (chance.f64(), chance.f64());
    let count = if is_repeated < faults.rate(FaultKind::MessageRepeated) { chance.u8(2..=MOST_COPIES) } else { 1 };
    let mut delay = || {
        let late_ms = chance.i64(0..MAX_LATE_MS);
        if is_late < faults.rate(FaultKind::MessageLate) { late_ms } else { 0 }
    };
    (0..count).map(|_| delay()).collect()
}
