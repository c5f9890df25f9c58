//! Order, material and printers by their real rules, over a model of the world that loses messages, crashes, and prints.
//!
//! What the rules promise: a part is never started twice, nothing stays reserved, and every job comes to an end.

mod machine;

use super::*;
use crate::domain::dispatch::Board;
use crate::domain::durable::Row;
use crate::domain::job::Job;
use crate::domain::material::{Material, MaterialAnswer, MaterialCommand, MaterialFields, MaterialType, MaterialWant};
use crate::domain::printer::{
    Evidence, Phase, Printer, PrinterAnswer, PrinterCommand, PrinterFields, PrinterWant, report_of,
};
use crate::domain::telemetry::{Activity, Connection, PastPrint, PrintEnd, Status};
use machine::Machine;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const STOCK: i64 = 10_000;

/// What a task does with the answer that it waits for.
enum Then {
    Nothing,
    Stock,
    Settled(Vec<ClaimId>),
    MaterialHeard(Vec<ClaimId>),
    Recalled,
    Attempt(Id, Id),
    Start(Id),
    PrinterHeard(usize, Id, u32),
}

struct World {
    bench: Bench,
    order: Option<Order>,
    material: Option<Material>,
    printers: Vec<Option<Printer>>,
    machines: Vec<Machine>,
    to_order: VecDeque<(OrderCommand, Then)>,
    to_material: VecDeque<(MaterialCommand, Then)>,
    to_printer: Vec<VecDeque<(PrinterCommand, Then)>>,
    /// The task of each printer that was told to go and has not sent the start.
    go: Vec<Option<Id>>,
    gone: BTreeMap<Id, u32>,
    /// All that the ledger says came and went since the first stock.
    moved: Amount,
}

impl World {
    fn new(jobs: u32) -> Self {
        let bench = Bench::new();
        let mut world = Self {
            bench,
            order: None,
            material: None,
            printers: vec![None, None],
            machines: vec![Machine::default(), Machine::default()],
            to_order: VecDeque::new(),
            to_material: VecDeque::new(),
            to_printer: vec![VecDeque::new(), VecDeque::new()],
            go: vec![None, None],
            gone: BTreeMap::new(),
            moved: Amount::ZERO,
        };
        let fields = MaterialFields {
            name: "PLA".into(),
            kind: MaterialType::Filament,
            color: None,
            brand: None,
            reorder_point: Amount::ZERO,
            reorder_quantity: Amount::ZERO,
        };
        let create = MaterialCommand::Create { fields: Box::new(fields), quantity: Amount::units(STOCK) };
        world.bench.tell(&mut world.material, id(MATERIAL), &create).unwrap();
        for n in 0..2 {
            let fields = PrinterFields {
                name: format!("printer {n}"),
                kind: "fw_rest".into(),
                machine_type: MachineType::FdmStandard,
                base_url: "http://printer".into(),
                sealed_api_key: String::new(),
                serial: None,
                build_volume: None,
                auto_clear: n == 0,
                loaded_material_id: None,
                location: None,
                tags: Vec::new(),
            };
            let create = PrinterCommand::Create(Box::new(fields));
            world.bench.tell(&mut world.printers[n], id(PRINTER + n as u32), &create).unwrap();
        }
        let create = OrderCommand::Create(Box::new(new_order(vec![line(jobs, 100, true)])));
        world.bench.tell(&mut world.order, id(ORDER), &create).unwrap();
        let pay = OrderCommand::MarkPaid { amount_cents: None, method: "cash".into(), reference: None };
        world.bench.tell(&mut world.order, id(ORDER), &pay).unwrap();
        world
    }

    fn o(&self) -> &Order {
        self.order.as_ref().unwrap()
    }
    fn p(&self, n: usize) -> &Printer {
        self.printers[n].as_ref().unwrap()
    }
    fn number(printer: Id) -> usize {
        usize::from(printer != id(PRINTER))
    }
    fn attempt(&mut self, job: Id, attempt: Id, report: Report, then: Then) {
        self.to_order.push_back((OrderCommand::Attempt { job, attempt, report }, then));
    }

