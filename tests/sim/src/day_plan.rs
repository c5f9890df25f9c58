//! Plan of a day: dozens of orders from morning to evening, on twenty printers.

use fastrand::Rng;

use crate::chance::branch;
use crate::claims;
use crate::clerk::InvoicePlan;
use crate::endpoints::EndpointPlan;
use crate::faults::FaultPlan;
use crate::plan::{CrashPlan, CustomerStep, OrderPlan, Plan, PlannedProduct, SpoolChange, draw_money};
use crate::size::Size;
use crate::sold::ShopPlan;
use crate::spool_manager::SpoolPlan;
use crate::till;
use crate::workload::{Workload, draw_day_materials};

/// Milliseconds in a minute.
const MINUTE_MS: i64 = 60_000;

impl Plan {
    /// Draws the plan of a day with these faults.
    pub fn draw_day(seed: u64, faults: FaultPlan) -> Self {
        let size = Size::Day;
        let mut chance = branch(seed, "day");
        let printers = size.printers().unwrap_or(1);
        let mut products: Vec<PlannedProduct> = (0..chance.usize(8..=14)).map(|_| draw_product(&mut chance)).collect();
        let orders = (0..chance.usize(28..=44)).map(|number| draw_order(seed, number, products.len()));
        let mut orders: Vec<OrderPlan> = orders.collect();
        let spool = |number: usize, chance: &mut Rng| SpoolChange {
            number,
            at_ms: chance.i64(10 * MINUTE_MS..size.healed_at_ms()),
            printer: chance.usize(..printers),
            grams: chance.u32(500..1_000),
        };
        let spools = (0..chance.usize(..=12)).map(|number| spool(number, &mut chance)).collect();
        let sign_off_required = chance.bool();
        let materials = draw_day_materials(seed, &mut products);
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

    /// Returns the time of all prints of the plan in sequence, in milliseconds.
    pub fn print_ms(&self) -> i64 {
        let of_product =
            |place: usize, parts: u64| self.products.get(place).map_or(0, |product| product.seconds * parts);
        let sold = self.shops.iter().flat_map(|shop| &shop.orders).flat_map(|order| &order.lines);
        let sold = sold.map(|(product, quantity, _)| (*product, u64::from(*quantity)));
        let lines = self.orders.iter().flat_map(|order| order.lines.iter().copied()).chain(sold);
        let seconds = lines.map(|(place, quantity)| {
            match place.checked_sub(self.products.len()).and_then(|kit| self.work.kits.get(kit)) {
                Some(kit) => {
                    kit.components.iter().map(|(part, count)| of_product(*part, count * quantity)).sum::<u64>()
                }
                None => of_product(place, quantity),
            }
        });
        i64::try_from(seconds.sum::<u64>() * 1000).unwrap_or(i64::MAX)
    }
}

fn draw_product(chance: &mut Rng) -> PlannedProduct {
    PlannedProduct {
        plate: chance.u64(1..=6),
        seconds: chance.u64(600..=7_200),
        grams: chance.u32(5..=80).into(),
        cents: chance.i64(300..=5_000),
        material: 0,
        further: None,
    }
}

/// Generates an order of up to three products.
fn draw_order(seed: u64, number: usize, products: usize) -> OrderPlan {
    let mut chance = branch(seed, &format!("order {number} of the day"));
    let first = chance.usize(..products);
    let lines = (0..chance.usize(1..=3)).map(|place| ((first + place) % products, chance.u64(1..=6))).collect();
    let mut at_ms = chance.i64(MINUTE_MS..Size::Day.last_order_ms());
    let mut steps = vec![(at_ms, CustomerStep::Place)];
    let money = draw_money(&mut chance);
    for step in till::draw(seed, number).unwrap_or(money) {
        at_ms += chance.i64(1_000..40 * MINUTE_MS);
        steps.push((at_ms, step));
    }
    OrderPlan { number, lines, priority: None, due_ms: None, steps }
}
