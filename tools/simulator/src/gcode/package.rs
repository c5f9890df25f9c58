//! Sliced packages (`.gcode.3mf`): zip archives with the G-code of each plate, as exported by Bambu Studio and
//! `OrcaSlicer`.
//!
//! The packages contain only what a virtual printer needs: the G-code, and the filaments used by each plate. Geometry
//! and images are left out.

use std::{
    fmt::Write as _,
    io::{Cursor, Read as _, Write as _},
};

use zip::{ZipArchive, ZipWriter, result::ZipResult, write::SimpleFileOptions};

use super::{facts::GcodeFacts, orca_gcode, tools::MM_PER_GRAM};

/// Maximum number of bytes read from a plate's G-code.
const MAX_PLATE_BYTES: u64 = 64 << 20;
/// Maximum number of bytes of plate metadata read.
const MAX_INFO_BYTES: u64 = 1 << 20;
/// Path of the plate metadata in the package.
const INFO: &str = "Metadata/slice_info.config";

/// Returns the path of a plate's G-code within its package; plates are counted from 1.
pub fn plate_path(plate: u32) -> String {
    format!("Metadata/plate_{plate}.gcode")
}

/// Returns whether the bytes are a zip archive, based on their signature.
pub fn is_package(file: &[u8]) -> bool {
    file.starts_with(b"PK\x03\x04")
}

/// Builds a package with one plate and one filament. `seconds` is the estimated time; `grams` and `filament_mm` are the
/// stated filament consumption.
pub fn package(name: &str, seconds: u64, grams: f64, filament_mm: f64) -> Vec<u8> {
    package_of(&[&orca_gcode(name, seconds, grams, filament_mm)])
}

/// Builds a package with the given plates, each of which uses the first filament.
pub fn package_of(plates: &[&str]) -> Vec<u8> {
    let used: Vec<(&str, &[usize])> = plates.iter().map(|code| (*code, &[1][..])).collect();
    package_using(&used)
}

/// Builds a package with the given plates, each with its G-code and the filaments that it uses in equal parts, numbered
/// from 1.
pub fn package_using(plates: &[(&str, &[usize])]) -> Vec<u8> {
    let evenly = |filaments: &[usize]| {
        let share = 1.0 / filaments.len().max(1) as f64;
        filaments.iter().map(|number| Used { number: *number, share, colour: "#FF7A1A" }).collect()
    };
    let plates: Vec<_> = plates.iter().map(|(code, filaments)| (*code, evenly(filaments))).collect();
    // Cannot fail in memory.
    write(&plates).unwrap_or_default()
}

/// Builds a package with one plate that uses several filaments, given as the grams and the colour (`#rrggbb`) of each.
pub fn package_of_several(name: &str, seconds: u64, filaments: &[(f64, &str)]) -> Vec<u8> {
    let all: f64 = filaments.iter().map(|(grams, _)| grams).sum();
    package_of_filaments(&orca_gcode(name, seconds, all, all * MM_PER_GRAM), filaments)
}

/// Builds a package with one plate of the given G-code, which uses several filaments, given as the grams and the colour
/// (`#rrggbb`) of each.
pub(super) fn package_of_filaments(code: &str, filaments: &[(f64, &str)]) -> Vec<u8> {
    let all: f64 = filaments.iter().map(|(grams, _)| grams).sum();
    let used = (1..).zip(filaments).map(|(number, (grams, colour))| Used { number, share: grams / all, colour });
    write(&[(code, used.collect())]).unwrap_or_default()
}

/// Filament used by a plate.
struct Used<'a> {
    /// Filament number, counted from 1.
    number: usize,
    /// Fraction of the plate's total filament consumption.
    share: f64,
    colour: &'a str,
}