    /// A task of the order sends its message.
    fn order_want(&mut self, want: OrderWant) {
        let job_of = |world: &Self, attempt: Id| {
            world.o().jobs.values().find(|job| job.attempts.iter().any(|one| one.id == attempt)).unwrap().clone()
        };
        match want {
            OrderWant::Claim { asks, .. } => {
                self.to_material.push_back((MaterialCommand::Claim { order: id(ORDER), asks }, Then::Stock));
            }
            OrderWant::Settle { claims, .. } => {
                let ids = claims.iter().map(|one| one.0).collect();
                self.to_material.push_back((MaterialCommand::Settle { claims }, Then::Settled(ids)));
            }
            OrderWant::Give { job, attempt, printer } => {
                let job = self.o().jobs.get(&job).unwrap().clone();
                let claimed_at = job.live().unwrap().created_at;
                let take = PrinterCommand::Take {
                    attempt,
                    claimed_at,
                    job: job.id,
                    order: id(ORDER),
                    file_id: job.file_id.unwrap(),
                    file_name: job.file_name(attempt),
                    material_id: job.material_id,
                    machine_type: job.machine_type,
                    dimensions: job.dimensions,
                };
                self.to_printer[Self::number(printer)].push_back((take, Then::Attempt(job.id, attempt)));
            }
            OrderWant::CancelAt { attempt, printer } => {
                let then = Then::Attempt(job_of(self, attempt).id, attempt);
                self.to_printer[Self::number(printer)].push_back((PrinterCommand::CancelAttempt(attempt), then));
            }
            OrderWant::TellResolution { attempt, printer, outcome } => {
                let then = Then::Attempt(job_of(self, attempt).id, attempt);
                self.to_printer[Self::number(printer)].push_back((PrinterCommand::Resolved { attempt, outcome }, then));
            }
        }
    }

    /// A task of a printer does its next step. `luck` decides what goes wrong.
    fn printer_want(&mut self, n: usize, want: &PrinterWant, luck: u8) {
        let Some(in_hand) = self.p(n).in_hand.clone() else { return };
        let (name, attempt) = (in_hand.file_name.clone(), in_hand.attempt);
        let machine = &mut self.machines[n];
        let away = machine.away;
        let tell = |world: &mut Self, command, then| world.to_printer[n].push_back((command, then));
        match want {
            PrinterWant::Watch { .. } | PrinterWant::Manual { .. } => {}
            PrinterWant::Run { .. } if matches!(in_hand.phase, Phase::Taken) => {
                if away && luck.is_multiple_of(4) {
                    tell(self, PrinterCommand::UploadFailed { attempt, reason: "away".into() }, Then::Nothing);
                } else if !away {
                    machine.files.insert(name.clone());
                    tell(self, PrinterCommand::Uploaded { attempt, remote_name: name }, Then::Start(attempt));
                }
            }
            PrinterWant::Run { .. } if self.go[n] == Some(attempt) => {
                self.go[n] = None;
                if !away && machine.on.is_some() {
                    tell(self, PrinterCommand::StartRefused { attempt, reason: "busy".into() }, Then::Nothing);
                } else if !luck.is_multiple_of(5) {
                    machine.wire.push(name);
                }
            }
            PrinterWant::Run { .. } => {
                let evidence = if away || luck.is_multiple_of(6) {
                    Evidence::Unclear("no answer".into())
                } else if machine.on.as_ref().is_some_and(|on| on.0 == name) {
                    Evidence::Shows(machine.status(&self.bench))
                } else if let Some(ended) = machine.past.get(&name) {
                    let ended = Some(*ended);
                    Evidence::Remembers(PastPrint {
                        file: name,
                        ended,
                        filament_mm: None,
                        started_at: None,
                        ended_at: None,
                    })
                } else {
                    machine.files.remove(&name);
                    Evidence::Revoked
                };
                tell(self, PrinterCommand::Judged { attempt, evidence: Box::new(evidence) }, Then::Nothing);
            }
            PrinterWant::CancelPrint { .. } => {
                if !away && machine.on.as_ref().is_some_and(|on| on.0 == name) {
                    machine.end(PrintEnd::Cancelled);
                }
            }
            PrinterWant::Report { step, .. } => {
                self.attempt(in_hand.job, attempt, report_of(&in_hand), Then::PrinterHeard(n, attempt, *step));
            }
        }
    }

