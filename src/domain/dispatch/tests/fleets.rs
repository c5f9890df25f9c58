//! Tests with random fleets and queues: no job is assigned to a printer that does not fit, no usable printer stays
//! idle, and the same state gives the same result.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::amount::Amount;
use crate::job::{ClaimStatus, FurtherNeed};
use crate::launch::{MaterialNeed, UsedFilament};
use crate::printer::{Nozzle, Slot, SlotSource};

/// Number of orders that share the queue.
const ORDERS: usize = 3;

/// Printer of the fleet, reduced to the essentials.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    kind: &'static str,
    large: bool,
    volume: Option<u32>,
    nozzle: Option<f64>,
    plate: Option<&'static str>,
    model: Option<&'static str>,
    /// Material of each slot and the remaining amount.
    slots: Vec<(Option<u32>, Option<i64>)>,
    ready: bool,
    idle_ms: i64,
}

/// Job of the queue.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Index of the job's order.
    order: usize,
    priority: u8,
    /// Due date in hours from now.
    due: Option<i64>,
    form: GcodeForm,
    large: bool,
    size: Option<u32>,
    nozzle: Option<f64>,
    bed: Option<&'static str>,
    model: Option<&'static str>,
    /// Materials with the amounts needed; the first is the SKU's material.
    needs: Vec<(u32, i64)>,
    /// For each material, the index of the corresponding filament in the file.
    tools: Vec<u32>,
}

pub(super) fn machine() -> impl Strategy<Value = Machine> {
    let slot = (prop::option::weighted(0.7, 0u32..4), prop::option::of(0i64..60));
    (
        select(vec!["fw_rest", "other", "mapping", "packages"]),
        prop::bool::weighted(0.2),
        prop::option::of(50u32..150),
        prop::option::of(select(vec![0.4, 0.6])),
        prop::option::of(select(vec!["Textured PEI Plate", "Cool Plate"])),
        prop::option::of(select(vec!["MK4", "MINI"])),
        prop::collection::vec(slot, 1..4),
        prop::bool::weighted(0.7),
        0i64..5,
    )
        .prop_map(|(kind, large, volume, nozzle, plate, model, slots, ready, idle_ms)| Machine {
            kind,
            large,
            volume,
            nozzle,
            plate,
            model,
            slots,
            ready,
            idle_ms,
        })
}

pub(super) fn any_job() -> impl Strategy<Value = Wanted> {
    let needs = prop::collection::btree_map(0u32..4, 1i64..50, 1..4);
    (
        (0..ORDERS, 0u8..10, prop::option::of(0i64..3)),
        select(vec![GcodeForm::Text, GcodeForm::Text, GcodeForm::Binary, GcodeForm::Package]),
        prop::bool::weighted(0.2),
        prop::option::of(50u32..150),
        prop::option::of(select(vec![0.4, 0.6])),
        prop::option::of(select(vec!["textured pei", "cool plate"])),
        prop::option::of(select(vec!["mk 4", "mini"])),
        needs,
        any::<bool>(),
        Just((0u32..4).collect::<Vec<_>>()).prop_shuffle(),
    )
        .prop_map(|((order, priority, due), form, large, size, nozzle, bed, model, needs, turned, tools)| {
            let mut needs: Vec<(u32, i64)> = needs.into_iter().collect();
            if turned {
                needs.reverse();
            }
            Wanted { order, priority, due, form, large, size, nozzle, bed, model, needs, tools }
        })
}

/// Returns whether the machine can make the job, using the simplest possible implementation.
fn can(machine: &Machine, job: &Wanted) -> bool {
    let form = match machine.kind {
        "packages" => job.form == GcodeForm::Package,
        "fw_rest" => job.form == GcodeForm::Text,
        _ => job.form != GcodeForm::Package,
    };
    let size = job.size.zip(machine.volume).is_none_or(|(size, volume)| size <= volume);
    let nozzle = job.nozzle.zip(machine.nozzle).is_none_or(|(required, is)| (required - is).abs() < 0.1);
    let plate = job.bed.zip(machine.plate).is_none_or(|(required, is)| required[..4] == is.to_lowercase()[..4]);
    let model =
        job.model.zip(machine.model).is_none_or(|(required, is)| required.replace(' ', "") == is.to_lowercase());
    let (one, mapped) = (machine.slots.len() == 1, machine.kind == "mapping");
    let fed = |((material, need), tool): (&(u32, i64), &u32)| {
        machine.slots.iter().enumerate().any(|(slot, (held, left))| {
            let it = *held == Some(*material) || (held.is_none() && one && job.needs.len() == 1);
            it && left.is_none_or(|left| left >= *need) && (one || mapped || slot == *tool as usize)
        })
    };
    form && machine.large == job.large && size && nozzle && plate && model && job.needs.iter().zip(&job.tools).all(fed)
}

fn cube(size: u32) -> Dimensions {
    Dimensions { x: f64::from(size), y: 10.0, z: 10.0 }
}

fn machine_type(large: bool) -> MachineType {
    if large { MachineType::FdmLarge } else { MachineType::FdmStandard }
}

