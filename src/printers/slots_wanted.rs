//! What the slots of a print by hand are chosen by. Not for jobs: theirs are chosen by the rules (`domain/launch`).

use crate::domain::file::PlateFilament;

/// What a print by hand takes, and what whoever asked for it says of the slots.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SlotsWanted {
    /// The filaments that the plate uses, in the order of the file; empty where nobody knows.
    pub filaments: Vec<PlateFilament>,
    /// The slot of each of them, in their order, as a person names them; empty for whatever fits.
    pub named: Vec<u32>,
}
