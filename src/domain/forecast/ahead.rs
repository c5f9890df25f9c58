//! Consequences of a forecast for a shop's staff in the next hours: beds to clear, spools to change, orders to finish.

mod spools;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use self::spools::{FreeSpools, SpoolsLeft};
use super::{Forecast, QueuedJob};
use crate::dispatch::is_ready;
use crate::id::Id;
use crate::launch::MaterialNeed;
use crate::order::{Order, OrderStatus};
use crate::printer::Printer;
use crate::shop_clock::ShopClock;
use crate::sku::MachineType;
use crate::time::{HOUR_MS, Timestamp};
use crate::timing::Timing;

/// Number of hours to look ahead; the current hour counts as one.
const HOURS_AHEAD: i64 = 4;
/// Maximum number of different job needs to compare with the spools.
const MAX_NEEDS: usize = 200;

/// Bed that a person will have to clear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BedAhead {
    /// Printer with the bed.
    pub printer: Id,
    /// Expected end of the print.
    pub at: Timestamp,
}

/// Spool that a person will have to change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpoolAhead {
    /// Printer with the spool.
    pub printer: Id,
    /// Material on the spool.
    pub material: Id,
    /// Time by which the spool should be changed: when the printer could take another job, or now.
    pub at: Timestamp,
}

/// Order that must be ready before the day ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderAhead {
    /// Identifier of the order.
    pub order: Id,
    /// Time by which it must be ready.
    pub deadline: Timestamp,
    /// `true` if it will not be ready by then.
    pub is_late: bool,
}

/// Returns the end of the next hours: a full hour by the shop's clock.
pub fn end_of_next_hours(clock: &ShopClock, now: Timestamp) -> Timestamp {
    clock.hour_start(now).plus_ms(HOURS_AHEAD * HOUR_MS)
}

impl Forecast {
    /// Lists the beds that people will have to clear before `until`, one for each print that ends by then, earliest
    /// first. Printers that clear their own beds are left out.
    pub fn beds_ahead(&self, printers: &[&Printer], until: Timestamp) -> Vec<BedAhead> {
        let by_hand = printers.iter().filter(|printer| !printer.archived && !printer.fields.auto_clear);
        let mut beds: Vec<BedAhead> = by_hand
            .flat_map(|printer| {
                let current = printer.in_hand.as_ref().filter(|hand| !hand.over());
                let current = current.and_then(|hand| self.jobs.get(&hand.job).copied());
                let ends = current.into_iter().chain(self.queue_of(printer).iter().map(|queued| queued.done_at));
                ends.map(move |at| BedAhead { printer: printer.id, at })
            })
            .filter(|bed| bed.at < until)
            .collect();
        beds.sort_by_key(|bed| (bed.at, bed.printer));
        beds
    }

    /// Lists the spools to change before `until`, each printer and material once, earliest first: those that will run
    /// out during the current print, and those on which the planned prints leave too little for a job that no printer
    /// could take otherwise. Spools whose remaining amount is unknown are left out.
    pub fn spools_ahead(&self, printers: &[&Printer], orders: &[&Order], until: Timestamp) -> Vec<SpoolAhead> {
        let of_id: HashMap<Id, &Order> = orders.iter().map(|order| (order.id, *order)).collect();
        let mut changes: BTreeMap<(Id, Id), Timestamp> = BTreeMap::new();
        let mut spools = Vec::new();
        for printer in printers.iter().filter(|printer| !printer.archived) {
            let mut left = SpoolsLeft::of(printer);
            for material in left.take_current(printer) {
                changes.insert((printer.id, material), self.at);
            }
            for queued in self.queue_of(printer) {
                let job = of_id.get(&queued.order).and_then(|order| order.jobs.get(&queued.job));
                job.into_iter().for_each(|job| left.take(&job.material_needs()));
            }
            let free_at = self.printers.get(&printer.id).copied().flatten().filter(|at| *at < until);
            spools.extend(free_at.map(|at| (at, *printer, left)));
        }
        let mut spools = FreeSpools::new(spools);
        for (machine, needs) in self.unplanned_needs(orders) {
            let Some((at, printer, materials)) = spools.first_short_for(machine, &needs) else { continue };
            for material in materials {
                changes.entry((printer, material)).or_insert(at);
            }
        }
        let spool = |((printer, material), at)| SpoolAhead { printer, material, at };
        let mut changes: Vec<SpoolAhead> = changes.into_iter().map(spool).collect();
        changes.sort_by_key(|one| (one.at, one.printer, one.material));
        changes
    }

