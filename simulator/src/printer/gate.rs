//! A place for a spool in a filament changer.

/// What a gate of the changer holds, as a person told the printer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FilamentGate {
    /// Whether there is filament in it; `None` is unknown.
    pub filled: Option<bool>,
    /// Who made the filament.
    pub vendor: String,
    /// The kind of plastic, as `PLA`.
    pub material: String,
    /// The maker's name of the filament.
    pub name: String,
    /// Red, green and blue, each from 0 to 1.
    pub color: [f64; 3],
}

impl FilamentGate {
    /// A gate with filament.
    pub fn filled(vendor: &str, material: &str, name: &str, color: [f64; 3]) -> Self {
        let [vendor, material, name] = [vendor, material, name].map(str::to_owned);
        Self { filled: Some(true), vendor, material, name, color }
    }
}
