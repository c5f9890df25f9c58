//! Input for choosing the slots of a manual print. Slots for jobs are chosen by the rules in `domain/launch`.

use domain::file::PlateFilament;

/// Filaments of a manual print, and the slots chosen by the operator.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RequestedSlots {
    /// Filaments that the plate uses, in file order; empty if unknown.
    pub filaments: Vec<PlateFilament>,
    /// Slot for each filament, in the same order, as chosen by the operator; empty to use any slots that fit.
    pub named: Vec<u32>,
}
