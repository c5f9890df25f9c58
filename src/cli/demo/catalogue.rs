//! What the demo's shop stocks and sells.

use crate::domain::sku::MachineType;

/// A material as it is stocked.
#[derive(Clone, Copy, Debug)]
pub struct SampleMaterial {
    /// Shown name; unique here.
    pub name: &'static str,
    /// Its colour as `#rrggbb`.
    pub color: &'static str,
    /// The vendor's code of its spools, as printers with a filament changer report it.
    pub vendor_code: Option<&'static str>,
    /// Grams at the beginning: not much, so that stock runs low now and then.
    pub grams: u32,
}

/// Grams below which stock is low.
pub const REORDER_POINT: u32 = 150;
/// Grams that a delivery brings.
pub const REORDER_QUANTITY: u32 = 500;

/// What is in stock when the demo begins.
pub const MATERIALS: [SampleMaterial; 3] = [
    SampleMaterial { name: "PLA galaxy black", color: "#1b1b22", vendor_code: Some("GFA00"), grams: 400 },
    SampleMaterial { name: "PLA ivory white", color: "#f4f1e6", vendor_code: Some("GFA00"), grams: 500 },
    SampleMaterial { name: "PETG signal orange", color: "#ff7a1a", vendor_code: None, grams: 300 },
];

/// A part that is sold.
#[derive(Clone, Copy, Debug)]
pub struct SamplePart {
    /// Its code, which no other part has.
    pub code: &'static str,
    /// The name that customers see.
    pub name: &'static str,
    /// What it is made of, as an index into [`MATERIALS`].
    pub material: usize,
    /// Where it can be made.
    pub machine: MachineType,
    /// Price of one part in cents.
    pub cents: i64,
    /// Parts on one plate.
    pub per_plate: u32,
    /// What the slicer says of one plate: seconds. Real prints take hours; nobody would watch them.
    pub seconds: u64,
    /// What the slicer says of one plate: grams.
    pub grams: f64,
    /// What a plate takes of a second material: an index into [`MATERIALS`], and grams.
    pub second: Option<(usize, f64)>,
    /// Size of one plate, mm.
    pub size: (f64, f64, f64),
    /// Whether it was sliced as a package (`.gcode.3mf`), which some printers print and nothing else.
    pub package: bool,
}

const fn part(code: &'static str, name: &'static str, material: usize, machine: MachineType) -> SamplePart {
    SamplePart {
        code,
        name,
        material,
        machine,
        cents: 1_200,
        per_plate: 1,
        seconds: 12,
        grams: 18.0,
        second: None,
        size: (80.0, 60.0, 40.0),
        package: false,
    }
}

/// The parts, the small ones first.
pub const PARTS: [SamplePart; 8] = [
    SamplePart {
        per_plate: 6,
        cents: 250,
        seconds: 10,
        grams: 12.0,
        ..part("CLIP-20", "Cable clip", 0, MachineType::FdmStandard)
    },
    part("BRACKET-L", "Shelf bracket", 0, MachineType::FdmStandard),
    SamplePart {
        cents: 1_900,
        seconds: 18,
        grams: 31.5,
        ..part("STAND-PH", "Phone stand", 1, MachineType::FdmStandard)
    },
    SamplePart {
        per_plate: 2,
        cents: 900,
        seconds: 14,
        grams: 22.0,
        ..part("GEAR-M2", "Gear, module 2", 2, MachineType::FdmStandard)
    },
    SamplePart {
        cents: 3_400,
        seconds: 24,
        grams: 58.0,
        size: (280.0, 240.0, 120.0),
        ..part("PLANTER-XL", "Planter", 1, MachineType::FdmLarge)
    },
    SamplePart {
        cents: 4_800,
        seconds: 20,
        grams: 64.0,
        size: (300.0, 200.0, 60.0),
        ..part("SIGN-A3", "House sign", 2, MachineType::FdmLarge)
    },
    SamplePart {
        cents: 1_500,
        seconds: 14,
        grams: 11.0,
        second: Some((1, 4.5)),
        ..part("BADGE-2C", "Two-colour name badge", 0, MachineType::FdmStandard)
    },
    SamplePart {
        per_plate: 4,
        cents: 350,
        seconds: 12,
        grams: 14.0,
        package: true,
        ..part("HOOK-4", "Wall hook", 1, MachineType::FdmStandard)
    },
];

/// What is put together of parts, and sold as one.
pub struct SampleKit {
    /// Its code, which no other article has.
    pub code: &'static str,
    /// The name that customers see.
    pub name: &'static str,
    /// Price of one set in cents.
    pub cents: i64,
    /// The code and number of each part in one set.
    pub components: [(&'static str, u32); 2],
}

/// The kit of the shop.
pub const KIT: SampleKit =
    SampleKit { code: "KIT-DESK", name: "Desk set", cents: 1_900, components: [("BADGE-2C", 1), ("CLIP-20", 2)] };

/// The machine type of the n-th printer: every third is a large one. Those that print packages are not.
pub const fn machine_type(index: usize, packages: bool) -> MachineType {
    if index % 3 == 2 && !packages { MachineType::FdmLarge } else { MachineType::FdmStandard }
}

/// Build volume of a machine, mm.
pub const fn build_volume(machine: MachineType) -> (f64, f64, f64) {
    match machine {
        MachineType::FdmLarge => (350.0, 350.0, 400.0),
        _ => (250.0, 210.0, 220.0),
    }
}

/// Names of the printers, in turn.
pub const NAMES: [&str; 12] = [
    "Ada", "Babbage", "Curie", "Darwin", "Euler", "Faraday", "Gauss", "Hopper", "Ising", "Joule", "Kepler", "Lovelace",
];

/// Names and addresses of the customers.
pub const CUSTOMERS: [&str; 6] = [
    "ines@harbour-lights.example",
    "theo@bikeshed.example",
    "mara@urban-garden.example",
    "lab@fine-optics.example",
    "jonas@model-rail.example",
    "office@two-oaks-school.example",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_fits_the_machine_it_is_made_on() {
        for part in PARTS {
            let (volume, size) = (build_volume(part.machine), part.size);
            assert!(size.0 <= volume.0 && size.1 <= volume.1 && size.2 <= volume.2, "{}", part.code);
            assert!(part.material < MATERIALS.len(), "{}", part.code);
            assert!(part.grams < f64::from(REORDER_QUANTITY), "a delivery brings enough for {}", part.code);
        }
    }

    #[test]
    fn a_kit_consists_of_parts_that_are_sold() {
        let known = |code: &str| PARTS.iter().any(|part| part.code == code);
        assert!(KIT.components.iter().all(|(code, quantity)| known(code) && *quantity > 0));
    }

    #[test]
    fn the_usual_demo_has_machines_for_all_parts() {
        // The last is the one that prints packages.
        let machines: Vec<_> = (0..6).map(|n| (machine_type(n, n == 5), n == 5)).collect();
        assert!(PARTS.iter().all(|part| machines.contains(&(part.machine, part.package))));
    }
}