pub(super) fn build(n: usize, prototype: &Printer, machine: &Machine) -> Printer {
    let mut one = prototype.clone();
    one.id = id(500 + n as u32);
    one.fields.kind = machine.kind.to_owned();
    one.fields.machine_type = machine_type(machine.large);
    one.fields.build_volume = machine.volume.map(cube);
    one.fields.nozzle = machine.nozzle.map(|diameter| Nozzle { diameter, kind: None });
    one.fields.plate_type = machine.plate.map(str::to_owned);
    one.fields.model = machine.model.map(str::to_owned);
    one.bed_not_cleared = !machine.ready;
    one.idle_since = NOW.plus_ms(-machine.idle_ms);
    let slot = |(n, (material, left)): (usize, &(Option<u32>, Option<i64>))| Slot {
        slot: n as u32,
        material_id: material.map(id),
        color: None,
        remaining: left.map(Amount::units),
        // A type that maps slots maps those that it reports.
        source: if machine.kind == "mapping" { SlotSource::Printer } else { SlotSource::Manual },
        vendor_code: None,
        kind: None,
        weighed: false,
        spool: None,
        updated_at: NOW,
    };
    one.with_slots(machine.slots.iter().enumerate().map(slot).collect())
}

/// Builds the orders for the given jobs.
pub(super) fn queue(prototype: &Order, jobs: &[Wanted]) -> Vec<Order> {
    let blank = prototype.jobs.values().next().unwrap().clone();
    let empty = |n: usize| {
        let mut order = prototype.clone();
        order.id = id(100 + n as u32);
        order.jobs.remove_mut(&blank.id);
        order
    };
    let mut orders: Vec<Order> = (0..ORDERS).map(empty).collect();
    for (n, spec) in jobs.iter().enumerate() {
        let order = &mut orders[spec.order];
        let mut job = (*blank).clone();
        (job.id, job.order_id) = (id(1000 + n as u32), order.id);
        (job.priority, job.file_form) = (spec.priority, spec.form);
        job.due_at = spec.due.map(due);
        job.machine_type = machine_type(spec.large);
        job.dimensions = spec.size.map(cube);
        job.sliced_for.nozzle_diameter = spec.nozzle;
        job.sliced_for.bed_type = spec.bed.map(str::to_owned);
        job.sliced_for.printer_model = spec.model.map(str::to_owned);
        (job.material_id, job.need) = (id(spec.needs[0].0), Amount::units(spec.needs[0].1));
        let further = spec.needs[1..].iter().map(|(material, units)| {
            let needed = MaterialNeed { material_id: id(*material), need: Amount::units(*units) };
            FurtherNeed { stock: ClaimStatus::Held, claim: 2, ..FurtherNeed::new(needed) }
        });
        job.further = further.collect();
        let used = |((material, _), tool): (&(u32, i64), &u32)| UsedFilament {
            filament: *tool,
            material_id: id(*material),
            grams: None,
        };
        job.sliced_for.filaments = spec.needs.iter().zip(&spec.tools).map(used).collect();
        order.jobs.insert_mut(job.id, Arc::new(job));
    }
    orders
}

fn due(hours: i64) -> Timestamp {
    NOW.plus_ms(hours * 3_600_000)
}

fn place(of: Id, from: u32) -> usize {
    (0..1000).find(|n| id(from + n) == of).unwrap() as usize
}

/// Returns the proposals for a state, which is indexed in order or, with `backwards`, in reverse after another state.
fn propose(rules: &DispatchRules, printers: &[Printer], orders: &[Order], backwards: bool) -> Vec<Proposal> {
    let mut board = DispatchIndex::new(rules.clone());
    let (mut printer_refs, mut order_refs): (Vec<&Printer>, Vec<&Order>) =
        (printers.iter().collect(), orders.iter().collect());
    if backwards {
        printer_refs.reverse();
        order_refs.reverse();
        // What was told before makes no difference: what is true now does.
        for one in printers {
            let mut other = one.clone();
            other.bed_not_cleared = !one.bed_not_cleared;
            board.printer_changed(&other);
        }
        for one in orders {
            let mut other = one.clone();
            other.status = OrderStatus::Cancelled;
            board.order_changed(&other);
        }
    }
    order_refs.iter().for_each(|one| board.order_changed(one));
    printer_refs.iter().for_each(|one| board.printer_changed(one));
    board.proposals(NOW)
}

