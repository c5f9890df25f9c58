//! Model-based test of order, material and printer: their real rules, in a simulated world that loses messages,
//! crashes, and prints.
//!
//! Checks the invariants that the rules guarantee together: a part is never started or produced twice automatically, a
//! user's own print is never cancelled, no reservation is left behind, every job comes to an end, reprints for rejected
//! parts never exceed the missing ones, and inspections count once and are never lost.

mod machine;
mod mailboxes;
mod people;
mod tasks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::job::{AttemptState, Job};
use crate::launch::UsedFilament;
use crate::material::{Material, MaterialCommand};
use crate::printer::{Printer, PrinterCommand, PrinterFields, Spool};
use crate::printer_status::{Activity, Connection, PrintEnd, Status};
use crate::slice_source::SliceSource;
use crate::testing::commands::{AnyMaterialCommand, AnyOrderCommand, AnyPrinterCommand};
use crate::testing::samples::{pla, printer_fields};
use crate::time::Timestamp;
use machine::Machine;

const STOCK: i64 = 10_000;
/// IDs of the two materials. The second one comes first in the order in which claims are requested.
const MATERIALS: [u32; 2] = [MATERIAL_ID, MATERIAL_ID - 1];

/// Continuation of a task once the answer it waits for arrives.
enum Then {
    Nothing,
    Stock,
    Settled(Vec<ClaimId>),
    MaterialHeard(usize, Vec<ClaimId>),
    Recalled(usize),
    Attempt(Id, Id),
    Start(Id),
    PrinterHeard(usize, Id, u32),
    PrinterSigned(usize, Id),
}

struct Effects {
    bench: Bench,
    order: Option<Order>,
    /// Stock of both materials, which each job needs.
    materials: Vec<Option<Material>>,
    printers: Vec<Option<Printer>>,
    machines: Vec<Machine>,
    to_order: VecDeque<(AnyOrderCommand, Then)>,
    to_material: VecDeque<(usize, AnyMaterialCommand, Then)>,
    to_printer: Vec<VecDeque<(AnyPrinterCommand, Then)>>,
    /// Task of each printer that was answered `Go` and has not sent the start yet.
    go: Vec<Option<Id>>,
    gone: BTreeMap<Id, u32>,
    /// Sum of all ledger movements of each material since the initial stock.
    moved: [Amount; 2],
    /// Time and good-part counts of the last inspections of each attempt: if several are simultaneous, any may count.
    inspections: BTreeMap<Id, (Timestamp, Vec<u32>)>,
    /// Number of slicer calls.
    sliced: u32,
}

/// Contents of the order under test.
#[derive(Clone, Copy, Debug)]
struct Ordered {
    /// Number of parts.
    quantity: u32,
    /// Parts per plate.
    plate: u32,
    /// Number of sets of a kit with two of the parts in each; 0 for no kit.
    sets: u32,
    /// `true` if the parts are printed from a model that has yet to be sliced.
    model: bool,
}