    /// Returns the different needs of the ready jobs that no printer is expected to take.
    fn unplanned_needs(&self, orders: &[&Order]) -> Vec<(MachineType, Vec<MaterialNeed>)> {
        let open = orders.iter().filter(|order| matches!(order.status, OrderStatus::Paid | OrderStatus::Printing));
        let jobs = open.flat_map(|order| order.jobs.values()).filter(|job| is_ready(job));
        let mut all: BTreeSet<(MachineType, Vec<MaterialNeed>)> = BTreeSet::new();
        for job in jobs.filter(|job| !self.jobs.contains_key(&job.id)) {
            if all.len() >= MAX_NEEDS {
                break;
            }
            all.insert((job.machine_type, job.material_needs()));
        }
        all.into_iter().collect()
    }

    /// Lists the orders that must be ready before the current day of the shop ends, earliest first.
    pub fn orders_ahead<'a>(
        &self,
        orders: impl IntoIterator<Item = &'a Order>,
        clock: &ShopClock,
        now: Timestamp,
    ) -> Vec<OrderAhead> {
        let today = clock.day(now);
        let due = orders.into_iter().filter_map(|order| {
            let deadline = order.deadline().filter(|deadline| clock.day(*deadline) == today)?;
            let is_late = order.timing(self.orders.get(&order.id).copied(), now) == Some(Timing::Late);
            Some(OrderAhead { order: order.id, deadline, is_late })
        });
        let mut due: Vec<OrderAhead> = due.collect();
        due.sort_by_key(|one| (one.deadline, one.order));
        due
    }

    fn queue_of(&self, printer: &Printer) -> &[QueuedJob] {
        self.queues.get(&printer.id).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::sync::Arc;

    use super::*;
    use crate::amount::Amount;
    use crate::job::Job;
    use crate::launch::KnownTypes;
    use crate::printer::{PrinterFields, Slot, SlotSource, TakeAttempt};
    use crate::promise::Promise;
    use crate::testing::samples::{idle_printer, paid_order, printer_fields, sliced_job};
    use crate::testing::{Bench, id};

    const NOW: Timestamp = Timestamp(1_763_719_200_000); // Friday, 2025-11-21T10:00:00Z
    const MATERIAL: u32 = 2;

    fn hours(hours: i64) -> Timestamp {
        NOW.plus_ms(hours * HOUR_MS)
    }

    fn printer(number: u32, auto_clear: bool, grams: Option<i64>) -> Printer {
        let fields = printer_fields(&format!("printer {number}"), MachineType::FdmLarge);
        let slot = Slot {
            slot: 0,
            material_id: Some(id(MATERIAL)),
            color: None,
            remaining: grams.map(Amount::units),
            source: SlotSource::Manual,
            vendor_code: None,
            kind: None,
            weighed: false,
            spool: None,
            updated_at: NOW,
        };
        idle_printer(number, PrinterFields { auto_clear, ..fields }, NOW).with_slots(vec![slot])
    }

    fn order(number: u32, jobs: impl IntoIterator<Item = Job>) -> Order {
        let mut order = paid_order(number, NOW);
        for job in jobs {
            order.jobs.insert_mut(job.id, Arc::new(job));
        }
        order
    }

    fn queued(job: u32, done_at: Timestamp) -> QueuedJob {
        QueuedJob { job: id(job), order: id(10), print_ms: HOUR_MS, done_at }
    }

    #[test]
    fn the_next_hours_end_with_an_hour() {
        let now = NOW.plus_ms(20 * 60_000);
        assert_eq!(end_of_next_hours(&ShopClock::default(), now), hours(4));
        assert_eq!(end_of_next_hours(&ShopClock::default(), NOW), hours(4));
    }

    #[test]
    fn beds_are_listed_as_prints_end_except_those_that_clear_themselves() {
        let printers = [printer(5, false, None), printer(6, true, None), printer(7, false, None)];
        let printers: Vec<&Printer> = printers.iter().collect();
        let mut plan = Forecast { at: NOW, ..Forecast::default() };
        plan.queues.insert(id(5), vec![queued(11, hours(2)), queued(12, hours(4))]);
        plan.queues.insert(id(6), vec![queued(13, hours(1))]);
        plan.queues.insert(id(7), vec![queued(14, hours(1)), queued(15, hours(3))]);
        let beds: Vec<(Id, Timestamp)> =
            plan.beds_ahead(&printers, hours(4)).into_iter().map(|bed| (bed.printer, bed.at)).collect();
        assert_eq!(beds, [(id(7), hours(1)), (id(5), hours(2)), (id(7), hours(3))]);
        assert!(Forecast::default().beds_ahead(&printers, hours(4)).is_empty());
    }

    #[test]
    fn a_spool_is_to_be_changed_when_the_planned_prints_leave_too_little_for_a_job() {
        // Each job takes ten grams. The first is planned, the second is not.
        let orders = [order(10, [sliced_job(11, 10, NOW), sliced_job(12, 10, NOW)])];
        let orders: Vec<&Order> = orders.iter().collect();
        let mut plan = Forecast { at: NOW, ..Forecast::default() };
        plan.queues.insert(id(5), vec![queued(11, hours(1))]);
        plan.jobs.insert(id(11), hours(1));
        plan.printers.insert(id(5), Some(hours(1)));
        let spools = |grams: Option<i64>, until: Timestamp| {
            let printer = printer(5, false, grams);
            plan.spools_ahead(&[&printer], &orders, until)
        };
        let change = SpoolAhead { printer: id(5), material: id(MATERIAL), at: hours(1) };
        assert_eq!(spools(Some(19), hours(4)), [change]);
        assert!(spools(Some(20), hours(4)).is_empty(), "there is enough; it waits for something else");
        assert!(spools(None, hours(4)).is_empty(), "nobody knows");
        assert!(spools(Some(19), hours(1)).is_empty(), "not in these hours");
        plan.jobs.insert(id(12), hours(2));
        let printer = printer(5, false, Some(19));
        assert!(plan.spools_ahead(&[&printer], &orders, hours(4)).is_empty(), "another printer takes it");
    }

    #[test]
    fn a_spool_that_does_not_last_for_the_print_under_way_is_to_be_changed_at_once() {
        let mut bench = Bench::new();
        bench.now = NOW;
        let mut busy = Some(printer(5, true, None));
        let take = TakeAttempt {
            attempt: id(50),
            job: id(11),
            order: id(10),
            file_id: id(3),
            file_name: "a.gcode".into(),
            claimed_at: NOW,
            needs: Box::new(sliced_job(11, 10, NOW).launch_needs()),
            types: KnownTypes::default(),
            stated_mm: None,
            estimated_seconds: Some(3600),
        };
        bench.tell(&mut busy, id(5), &take).unwrap();
        let plan = Forecast { at: NOW, ..Forecast::default() };
        let is_short = |grams: i64, is_weighed: bool| {
            let mut busy = busy.clone().unwrap();
            busy.in_hand.as_mut().unwrap().progress = 0.5;
            let mut slots = printer(5, true, Some(grams)).slots();
            slots.iter_mut().for_each(|slot| slot.weighed = is_weighed);
            let busy = busy.with_slots(slots);
            let change = SpoolAhead { printer: id(5), material: id(MATERIAL), at: NOW };
            plan.spools_ahead(&[&busy], &[], hours(4)) == [change]
        };
        // It takes ten grams, and half of it is printed.
        assert_eq!([9, 10].map(|grams| is_short(grams, false)), [true, false]);
        assert_eq!([4, 5].map(|grams| is_short(grams, true)), [true, false], "the printer weighs what is left");
    }

    #[test]
    fn orders_due_on_the_shops_current_day_are_listed_with_those_that_are_late() {
        let due = |number: u32, at: Timestamp| {
            let mut order = order(number, []);
            order.promise = Some(Promise { made_at: NOW, expected_at: at, promised_at: at, met_at: None });
            order
        };
        // 22:00 and 23:30 in Berlin, and half past midnight.
        let [evening, night, tomorrow] = [660, 750, 810].map(|minutes| NOW.plus_ms(minutes * 60_000));
        let orders = [due(30, tomorrow), due(20, night), due(10, evening), order(40, [])];
        let mut plan = Forecast { at: NOW, ..Forecast::default() };
        plan.orders.insert(id(10), evening.plus_ms(1));
        plan.orders.insert(id(20), evening);
        let berlin = ShopClock::parse("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let ahead = |clock: &ShopClock| {
            let all = plan.orders_ahead(&orders, clock, NOW);
            all.into_iter().map(|one| (one.order, one.is_late)).collect::<Vec<_>>()
        };
        assert_eq!(ahead(&berlin), [(id(10), true), (id(20), false)]);
        assert_eq!(ahead(&ShopClock::default()).len(), 3, "it is not midnight yet in UTC");
    }
}