crate::drawn_cases! {
    2_000 of 10_000;
    #[test]
    fn nothing_goes_where_it_does_not_fit_and_nothing_that_could_print_stands_idle(
        fleet in prop::collection::vec(machine(), 0..7),
        jobs in prop::collection::vec(any_job(), 1..9),
    ) {
        thread_local! {
            static BLANK: (Printer, Order) = (printer(499), order(1, &[5]));
        }
        let (prototype, blank) = BLANK.with(Clone::clone);
        let printers: Vec<Printer> = fleet.iter().enumerate().map(|(n, one)| build(n, &prototype, one)).collect();
        let orders = queue(&blank, &jobs);
        let facts = |forms: &[GcodeForm], maps_slots| TypeFacts { forms: forms.to_vec(), maps_slots, ..TypeFacts::default() };
        let both = [GcodeForm::Text, GcodeForm::Binary];
        let types = KnownTypes::new([
            ("other", facts(&both, false)),
            ("mapping", facts(&both, true)),
            ("packages", facts(&[GcodeForm::Package], false)),
        ]);
        let rules = DispatchRules { max_starts_per_minute: None, refusals_until_failed: 3, types: types.clone() };
        let actual = propose(&rules, &printers, &orders, false);
        let other = propose(&rules, &printers, &orders, true);
        prop_assert_eq!(&actual, &other, "the same state, told in another way");
        let pairs: Vec<(usize, usize)> = actual.iter().map(|one| (place(one.job, 1000), place(one.printer, 500))).collect();
        for (job, printer) in &pairs {
            prop_assert!(fleet[*printer].ready && can(&fleet[*printer], &jobs[*job]), "{:?} on {:?}", jobs[*job], fleet[*printer]);
        }
        let rank = |job: usize| (Reverse(jobs[job].priority), jobs[job].due.is_none(), jobs[job].due, job);
        for (n, one) in fleet.iter().enumerate().filter(|(_, one)| one.ready) {
            let assigned_job = pairs.iter().find(|(_, printer)| *printer == n).map(|(job, _)| *job);
            for waiting in (0..jobs.len()).filter(|job| pairs.iter().all(|(other, _)| other != job)) {
                let passed = assigned_job.is_none_or(|assigned| rank(waiting) < rank(assigned)) && can(one, &jobs[waiting]);
                prop_assert!(!passed, "{:?} could have been given {:?}", one, jobs[waiting]);
            }
        }
        // What people are told is what the dispatcher does: the first job of the queue goes to the printer named first.
        let all: Vec<&Printer> = printers.iter().collect();
        let around = around(&all, &types);
        for (n, spec) in jobs.iter().enumerate() {
            let matches = match_printers(orders[spec.order].jobs.get(&id(1000 + n as u32)).unwrap(), &around);
            for one in &matches {
                let machine = &fleet[place(one.printer.id, 500)];
                prop_assert_eq!(one.fit.fits(), can(machine, spec), "{:?}", one.fit.missing);
                prop_assert_eq!(one.fit.fits(), one.missing_words(&around).is_empty());
                if one.fit.fits() && machine.kind != "mapping" && machine.slots.len() > 1 {
                    let from = orders[spec.order].jobs.get(&id(1000 + n as u32)).unwrap().sliced_for.slots(&one.fit.slots);
                    for tool in spec.tools.iter().take(spec.needs.len()) {
                        prop_assert_eq!(from[*tool as usize], Some(*tool), "a file that nobody maps prints from its own slots");
                    }
                }
            }
            if (0..jobs.len()).all(|other| rank(n) <= rank(other)) {
                let first = matches.first().filter(|one| one.is_possible()).map(|one| one.printer.id);
                let assigned_printer = actual.iter().find(|one| one.job == id(1000 + n as u32)).map(|one| one.printer);
                prop_assert_eq!(first, assigned_printer);
            }
        }
    }
}

#[test]
fn a_printer_with_the_spool_that_is_used_up_best_comes_first() {
    let spool = |left: Option<i64>| Machine {
        kind: "fw_rest",
        large: false,
        volume: None,
        nozzle: None,
        plate: None,
        model: None,
        slots: vec![(Some(2), left)],
        ready: true,
        idle_ms: 0,
    };
    let fleet = [spool(None), Machine { idle_ms: 9, ..spool(Some(900)) }, spool(Some(45)), spool(Some(39))];
    let prototype = printer(499);
    let mut board = board(None);
    let job = |priority| Wanted {
        order: 0,
        priority,
        due: None,
        form: GcodeForm::Text,
        large: false,
        size: None,
        nozzle: None,
        bed: None,
        model: None,
        needs: vec![(2, 40)],
        tools: vec![0],
    };
    let orders = queue(&order(1, &[5]), &[job(9), job(8), job(7), job(6)]);
    board.order_changed(&orders[0]);
    for (n, one) in fleet.iter().enumerate() {
        board.printer_changed(&build(n, &prototype, one));
    }
    let printers: Vec<Id> = pairs(&mut board).into_iter().map(|pair| pair.1).collect();
    assert_eq!(printers, [id(502), id(501), id(500)], "39 g are too little");
}

#[test]
fn ten_thousand_jobs_and_five_hundred_printers_are_no_burden() {
    let mut board = board(None);
    (1..=10).for_each(|n| board.order_changed(&order(n, &[5; 1000])));
    let printers: Vec<Printer> = (0..500).map(|n| printer(100_000 + n)).collect();
    for one in &printers {
        board.printer_changed(one);
    }
    assert_eq!(board.classes.len(), 1);
    assert_eq!(board.proposals(NOW).len(), 500);
    assert_eq!(board.proposals(NOW), []);
}
