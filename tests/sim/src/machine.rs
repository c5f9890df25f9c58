//! Printers of the simulated world: the simulator's machines, driven by virtual time and without a protocol, and the
//! network to them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use simulator::PrinterFaults;
use simulator::gcode::{GcodeFacts, gcode};
use simulator::printer::{LogEntry, Machine, PhysicalEvent};

use crate::chance::branch;
use crate::clock::WorldClock;
use crate::faults::{FaultKind, FaultPlan};
use crate::prints::{PhysicalPrint, PrintIndex};
use crate::story::Story;

/// Prefix of the names of people's own files.
pub const OWN_PRINT: &str = "vase-own";
/// Share of the requests affected by a fault of the highest frequency.
const SHARE: f64 = 0.05;
/// Maximum additional latency, in milliseconds.
const MAX_DELAY_MS: u64 = 8_000;

/// Printer on the shop floor, which continues to print while no server is running.
pub struct FloorMachine {
    /// Name of the printer, which is also the host in its address.
    pub name: String,
    clock: Arc<WorldClock>,
    story: Arc<Story>,
    state: Mutex<MachineState>,
}

struct MachineState {
    machine: Machine,
    network: PrinterNetwork,
    /// Number of entries of the machine's log that have been written to the story.
    told_entries: usize,
    prints: PrintIndex,
    /// Number of requests since the machine began to return errors.
    requests: u64,
}

/// Network between the server and a printer.
struct PrinterNetwork {
    chance: Rng,
    lost_requests: f64,
    lost_answers: f64,
    delays: f64,
}

/// Fate of a request on the network.
pub struct Passage {
    /// Additional latency.
    pub delay: Duration,
    /// `true` if the request is lost.
    pub loses_request: bool,
    /// `true` if the response is lost.
    pub loses_answer: bool,
}

/// Behaviour of a printer that returns an error for every second request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stumble {
    /// Does not execute the request.
    Refuses,
    /// Executes the request nevertheless.
    Pretends,
}

impl FloorMachine {
    /// Creates an idle printer on a working network. `reconnects` indicates whether its server reconnects to a lost
    /// controller by itself.
    pub fn new(name: &str, seed: u64, reconnects: bool, clock: Arc<WorldClock>, story: Arc<Story>) -> Self {
        let calendar = clock.now().jiff();
        let mut chance = branch(seed, name);
        let machine = Machine::with_calendar(chance.u64(..), 1.0, reconnects, clock.instant(), calendar);
        let network = PrinterNetwork { chance, lost_requests: 0.0, lost_answers: 0.0, delays: 0.0 };
        let state =
            Mutex::new(MachineState { machine, network, told_entries: 0, prints: PrintIndex::default(), requests: 0 });
        Self { name: name.to_owned(), clock, story, state }
    }

    /// Sets the rates of losses and delays on the network according to a plan.
    pub fn set_rates(&self, plan: &FaultPlan) {
        let share = |kind| plan.rate(kind) * SHARE;
        let mut state = self.state();
        let network = &mut state.network;
        network.lost_requests = share(FaultKind::LostRequest);
        network.lost_answers = share(FaultKind::LostAnswer);
        network.delays = share(FaultKind::Delay);
    }

    /// Returns the URL under which the printer is registered.
    pub fn base_url(&self) -> String {
        format!("http://{}.floor:7125", self.name)
    }

    /// Advances the machine to the current time, and calls `act` with it.
    pub fn with<T>(&self, act: impl FnOnce(&mut Machine) -> T) -> T {
        let mut state = self.state();
        let MachineState { machine, told_entries, prints, .. } = &mut *state;
        machine.advance(self.clock.instant());
        let result = act(machine);
        for entry in &machine.log()[*told_entries..] {
            self.story.tell(format!("{}: {}", self.name, sentence(&entry.what)));
            prints.add(&entry.what);
        }
        *told_entries = machine.log().len();
        result
    }

    /// Determines the fate of the next request.
    pub fn passage(&self) -> Passage {
        let mut state = self.state();
        let PrinterNetwork { chance, lost_requests, lost_answers, delays } = &mut state.network;
        let loses_request = chance.f64() < *lost_requests;
        let loses_answer = chance.f64() < *lost_answers;
        let (is_slow, ms) = (chance.f64() < *delays, chance.u64(..MAX_DELAY_MS));
        Passage { delay: Duration::from_millis(if is_slow { ms } else { 0 }), loses_request, loses_answer }
    }

    /// Counts a request to a printer that returns an error for every second one, and returns the behaviour; `None` if
    /// the request is processed normally.
    pub fn stumble(&self) -> Option<Stumble> {
        let is_faulty = self.with(|machine| machine.faults().every_second_answer_an_error);
        let mut state = self.state();
        state.requests = if is_faulty { state.requests + 1 } else { 0 };
        match state.requests % 4 {
            2 => Some(Stumble::Refuses),
            0 if is_faulty => Some(Stumble::Pretends),
            _ => None,
        }
    }

    /// Changes the faults of the machine.
    pub fn change_faults(&self, change: impl FnOnce(&mut PrinterFaults)) {
        self.with(|machine| {
            let mut faults = machine.faults().clone();
            change(&mut faults);
            machine.set_faults(faults);
        });
    }

    /// Starts a person's own print, unless something is printing.
    pub fn print_own(&self, number: usize, seconds: u64) {
        let name = format!("{OWN_PRINT}-{number}.gcode");
        let code = gcode("vase", seconds, 1.0, 330.0).into_bytes();
        let facts = Arc::new(GcodeFacts::read(&code));
        self.with(|machine| {
            if machine.job().is_none() && machine.reachable() {
                machine.store(&name, code.into(), facts);
                // A printer that cannot start just now disappoints this person.
                drop(machine.start(&name));
            }
        });
    }

    /// Returns the course of an attempt's print on this printer; `None` if it did not start here.
    pub fn print_of(&self, attempt: &str) -> Option<PhysicalPrint> {
        self.with(|_| ());
        self.state().prints.of(attempt)
    }

    /// Returns the number of entries in the printer's log, which changes whenever something happens at the printer.
    pub fn log_length(&self) -> usize {
        self.with(|machine| machine.log().len())
    }

    /// Returns the printer's physical log.
    pub fn log(&self) -> Vec<LogEntry> {
        self.with(|machine| machine.log().to_vec())
    }

    fn state(&self) -> MutexGuard<'_, MachineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Describes a physical event as a predicate about the printer.
fn sentence(event: &PhysicalEvent) -> String {
    let word = match event {
        PhysicalEvent::Started { .. } => "begins to print",
        PhysicalEvent::Fed { .. } => "takes its filaments for",
        PhysicalEvent::Finished { .. } => "has printed",
        PhysicalEvent::Cancelled { .. } => "stops printing, as it was commanded,",
        PhysicalEvent::Failed { .. } => "fails to print",
        PhysicalEvent::Interrupted { .. } => "loses",
        PhysicalEvent::Paused { .. } => "pauses",
        PhysicalEvent::Resumed { .. } => "resumes",
        PhysicalEvent::Uploaded { .. } => "stores",
        PhysicalEvent::Deleted { .. } => "deletes",
        PhysicalEvent::LateStartFellThrough { .. } => "does not print after all",
        other => return format!("{other:?}"),
    };
    format!("{word} {}", event.filename().unwrap_or_default())
}
