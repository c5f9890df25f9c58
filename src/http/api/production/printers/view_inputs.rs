//! Inputs of a printer's view besides the printer itself. They determine whether a previously written view is still
//! current.

use std::sync::Arc;

use super::PrinterHandles;
use super::read::PrinterReadHandles;
use config::Config;
use domain::aggregate::Versioned;
use domain::material::Material;
use domain::printer::{Printer, Slot};
use http::written_answers::{AnswerDetails, StateReference};
use kernel::directory::Directory;
use printers::PrinterType;
use printers::connections::PrinterConnections;
use printers::status_reading::StatusReading;

/// State of a material; `None` if the slot has no material, or the material is not in memory.
type SlotMaterial = Option<Arc<Versioned<Material>>>;

/// Sources of the inputs of views.
#[derive(Clone, Copy)]
pub struct InputSources<'a> {
    connections: &'a PrinterConnections,
    materials: &'a Directory<Material>,
    config: &'a Config,
}

impl<'a> From<&'a PrinterHandles> for InputSources<'a> {
    fn from(app: &'a PrinterHandles) -> Self {
        Self { connections: &app.printer_connections, materials: &app.materials, config: &app.config }
    }
}

impl<'a> From<&'a PrinterReadHandles> for InputSources<'a> {
    fn from(app: &'a PrinterReadHandles) -> Self {
        Self { connections: &app.printer_connections, materials: &app.materials, config: &app.config }
    }
}

impl InputSources<'_> {
    /// Returns the materials in a printer's slots, in the order of the slots; `None` where spools are not read: none of
    /// our consumption is booked on them, and no view depends on a material.
    fn slot_materials(self, printer: &Printer) -> Option<Vec<SlotMaterial>> {
        if self.config.spools.url.is_empty() {
            return None;
        }
        let states = printer.slot_materials().map(|material| Some(self.materials.resident(material?)?.read()));
        Some(states.collect())
    }
}

/// Inputs of a printer's view besides the printer itself.
pub struct ViewInputs {
    /// Last status of the printer.
    pub(super) status: StatusReading,
    materials: Option<Vec<SlotMaterial>>,
}

impl ViewInputs {
    /// Reads the present inputs.
    pub(super) fn read(sources: &InputSources<'_>, printer: &Printer) -> Self {
        Self { status: sources.connections.reading(printer.id), materials: sources.slot_materials(printer) }
    }

    /// Returns the reason why the consumption of a slot may be recorded incorrectly, if there is one. The slot is given
    /// with its place among the printer's slots.
    pub(super) fn spool_warning(&self, printer: &Printer, (at, slot): (usize, &Slot)) -> Option<String> {
        let material = self.materials.as_ref()?.get(at)?.as_ref().and_then(|versioned| versioned.state.as_ref());
        let labels = PrinterType::of_word(&printer.fields.kind).map(|of_type| of_type.slot_labels).unwrap_or_default();
        printer.spool_warning(slot, material, labels)
    }
}

/// Inputs with which the view of a printer was written.
pub struct WrittenInputs {
    status: StatusReading,
    materials: Option<Vec<StateReference<Material>>>,
}

impl WrittenInputs {
    /// Returns whether the inputs of a printer's view are still these. The printer itself has not changed since then.
    pub(super) fn are_current(&self, sources: &InputSources<'_>, printer: &Printer) -> bool {
        if !sources.connections.is_latest(printer.id, &self.status) {
            return false;
        }
        match (&self.materials, sources.slot_materials(printer)) {
            (None, None) => true,
            (Some(written), Some(current)) => {
                let mut pairs = written.iter().zip(&current);
                written.len() == current.len() && pairs.all(|(written, current)| written.is_of(current.as_ref()))
            }
            _ => false,
        }
    }
}

impl From<ViewInputs> for WrittenInputs {
    fn from(ViewInputs { status, materials }: ViewInputs) -> Self {
        let references =
            |states: Vec<SlotMaterial>| states.iter().map(|state| StateReference::new(state.as_ref())).collect();
        Self { status, materials: materials.map(references) }
    }
}

impl AnswerDetails for WrittenInputs {
    fn heap_bytes(&self) -> usize {
        let reference_bytes = size_of::<StateReference<Material>>() + StateReference::<Material>::HEAP_BYTES;
        self.status.heap_bytes() + self.materials.as_ref().map_or(0, |materials| materials.len() * reference_bytes)
    }
}