fn write(plates: &[(&str, Vec<Used<'_>>)]) -> ZipResult<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |name: &str, text: &str| -> ZipResult<()> {
        zip.start_file(name, SimpleFileOptions::default())?;
        zip.write_all(text.as_bytes())?;
        Ok(())
    };
    put("[Content_Types].xml", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Types/>\n")?;
    put("3D/3dmodel.model", "<model/>")?;
    let mut info = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<config>\n".to_owned();
    for (number, (code, filaments)) in (1..).zip(plates) {
        put(&plate_path(number), code)?;
        let facts = GcodeFacts::read(code.as_bytes());
        let (seconds, grams) = (facts.seconds, facts.filament_g.unwrap_or_default());
        let _ = writeln!(info, "  <plate>\n    <metadata key=\"index\" value=\"{number}\"/>");
        let _ = writeln!(info, "    <metadata key=\"prediction\" value=\"{seconds:.0}\"/>");
        let _ = writeln!(info, "    <metadata key=\"weight\" value=\"{grams:.2}\"/>");
        let kind = facts.filament_type.as_deref().unwrap_or("PLA");
        for Used { number, share, colour } in filaments {
            let (metres, grams) = (facts.filament_mm / 1000.0 * share, grams * share);
            let _ = writeln!(
                info,
                "    <filament id=\"{number}\" type=\"{kind}\" color=\"{colour}\" used_m=\"{metres:.2}\" used_g=\"{grams:.2}\"/>"
            );
        }
        info.push_str("  </plate>\n");
    }
    info.push_str("</config>\n");
    put(INFO, &info)?;
    Ok(zip.finish()?.into_inner())
}

/// Returns the G-code at the given path in a package; `None` if the file is missing or the package is damaged.
pub fn code(package: &[u8], path: &str) -> Option<Vec<u8>> {
    entry(package, path, MAX_PLATE_BYTES)
}

/// Returns the G-code of the first plate of a package.
pub fn first_code(package: &[u8]) -> Option<Vec<u8>> {
    let archive = ZipArchive::new(Cursor::new(package)).ok()?;
    let number = |name: &str| name.strip_prefix("Metadata/plate_")?.strip_suffix(".gcode")?.parse::<u32>().ok();
    let first = archive.file_names().filter_map(|name| number(&name.ok()?)).min()?;
    code(package, &plate_path(first))
}

/// Returns the filaments used by the plate at the given path, numbered from 1; empty if the package does not specify
/// them.
pub fn filaments(package: &[u8], path: &str) -> Vec<usize> {
    let info = entry(package, INFO, MAX_INFO_BYTES).unwrap_or_default();
    let info = String::from_utf8_lossy(&info);
    let number = path.strip_prefix("Metadata/plate_").and_then(|rest| rest.strip_suffix(".gcode")).unwrap_or_default();
    let index = format!("key=\"index\" value=\"{number}\"");
    let plate = info.split("<plate>").find(|plate| plate.contains(&index)).unwrap_or_default();
    let ids = plate.split("<filament ").skip(1).filter_map(|rest| rest.split("id=\"").nth(1)?.split('"').next());
    ids.filter_map(|id| id.parse().ok()).filter(|id| *id > 0).collect()
}

fn entry(package: &[u8], path: &str, limit: u64) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(package)).ok()?;
    let mut content = Vec::new();
    archive.by_name(path).ok()?.take(limit).read_to_end(&mut content).ok()?;
    Some(content)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "tests")]
    use super::*;

    #[test]
    fn a_package_has_its_plates_and_says_which_filaments_they_use() {
        let (lid, sign) = (orca_gcode("lid", 600, 4.0, 1320.0), orca_gcode("sign", 1200, 12.5, 4125.0));
        let package = package_using(&[(&lid, &[1]), (&sign, &[1, 3])]);
        assert!(is_package(&package));
        assert_eq!(code(&package, "Metadata/plate_2.gcode"), Some(sign.clone().into_bytes()));
        assert_eq!(code(&package, "Metadata/plate_3.gcode"), None);
        assert_eq!(filaments(&package, "Metadata/plate_2.gcode"), [1, 3]);
        assert_eq!(GcodeFacts::read(&package).seconds, 600.0);
        assert_eq!(code(&package[..package.len() / 2], "Metadata/plate_1.gcode"), None);
    }
}