    /// A thing takes the first message of its box; the answer reaches who asked, unless it is lost.
    fn deliver(&mut self, which: usize, lost: bool) {
        match which % 4 {
            0 => {
                let Some((command, then)) = self.to_order.pop_front() else { return };
                let answer = self.bench.tell(&mut self.order, id(ORDER), &command).map(|decision| decision.answer);
                match (answer, then) {
                    _ if lost => {}
                    (Ok(OrderAnswer::Heard { wanted }), Then::PrinterHeard(n, attempt, step)) => {
                        let heard = PrinterCommand::Heard { attempt, step, wanted };
                        self.to_printer[n].push_back((heard, Then::Nothing));
                    }
                    (Ok(_), Then::MaterialHeard(claims)) => {
                        self.to_material.push_back((MaterialCommand::Heard { claims }, Then::Nothing));
                    }
                    (Ok(OrderAnswer::Kept(claims)), Then::Recalled) if !claims.is_empty() => {
                        self.to_material.push_back((MaterialCommand::Kept { claims }, Then::Nothing));
                    }
                    _ => {}
                }
            }
            1 => {
                let Some((command, then)) = self.to_material.pop_front() else { return };
                let decision = self.bench.tell(&mut self.material, id(MATERIAL), &command).unwrap();
                for row in &decision.rows {
                    if let Row::Movement(movement) = row {
                        self.moved += movement.delta_quantity;
                    }
                }
                match (decision.answer, then) {
                    _ if lost => {}
                    (MaterialAnswer::Claims(claims), Then::Stock) => {
                        self.to_order.push_back((OrderCommand::Stock(claims), Then::Nothing));
                    }
                    (_, Then::Settled(claims)) => {
                        self.to_order.push_back((OrderCommand::Settled(claims), Then::Nothing));
                    }
                    _ => {}
                }
            }
            n => {
                let n = n - 2;
                let Some((command, then)) = self.to_printer[n].pop_front() else { return };
                let decision = self.bench.tell(&mut self.printers[n], id(PRINTER + n as u32), &command).unwrap();
                if let (PrinterAnswer::Go, Then::Start(attempt)) = (&decision.answer, &then) {
                    let gone = self.gone.entry(*attempt).or_default();
                    *gone += 1;
                    assert_eq!(*gone, 1, "an attempt gets one go");
                }
                match (decision.answer, then) {
                    _ if lost => {}
                    (PrinterAnswer::Go, Then::Start(attempt)) => self.go[n] = Some(attempt),
                    (PrinterAnswer::NotTaken(reason), Then::Attempt(job, attempt)) => {
                        let report = Report::NotStarted { start_sent: false, counts: false, reason };
                        self.attempt(job, attempt, report, Then::Nothing);
                    }
                    (PrinterAnswer::Stopped(reason), Then::Attempt(job, attempt)) => {
                        self.attempt(job, attempt, Report::Stopped { reason }, Then::Nothing);
                    }
                    (PrinterAnswer::NotInHand, Then::Attempt(job, attempt)) => {
                        self.attempt(job, attempt, Report::CancelledBeforeStart, Then::Nothing);
                    }
                    _ => {}
                }
            }
        }
    }

