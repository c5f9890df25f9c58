//! Shop floor for hand-written tests: printers of one type, a product whose parts take one print each, and no
//! randomness. The reference for what must not happen is the printers' physical log.

use std::sync::Arc;

use simulator::gcode::{gcode, package};
use simulator::printer::{Machine, PhysicalEvent};
use simulator::{PrinterFaults, PrinterKind};

use crate::error::SimError;
use crate::hall::Hall;
use crate::machine::{FloorMachine, OWN_PRINT};
use crate::run::on_server;
use crate::world::World;
use domain::file::GcodeForm;
use domain::job::Attempt;
use printers::PrinterType;

/// Duration of a print, in seconds.
const PRINT_SECONDS: u64 = 600;
/// Material per print, in grams.
pub const PRINT_GRAMS: f64 = 10.0;
/// Filament length per print, in millimetres.
const PRINT_MM: f64 = 3_300.0;

/// Shop floor with printers of one type. Printers continue while no server is running.
pub struct Floor {
    world: World,
    machines: Vec<Arc<FloorMachine>>,
    /// Declaration of the printers' type.
    pub declared: &'static PrinterType,
    /// IDs of the printers, in the order of the machines.
    pub printers: Vec<String>,
    /// ID of the material.
    pub material: String,
    /// ID of the product.
    pub sku: String,
}

impl Floor {
    /// Creates a floor with this many printers, registered and connected.
    ///
    /// # Errors
    ///
    /// Fails if the server does not accept what the shop needs.
    pub fn new(kind: PrinterKind, printers: usize) -> Result<Self, SimError> {
        let word = kind.as_str();
        let declared = PrinterType::of_word(word);
        let declared = declared.ok_or_else(|| SimError::Argument(format!("no printer is of the type {word}")))?;
        let world = World::still(printers, kind.protocol().reconnects)?;
        let machines = world.machines.values().cloned().collect();
        let (printers, material, sku) = <_>::default();
        let mut floor = Self { world, machines, declared, printers, material, sku };
        let (printers, material, sku) = floor.serve(async |hall| hall.set_up().await)?;
        (floor.printers, floor.material, floor.sku) = (printers, material, sku);
        Ok(floor)
    }

    /// Starts a server, runs `act` with it, and kills it.
    ///
    /// # Errors
    ///
    /// Fails if the server does not start, or if `act` fails.
    pub fn serve<T>(&self, act: impl AsyncFnOnce(&Hall<'_>) -> Result<T, SimError>) -> Result<T, SimError> {
        let result = on_server(&self.world, None, async |shop| act(&Hall::new(self, shop)).await)?;
        result.ok_or_else(|| SimError::Broken("the server has lost its power".to_owned()))
    }

    /// Returns the number of printers.
    pub fn printer_count(&self) -> usize {
        self.machines.len()
    }

    /// Returns the name and the address of a printer.
    pub fn place(&self, printer: usize) -> (String, String) {
        let machine = &self.machines[printer];
        (machine.name.clone(), machine.base_url())
    }

    /// Advances a machine to the current time, and calls `act` with it.
    pub fn with<T>(&self, printer: usize, act: impl FnOnce(&mut Machine) -> T) -> T {
        self.machines[printer].with(act)
    }

    /// Changes the faults of a printer.
    pub fn faults(&self, printer: usize, change: impl FnOnce(&mut PrinterFaults)) {
        self.machines[printer].change_faults(change);
    }

    /// Starts a person's own print.
    pub fn own_print(&self, printer: usize) {
        self.machines[printer].print_own(printer, PRINT_SECONDS);
    }

    /// Returns the physical log of a printer, oldest entry first.
    pub fn log(&self, printer: usize) -> Vec<PhysicalEvent> {
        self.machines[printer].log().into_iter().map(|entry| entry.what).collect()
    }

    /// Returns the number of entries in a printer's physical log for which `which` is true.
    pub fn count(&self, printer: usize, which: impl Fn(&PhysicalEvent) -> bool) -> usize {
        self.log(printer).iter().filter(|what| which(what)).count()
    }

    /// Returns the number of prints that a printer has physically started, including people's own.
    pub fn started(&self, printer: usize) -> usize {
        self.count(printer, |what| matches!(what, PhysicalEvent::Started { .. }))
    }

    /// Returns the number of prints that a printer has physically finished, including people's own.
    pub fn finished(&self, printer: usize) -> usize {
        self.count(printer, |what| matches!(what, PhysicalEvent::Finished { .. }))
    }

    /// Returns the number of prints that a printer has physically cancelled.
    pub fn cancelled(&self, printer: usize) -> usize {
        self.count(printer, |what| matches!(what, PhysicalEvent::Cancelled { .. }))
    }

    /// Returns the number of files uploaded to a printer, except files uploaded by people.
    pub fn uploaded(&self, printer: usize) -> usize {
        let is_ours = |name: &str| !name.starts_with(OWN_PRINT);
        self.count(printer, |what| matches!(what, PhysicalEvent::Uploaded { filename, .. } if is_ours(filename)))
    }

    /// Returns the slots that fed the tools of each print, in the order of the prints.
    pub fn fed(&self, printer: usize) -> Vec<Vec<(u32, i64)>> {
        let slots = |what: PhysicalEvent| match what {
            PhysicalEvent::Fed { slots, .. } => Some(slots),
            _ => None,
        };
        self.log(printer).into_iter().filter_map(slots).collect()
    }

    /// Returns the files that the printers have started to print, except files of people's own prints, printer by
    /// printer.
    pub fn starts(&self) -> Vec<String> {
        let started = |what: PhysicalEvent| match what {
            PhysicalEvent::Started { filename } if !filename.starts_with(OWN_PRINT) => Some(filename),
            _ => None,
        };
        (0..self.machines.len()).flat_map(|printer| self.log(printer)).filter_map(started).collect()
    }

    /// Returns the IDs of an order's jobs on the disk, oldest first.
    pub fn jobs_of(&self, order: &str) -> Vec<String> {
        self.world.journal.read(&self.world.disk.tables());
        self.world.journal.jobs_of(order)
    }

    /// Returns all attempts on the disk, oldest first.
    pub fn attempts(&self) -> Vec<Attempt> {
        self.world.disk.tables().attempts().cloned().collect()
    }

    /// Returns the number of events with this name on the disk.
    pub fn published(&self, event: &str) -> usize {
        let tables = self.world.disk.tables();
        tables.events_after(0).filter(|numbered| numbered.event.event == event).count()
    }

    /// Returns a file in a format that the printers accept: name and contents.
    pub fn printable(&self, name: &str) -> (String, Vec<u8>) {
        let form = if self.declared.prints(GcodeForm::Text) { GcodeForm::Text } else { GcodeForm::Package };
        file_of(form, name)
    }
}

/// Returns a file with the standard print time and material: a package, or plain text for every other format. The name
/// comes first.
pub fn file_of(form: GcodeForm, name: &str) -> (String, Vec<u8>) {
    match form {
        GcodeForm::Package => (format!("{name}.gcode.3mf"), package(name, PRINT_SECONDS, PRINT_GRAMS, PRINT_MM)),
        GcodeForm::Text | GcodeForm::Binary => {
            (format!("{name}.gcode"), gcode(name, PRINT_SECONDS, PRINT_GRAMS, PRINT_MM).into_bytes())
        }
    }
}