impl Effects {
    fn new(ordered: Ordered, sign_off_required: bool) -> Self {
        let Ordered { quantity, plate, sets, model } = ordered;
        let mut bench = Bench::new();
        bench.rules.quality.sign_off_required = sign_off_required;
        let mut world = Self {
            bench,
            order: None,
            materials: vec![None, None],
            printers: vec![None, None],
            machines: vec![Machine::default(), Machine::default()],
            to_order: VecDeque::new(),
            to_material: VecDeque::new(),
            to_printer: vec![VecDeque::new(), VecDeque::new()],
            go: vec![None, None],
            gone: BTreeMap::new(),
            moved: [Amount::ZERO; 2],
            inspections: BTreeMap::new(),
            sliced: 0,
        };
        let create = MaterialCommand::Create { fields: Box::new(pla()), quantity: Amount::units(STOCK) };
        for (n, material) in MATERIALS.into_iter().enumerate() {
            world.bench.tell(&mut world.materials[n], id(material), &create).unwrap();
        }
        for n in 0..2 {
            let fields = printer_fields(&format!("printer {n}"), MachineType::FdmStandard);
            let fields = PrinterFields { auto_clear: n == 0, ..fields };
            let create = PrinterCommand::Create(Box::new(fields));
            world.bench.tell(&mut world.printers[n], id(PRINTER_ID + n as u32), &create).unwrap();
            for (slot, material) in MATERIALS.into_iter().enumerate() {
                let remaining = (n == 0).then(|| Amount::units(STOCK * 100));
                let spool = Spool { material_id: Some(id(material)), color: None, remaining, spool: None };
                let load = PrinterCommand::LoadSlot { slot: slot as u32, spool, expected: None };
                world.bench.tell(&mut world.printers[n], id(PRINTER_ID + n as u32), &load).unwrap();
            }
        }
        let mut of_two = line(quantity, 100, true);
        let make = of_two.make.as_mut().unwrap();
        make.units_per_plate = plate;
        make.further = vec![need(MATERIALS[1], 40)];
        let used = |(filament, material)| UsedFilament { filament, material_id: id(material), grams: None };
        make.sliced_for.filaments = (0..).zip(MATERIALS).map(used).collect();
        if model {
            make.file_id = None;
            make.source = Some(SliceSource { model_file_id: id(11), profile: "fine".into(), copies: plate });
        }
        let mut lines = vec![of_two.clone()];
        if sets > 0 {
            lines.push(OrderLine { make: None, ..line(sets, 900, true) });
            let parts = OrderLine { quantity: 2 * sets, unit_price_cents: 0, kit_line: Some(1), ..of_two };
            lines.push(OrderLine { per_set: Some(2), ..parts });
        }
        let create = OrderCommand::Create(Box::new(new_order(lines)));
        world.bench.tell(&mut world.order, id(ORDER_ID), &create).unwrap();
        let pay = OrderCommand::MarkPaid { amount_cents: None, method: "cash".into(), reference: None };
        world.bench.tell(&mut world.order, id(ORDER_ID), &pay).unwrap();
        world
    }

    fn o(&self) -> &Order {
        self.order.as_ref().unwrap()
    }
    fn p(&self, n: usize) -> &Printer {
        self.printers[n].as_ref().unwrap()
    }
    fn number(printer: Id) -> usize {
        usize::from(printer != id(PRINTER_ID))
    }
    fn step(&mut self, what: u8, luck: u8) {
        self.bench.now = self.bench.now.plus_ms(500);
        let n = usize::from(luck % 2);
        match what % 32 {
            0..=7 => self.deliver(usize::from(what), luck.is_multiple_of(7)),
            8..=12 => {
                let effects = self.o().effects();
                if let Some(effect) = effects.get(usize::from(luck) % effects.len().max(1)) {
                    self.order_effect(effect.clone());
                }
            }
            13..=19 => {
                let effects = self.p(n).effects();
                if let Some(effect) = effects.get(usize::from(luck / 2) % effects.len().max(1)) {
                    self.printer_effect(n, &effect.clone(), luck / 8);
                }
            }
            20 | 21 => self.dispatch(),
            22 | 23 => self.monitor(n),
            24 | 25 => {
                if let Some(name) = self.machines[n].wire.pop() {
                    self.machines[n].start(&name);
                }
            }
            26 => self.machines[n].end(match luck % 8 {
                2 | 3 => PrintEnd::Failed,
                4 | 5 => PrintEnd::Cancelled,
                _ => PrintEnd::Finished,
            }),
            27 if luck % 5 == 1 => self.machines[n].restart_server(luck.is_multiple_of(2)),
            27 if luck % 5 == 2 => self.machines[n].clear(),
            27 if luck % 5 == 3 => self.machines[n].print_own(),
            27 => self.machines[n].away = luck.is_multiple_of(3),
            28 if luck.is_multiple_of(4) => self.crash(),
            28 => self.material_wants(),
            29 if luck.is_multiple_of(3) => self.inspector(luck / 3),
            29 => self.operator(),
            30 if luck.is_multiple_of(3) => {
                let jobs: Vec<Id> = self.o().jobs.keys().copied().collect();
                let cancel = JobCommand::Cancel {
                    job: jobs[usize::from(luck) % jobs.len()],
                    force: luck.is_multiple_of(2),
                    prints: PrinterRecords::new(),
                };
                self.tell_order(cancel, Then::Nothing);
            }
            30 if luck % 3 == 1 => self.retry_cancelled(luck),
            30 => {
                if let Some((_, paused)) = &mut self.machines[n].on {
                    *paused = !*paused;
                }
            }
            _ if luck.is_multiple_of(16) => {
                self.machines[n].end(PrintEnd::Failed);
                self.tell_printer(n, PrinterCommand::EmergencyStopped, Then::Nothing);
            }
            _ if luck % 16 == 1 => self.count(n, i64::from(luck / 16) * 5),
            _ if luck % 16 == 2 => self.count(1 - n, i64::from(luck / 16) * 5),
            _ => self.monitor(n),
        }
        self.check();
    }