    fn material_wants(&mut self) {
        for want in self.material.as_ref().unwrap().wants() {
            self.to_order.push_back(match want {
                MaterialWant::TellHeld { claims, .. } => {
                    let stand = claims.iter().map(|claim| (*claim, ClaimState::Held, None)).collect();
                    (OrderCommand::Stock(stand), Then::MaterialHeard(claims))
                }
                MaterialWant::AskBack { claims, .. } => {
                    (OrderCommand::Recall(claims, "counted".into()), Then::Recalled)
                }
            });
        }
    }

    /// Somebody counts the stock.
    fn count(&mut self, units: i64) {
        let before = self.material.as_ref().unwrap().quantity;
        let count = MaterialCommand::Update { if_version: None, fields: None, quantity: Some(Amount::units(units)) };
        self.bench.tell(&mut self.material, id(MATERIAL), &count).unwrap();
        self.moved += Amount::units(units) - before;
    }

    fn dispatch(&mut self) {
        let mut board = Board::new(None);
        board.order_changed(self.o());
        for printer in self.printers.iter().flatten() {
            board.printer_changed(printer);
        }
        for proposal in board.proposals(self.bench.now) {
            let dispatch = OrderCommand::Dispatch { job: proposal.job, printer: proposal.printer };
            self.to_order.push_back((dispatch, Then::Nothing));
        }
    }

    fn monitor(&mut self, n: usize) {
        let status = self.machines[n].status(&self.bench);
        let command = if self.machines[n].away {
            PrinterCommand::Silent(Connection::Unreachable, "no answer".into(), None)
        } else {
            PrinterCommand::Seen(Box::new(status.clone()))
        };
        if self.machines[n].away || self.p(n).matters(&status) {
            self.to_printer[n].push_back((command, Then::Nothing));
        }
    }

    /// An operator who looks: clears beds, and says of unverified starts what is true.
    fn operator(&mut self) {
        for n in 0..2 {
            if self.p(n).bed_not_cleared && self.machines[n].on.is_none() {
                self.to_printer[n].push_back((PrinterCommand::BedCleared, Then::Nothing));
            }
        }
        let jobs: Vec<std::sync::Arc<Job>> = self.o().jobs.values().cloned().collect();
        for job in jobs {
            let Some(attempt) = job.live().filter(|one| one.unverified) else { continue };
            let (name, machine) = (job.file_name(attempt.id), &self.machines[Self::number(attempt.printer_id)]);
            let unsure = machine.on.as_ref().is_some_and(|on| on.0 == name)
                || machine.wire.contains(&name)
                || self.go.contains(&Some(attempt.id));
            let outcome = match machine.past.get(&name) {
                _ if unsure => continue,
                Some(PrintEnd::Finished) => Resolution::Finished,
                Some(_) => Resolution::Failed,
                None => Resolution::NotStarted,
            };
            self.to_order.push_back((OrderCommand::Resolve { job: job.id, outcome }, Then::Nothing));
        }
    }

    fn crash(&mut self) {
        self.to_order.clear();
        self.to_material.clear();
        self.to_printer.iter_mut().for_each(VecDeque::clear);
        self.go = vec![None, None];
    }

