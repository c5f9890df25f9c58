//! Materials, parts and kits of the demo shop.

use simulator::gcode::shapes::PartShape;

/// Machine type of regular-sized printers.
pub const FDM_STANDARD: &str = "fdm_standard";
/// Machine type of printers with a large build volume.
pub const FDM_LARGE: &str = "fdm_large";

/// Material in the demo shop.
#[derive(Clone, Copy, Debug)]
pub struct SampleMaterial {
    /// Display name; unique within this catalogue.
    pub name: &'static str,
    /// Colour as `#rrggbb`.
    pub color: &'static str,
    /// Vendor code of the material's spools, as reported by printers with a filament changer.
    pub vendor_code: Option<&'static str>,
    /// Initial stock in grams; low enough for the material to run out now and then.
    pub grams: u32,
}

/// Amount in grams below which a material is low in stock.
pub const REORDER_POINT: u32 = 150;
/// Amount per delivery, in grams.
pub const REORDER_QUANTITY: u32 = 500;

/// Materials in the demo's initial stock.
pub const MATERIALS: [SampleMaterial; 3] = [
    SampleMaterial { name: "PLA galaxy black", color: "#1b1b22", vendor_code: Some("GFA00"), grams: 400 },
    SampleMaterial { name: "PLA ivory white", color: "#f4f1e6", vendor_code: Some("GFA00"), grams: 500 },
    SampleMaterial { name: "PETG signal orange", color: "#ff7a1a", vendor_code: None, grams: 300 },
];

/// Part sold by the demo shop.
#[derive(Clone, Copy, Debug)]
pub struct SamplePart {
    /// SKU code; unique within this catalogue.
    pub code: &'static str,
    /// Name visible to customers.
    pub name: &'static str,
    /// Material of the part, as an index into [`MATERIALS`].
    pub material: usize,
    /// Machine type that can print the part.
    pub machine: &'static str,
    /// Price per part, in cents.
    pub cents: i64,
    /// Number of parts per plate.
    pub per_plate: u32,
    /// Print time per plate, in seconds, as the slicer would report it. Real prints take hours; these are short enough
    /// to watch.
    pub seconds: u64,
    /// Material consumed per plate, in grams, as the slicer would report it.
    pub grams: f64,
    /// Second material consumed by a plate: index into [`MATERIALS`], and grams.
    pub second: Option<(usize, f64)>,
    /// Size of one plate in millimetres.
    pub size: (f64, f64, f64),
    /// `true` if the part was sliced as a package (`.gcode.3mf`), the only format that some printers accept.
    pub package: bool,
    /// Shape of the part in its file.
    pub shape: PartShape,
}

const fn part(
    code: &'static str,
    name: &'static str,
    material: usize,
    machine: &'static str,
    shape: PartShape,
) -> SamplePart {
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
        shape,
    }
}

/// Parts for sale, small ones first.
pub const PARTS: [SamplePart; 8] = [
    SamplePart {
        per_plate: 6,
        cents: 250,
        seconds: 10,
        grams: 12.0,
        ..part("CLIP-20", "Cable clip", 0, FDM_STANDARD, PartShape::CableClip)
    },
    part("BRACKET-L", "Shelf bracket", 0, FDM_STANDARD, PartShape::ShelfBracket),
    SamplePart {
        cents: 1_900,
        seconds: 18,
        grams: 31.5,
        ..part("STAND-PH", "Phone stand", 1, FDM_STANDARD, PartShape::PhoneStand)
    },
    SamplePart {
        per_plate: 2,
        cents: 900,
        seconds: 14,
        grams: 22.0,
        ..part("GEAR-M2", "Gear, module 2", 2, FDM_STANDARD, PartShape::Gear)
    },
    SamplePart {
        cents: 3_400,
        seconds: 24,
        grams: 58.0,
        size: (280.0, 240.0, 120.0),
        ..part("PLANTER-XL", "Planter", 1, FDM_LARGE, PartShape::Planter)
    },
    SamplePart {
        cents: 4_800,
        seconds: 20,
        grams: 64.0,
        size: (300.0, 200.0, 60.0),
        ..part("SIGN-A3", "House sign", 2, FDM_LARGE, PartShape::HouseSign)
    },
    SamplePart {
        cents: 1_500,
        seconds: 14,
        grams: 11.0,
        second: Some((1, 4.5)),
        ..part("BADGE-2C", "Two-colour name badge", 0, FDM_STANDARD, PartShape::NameBadge)
    },
    SamplePart {
        per_plate: 4,
        cents: 350,
        seconds: 12,
        grams: 14.0,
        package: true,
        ..part("HOOK-4", "Wall hook", 1, FDM_STANDARD, PartShape::WallHook)
    },
];

/// Kit: several parts sold as one article.
pub struct SampleKit {
    /// SKU code; unique among all articles.
    pub code: &'static str,
    /// Name visible to customers.
    pub name: &'static str,
    /// Price per kit, in cents.
    pub cents: i64,
    /// Code and quantity of each part in the kit.
    pub components: [(&'static str, u32); 2],
}

/// Only kit sold by the demo shop.
pub const KIT: SampleKit =
    SampleKit { code: "KIT-DESK", name: "Desk set", cents: 1_900, components: [("BADGE-2C", 1), ("CLIP-20", 2)] };

/// Returns the machine type of the printer with the given index: every third printer is a large one, except among
/// printers that print packages.
pub const fn machine_type(index: usize, packages: bool) -> &'static str {
    if index % 3 == 2 && !packages { FDM_LARGE } else { FDM_STANDARD }
}

/// Returns the build volume of a machine type, in millimetres.
pub fn build_volume(machine: &str) -> (f64, f64, f64) {
    if machine == FDM_LARGE { (350.0, 350.0, 400.0) } else { (250.0, 210.0, 220.0) }
}

/// Printer names, assigned in order.
pub const NAMES: [&str; 12] = [
    "Ada", "Babbage", "Curie", "Darwin", "Euler", "Faraday", "Gauss", "Hopper", "Ising", "Joule", "Kepler", "Lovelace",
];

/// Customer names and email addresses.
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
        let is_sold = |code: &str| PARTS.iter().any(|part| part.code == code);
        assert!(KIT.components.iter().all(|(code, quantity)| is_sold(code) && *quantity > 0));
    }

    #[test]
    fn the_usual_demo_has_machines_for_all_parts() {
        // The last is the one that prints packages.
        let machines: Vec<_> = (0..6).map(|n| (machine_type(n, n == 5), n == 5)).collect();
        assert!(PARTS.iter().all(|part| machines.contains(&(part.machine, part.package))));
    }
}
