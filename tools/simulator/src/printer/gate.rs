//! Gate of a filament changer, which can hold a spool.

/// Contents of a gate, as entered by a user at the printer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FilamentGate {
    /// Presence of filament in the gate; `None` if unknown.
    pub filled: Option<bool>,
    /// Filament manufacturer.
    pub vendor: String,
    /// Material, such as `PLA`.
    pub material: String,
    /// Filament name given by the manufacturer.
    pub name: String,
    /// Red, green and blue, each from 0 to 1.
    pub color: [f64; 3],
}

impl FilamentGate {
    /// Builds a gate that contains filament.
    pub fn filled(vendor: &str, material: &str, name: &str, color: [f64; 3]) -> Self {
        let [vendor, material, name] = [vendor, material, name].map(str::to_owned);
        Self { filled: Some(true), vendor, material, name, color }
    }
}