    fn step(&mut self, what: u8, luck: u8) {
        self.bench.now = self.bench.now.plus_ms(500);
        let n = usize::from(luck % 2);
        match what % 32 {
            0..=7 => self.deliver(usize::from(what), luck.is_multiple_of(7)),
            8..=12 => {
                let wants = self.o().wants();
                if let Some(want) = wants.get(usize::from(luck) % wants.len().max(1)) {
                    self.order_want(want.clone());
                }
            }
            13..=19 => {
                let wants = self.p(n).wants();
                if let Some(want) = wants.get(usize::from(luck / 2) % wants.len().max(1)) {
                    self.printer_want(n, &want.clone(), luck / 8);
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
            27 => self.machines[n].away = luck.is_multiple_of(3),
            28 if luck.is_multiple_of(4) => self.crash(),
            28 => self.material_wants(),
            29 => self.operator(),
            30 if luck.is_multiple_of(3) => {
                let jobs: Vec<Id> = self.o().jobs.keys().copied().collect();
                let cancel = OrderCommand::CancelJob {
                    job: jobs[usize::from(luck) % jobs.len()],
                    force: luck.is_multiple_of(2),
                };
                self.to_order.push_back((cancel, Then::Nothing));
            }
            30 => {
                if let Some((_, paused)) = &mut self.machines[n].on {
                    *paused = !*paused;
                }
            }
            _ if luck.is_multiple_of(16) => {
                self.machines[n].end(PrintEnd::Failed);
                self.to_printer[n].push_back((PrinterCommand::EmergencyStopped, Then::Nothing));
            }
            _ if luck % 16 == 1 => self.count(i64::from(luck / 16) * 5),
            _ => self.monitor(n),
        }
        self.check();
    }

    fn names(job: &Job) -> Vec<String> {
        job.attempts.iter().map(|attempt| job.file_name(attempt.id)).collect()
    }

    fn check(&self) {
        for job in self.o().jobs.values() {
            let starts: u32 =
                Self::names(job).iter().flat_map(|name| self.machines.iter().filter_map(|m| m.starts.get(name))).sum();
            assert!(starts <= 1, "a part is never started twice: {job:#?}");
        }
    }

    /// Nothing goes wrong any more: everything comes to rest.
    fn settle(&mut self) {
        self.count(STOCK);
        for _ in 0..200 {
            self.bench.now = self.bench.now.plus_ms(1000);
            for n in 0..2 {
                self.machines[n].away = false;
                if self.p(n).needs_home {
                    self.to_printer[n].push_back((PrinterCommand::Homed, Then::Nothing));
                }
                self.monitor(n);
                for want in self.p(n).wants() {
                    self.printer_want(n, &want, 1);
                }
                if let Some(name) = self.machines[n].wire.pop() {
                    self.machines[n].start(&name);
                }
            }
            self.operator();
            self.material_wants();
            for want in self.o().wants() {
                self.order_want(want);
            }
            self.dispatch();
            for _ in 0..100 {
                (0..4).for_each(|which| self.deliver(which, false));
            }
            self.check();
            (0..2).for_each(|n| self.monitor(n));
            (0..4).for_each(|which| self.deliver(which, false));
            self.machines.iter_mut().for_each(|machine| machine.end(PrintEnd::Finished));
            if self.o().at_rest() && self.printers.iter().flatten().all(|printer| printer.in_hand.is_none()) {
                return;
            }
        }
        panic!("it never comes to rest: {:#?}\n{:#?}", self.order, self.printers);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 4000, ..ProptestConfig::default() })]
    #[test]
    fn no_part_is_started_twice_and_nothing_stays_behind(
        script in prop::collection::vec(any::<(u8, u8)>(), 0..600),
        jobs in 1u32..4,
    ) {
        let mut world = World::new(jobs);
        for (what, luck) in script {
            world.step(what, luck);
        }
        world.settle();
        for job in world.o().jobs.values() {
            let finished = World::names(job)
                .iter()
                .filter(|name| world.machines.iter().any(|m| m.past.get(*name) == Some(&PrintEnd::Finished)))
                .count();
            match job.state {
                JobState::Completed => prop_assert_eq!(finished, 1),
                JobState::Failed => prop_assert!(job.error.is_some()),
                JobState::Cancelled => {}
                state => prop_assert!(false, "{state} is no end"),
            }
        }
        let material = world.material.as_ref().unwrap();
        prop_assert_eq!(material.reserved, Amount::ZERO);
        prop_assert!(material.claims.is_empty());
        prop_assert_eq!(material.quantity, Amount::units(STOCK) + world.moved);
    }
}
