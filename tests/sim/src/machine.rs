//! Printers of the world: the simulator's machines, driven by virtual time and without a protocol.

use std::sync::{Arc, Mutex, PoisonError};

use fastrand::Rng;
use simulator::printer::{LogEntry, Machine, PhysicalEvent};

use crate::clock::WorldClock;
use crate::story::Story;

/// Printer on the shop floor. It goes on printing while no server runs.
pub struct FloorMachine {
    /// Name of the printer, which is also the host in its address.
    pub name: String,
    clock: Arc<WorldClock>,
    story: Arc<Story>,
    state: Mutex<MachineState>,
}

struct MachineState {
    machine: Machine,
    /// Number of entries of the machine's log that the story contains.
    told_entries: usize,
}

impl FloorMachine {
    /// Creates an idle printer.
    pub fn new(name: &str, chance: &mut Rng, clock: Arc<WorldClock>, story: Arc<Story>) -> Self {
        let calendar = clock.now().jiff();
        let machine = Machine::with_calendar(chance.u64(..), 1.0, true, clock.instant(), calendar);
        let state = Mutex::new(MachineState { machine, told_entries: 0 });
        Self { name: name.to_owned(), clock, story, state }
    }

    /// Returns the address under which the printer is registered.
    pub fn base_url(&self) -> String {
        format!("http://{}.floor:7125", self.name)
    }

    /// Lets the machine catch up with the clock, and runs a function on it.
    pub fn with<T>(&self, act: impl FnOnce(&mut Machine) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let MachineState { machine, told_entries } = &mut *state;
        machine.advance(self.clock.instant());
        let result = act(machine);
        for entry in &machine.log()[*told_entries..] {
            self.story.tell(format!("{}: {}", self.name, sentence(&entry.what)));
        }
        *told_entries = machine.log().len();
        result
    }

    /// Returns what has happened at the printer physically.
    pub fn log(&self) -> Vec<LogEntry> {
        self.with(|machine| machine.log().to_vec())
    }
}

/// Returns a physical event as a sentence about the printer.
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