    /// Retries a cancelled job that printed nothing. A job whose print started, failed or was abandoned is left alone:
    /// a second start would be the operator's own decision.
    fn retry_cancelled(&mut self, luck: u8) {
        let nothing = |attempt: &Attempt| {
            let printed_nothing =
                matches!(attempt.state, AttemptState::Refused | AttemptState::NotStarted | AttemptState::Cancelled);
            printed_nothing && !attempt.printed() && attempt.started_at.is_none()
        };
        let jobs = self.o().jobs.values();
        let jobs = jobs.filter(|job| job.state == JobState::Cancelled && job.attempts.iter().all(nothing));
        let jobs: Vec<Id> = jobs.map(|job| job.id).collect();
        if let Some(job) = jobs.get(usize::from(luck) % jobs.len().max(1)) {
            self.tell_order(JobCommand::Retry(*job), Then::Nothing);
        }
    }

    fn names(job: &Job) -> Vec<String> {
        job.attempts.iter().map(|attempt| job.file_name(attempt.id)).collect()
    }

    fn check(&self) {
        for job in self.o().jobs.values() {
            let starts: u32 =
                Self::names(job).iter().flat_map(|name| self.machines.iter().filter_map(|m| m.starts.get(name))).sum();
            assert!(starts <= 1, "a part is never started twice: {job:#?}");
            assert!(self.finished(job) <= 1, "a part is never made twice by itself: {job:#?}");
        }
        assert!(self.machines.iter().all(|machine| machine.wronged == 0), "a person's own print was cancelled");
    }

    /// Returns how often the machines printed the given job to completion.
    fn finished(&self, job: &Job) -> usize {
        let ended = |name: &String| self.machines.iter().any(|m| m.past.get(name) == Some(&PrintEnd::Finished));
        Self::names(job).iter().filter(|name| ended(name)).count()
    }

    /// Records an accepted inspection.
    fn word(&mut self, attempt: Id, good: u32) {
        let last = self.inspections.entry(attempt).or_insert((self.bench.now, Vec::new()));
        if last.0 < self.bench.now {
            *last = (self.bench.now, Vec::new());
        }
        last.1.push(good);
    }

    /// Stops injecting faults and runs until everything is at rest.
    fn settle(&mut self) {
        (0..2).for_each(|n| self.count(n, STOCK));
        for _ in 0..200 {
            self.round(true);
            let rests = |printer: &Printer| printer.in_hand.is_none() && printer.signed_prints.is_empty();
            if self.o().at_rest() && self.printers.iter().flatten().all(rests) {
                return;
            }
        }
        panic!("it never comes to rest: {:#?}\n{:#?}", self.order, self.printers);
    }

    /// Prints as much as possible without clearing any bed.
    fn print(&mut self) {
        for _ in 0..30 {
            self.round(false);
        }
    }

    /// Runs every participant once, including operators if `operators` is `true`.
    fn round(&mut self, operators: bool) {
        // Long enough for the longest rest of a printer that refused starts.
        self.bench.now = self.bench.now.plus_ms(10_000);
        for n in 0..2 {
            self.machines[n].away = false;
            if self.p(n).needs_home {
                self.tell_printer(n, PrinterCommand::Homed, Then::Nothing);
            }
            self.monitor(n);
            for effect in self.p(n).effects() {
                self.printer_effect(n, &effect, 1);
            }
            if let Some(name) = self.machines[n].wire.pop() {
                self.machines[n].start(&name);
            }
        }
        if operators {
            self.operator();
        }
        self.material_wants();
        for effect in self.o().effects() {
            self.order_effect(effect);
        }
        self.dispatch();
        for _ in 0..100 {
            (0..4).for_each(|which| self.deliver(which, false));
        }
        self.check();
        (0..2).for_each(|n| self.monitor(n));
        (0..4).for_each(|which| self.deliver(which, false));
        self.machines.iter_mut().for_each(|machine| machine.end(PrintEnd::Finished));
    }

    /// Asserts that each attempt's last inspection counts, and that no reservation or unfinished job is left.
    fn rests_right(&self) {
        for job in self.o().jobs.values() {
            match job.state {
                JobState::Completed => assert_eq!(self.finished(job), 1),
                JobState::Failed => assert!(job.error.is_some()),
                JobState::Cancelled => {}
                state => panic!("{state} is no end"),
            }
            for attempt in &job.attempts {
                let Some((_, counts)) = self.inspections.get(&attempt.id) else { continue };
                let good_count =
                    attempt.sign_off.as_ref().filter(|sign_off| !sign_off.automatic).map(|sign_off| sign_off.good);
                let right = counts.iter().any(|good| good_count == Some(*good.min(&self.o().plate_of(job))));
                assert!(right, "{counts:?} was said last: {job:#?}");
            }
        }
        for (material, moved) in self.materials.iter().flatten().zip(self.moved) {
            assert_eq!(material.reserved, Amount::ZERO);
            assert!(material.claims.is_empty());
            assert_eq!(material.quantity, Amount::units(STOCK) + moved);
        }
        let parts = self.o().parts();
        if let [_, kit, of_kit] = parts[..] {
            assert_eq!(kit.good, of_kit.good / 2, "a set has two of them");
        }
    }
}

/// Generates steps around inspections: the inspections themselves, messages in flight, and the prints that follow.
fn around_sign_offs() -> impl Strategy<Value = (u8, u8)> {
    prop_oneof![
        8 => (0u8..6, any::<u8>()),
        4 => (0u8..80).prop_map(|luck| (29, luck * 3)),
        3 => (13u8..16, any::<u8>()),
        2 => (8u8..10, any::<u8>()),
        2 => (prop::sample::select(vec![20u8, 22, 24, 26]), any::<u8>()),
        1 => (30u8..31, any::<u8>()),
    ]
}

crate::drawn_cases! {
    75 of 300;
    #[test]
    fn no_part_is_started_twice_and_nothing_stays_behind(
        script in prop::collection::vec(any::<(u8, u8)>(), 0..600),
        quantity in 1u32..4,
        plate in 1u32..3,
        sets in 0u32..2,
        sign_off_required: bool,
        model: bool,
    ) {
        let mut world = Effects::new(Ordered { quantity, plate, sets, model }, sign_off_required);
        for (what, luck) in script {
            world.step(what, luck);
        }
        world.settle();
        world.rests_right();
    }
}

crate::drawn_cases! {
    4 of 10 in kills;
    #[test]
    fn killed_between_any_two_steps_words_about_parts_count_once_and_no_more_is_made_than_is_missing(
        script in prop::collection::vec(around_sign_offs(), 1..25),
        quantity in 1u32..4,
        plate in 1u32..4,
        sets in 0u32..3,
        sign_off_required: bool,
    ) {
        for killed_at in 0..=script.len() {
            let mut world = Effects::new(Ordered { quantity, plate, sets, model: false }, sign_off_required);
            world.print();
            for (n, (what, luck)) in script.iter().enumerate() {
                if n == killed_at {
                    world.crash();
                }
                world.step(*what, *luck);
            }
            if killed_at == script.len() {
                world.crash();
            }
            world.settle();
            world.rests_right();
        }
    }
}
