//! Reader for a sliced 3MF package (Bambu Studio, OrcaSlicer): a zip archive whose `Metadata/plate_1.gcode` is G-code
//! as text. Each plate has a thumbnail in a separate file; small files contain additional data about all plates (see
//! `project`).

use std::io::{self, Read, Seek, SeekFrom};

use zip::ZipArchive;

use super::project::{Plates, names, plate_json, slice_info};
use super::thumbnail::Thumbnail;
use super::{Damage, DetectedPlate, GcodeReader, Metadata};
use crate::file::MAX_PLATES;
use crate::picture_format::fits_a_screen;
use crate::sku::Dimensions;

/// Maximum number of bytes read from the first plate's G-code. All statements are at its beginning, whereas a small
/// archive may unpack to any size.
const MAX_PLATE_BYTES: u64 = 16 << 20;
/// Maximum number of bytes read from the G-code of each subsequent plate: its header and settings.
const MAX_HEADER_BYTES: u64 = 512 << 10;
/// Maximum number of bytes read from a file that describes the project or a plate.
const MAX_PROJECT_BYTES: u64 = 2 << 20;
/// Maximum total size of the thumbnails in a package, in bytes; plates beyond it get none.
const MAX_PICTURES_BYTES: usize = 16 << 20;
/// Maximum size of a thumbnail, in bytes.
const MAX_PICTURE_BYTES: u64 = 4 << 20;

/// Maximum number of entries in a package; a sliced project has a few dozen.
const MAX_ENTRIES: u64 = 4096;
/// Maximum size of an archive's central directory, in bytes.
const MAX_DIRECTORY_BYTES: u64 = 4 << 20;
/// Number of bytes at the end of an archive that may hold the end-of-central-directory record and the 64-bit one before
/// it.
const END_BYTES: u64 = (64 << 10) + 22 + 20 + 56;

/// Checks that the archive's central directory declares no more entries and bytes than a package may have, because the
/// directory is read into memory as a whole. Every position that looks like the end of a directory is checked, because
/// the archive may have several.
fn bounded(file: &mut (impl Read + Seek)) -> Result<(), Damage> {
    let cut = |_: io::Error| Damage::CutOff;
    let size = file.seek(SeekFrom::End(0)).map_err(cut)?;
    let from = size.saturating_sub(END_BYTES);
    file.seek(SeekFrom::Start(from)).map_err(cut)?;
    let mut end = Vec::new();
    Read::by_ref(file).take(END_BYTES).read_to_end(&mut end).map_err(cut)?;
    let number = |bytes: &[u8], at: usize, length: usize| {
        let bytes = bytes.get(at..at + length)?;
        Some(bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    for at in 0..end.len() {
        let here = &end[at..];
        // Entries and bytes of the directory, 16 and 32 bits, or 64 bits each. The 64-bit record may also stand
        // elsewhere, where its locator says.
        let stated_sizes = if here.starts_with(b"PK\x05\x06") {
            [
                number(here, 10, 2).filter(|entries| *entries != 0xffff),
                number(here, 12, 4).filter(|bytes| *bytes != 0xffff_ffff),
            ]
        } else if here.starts_with(b"PK\x06\x06") {
            [number(here, 32, 8), number(here, 40, 8)]
        } else if here.starts_with(b"PK\x06\x07") {
            let Some(offset) = number(here, 8, 8) else { continue };
            let mut record = Vec::new();
            file.seek(SeekFrom::Start(offset)).map_err(cut)?;
            Read::by_ref(file).take(56).read_to_end(&mut record).map_err(cut)?;
            [number(&record, 32, 8), number(&record, 40, 8)]
        } else {
            continue;
        };
        let [entries, bytes] = stated_sizes;
        if entries.is_some_and(|entries| entries > MAX_ENTRIES)
            || bytes.is_some_and(|bytes| bytes > MAX_DIRECTORY_BYTES)
        {
            return Err(Damage::TooManyParts);
        }
    }
    file.rewind().map_err(cut)
}

/// Returns the plate number if the name belongs to a plate's G-code file: 1 for `Metadata/plate_1.gcode`.
fn plate_number(name: &str) -> Option<u32> {
    let number: u32 = name.strip_prefix("Metadata/plate_")?.strip_suffix(".gcode")?.parse().ok()?;
    (number > 0).then_some(number)
}

/// Opens a package or any other project, unless its central directory is larger than allowed.
///
/// # Errors
///
/// Fails if the file is not a zip archive or has too many entries.
pub fn open_archive<F: Read + Seek>(mut file: F) -> Result<ZipArchive<F>, Damage> {
    bounded(&mut file)?;
    ZipArchive::new(file).map_err(|_| Damage::CutOff)
}

/// Returns the metadata of a package's first plate, and all its sliced plates.
pub fn read_package(file: impl Read + Seek) -> Result<(Metadata, Vec<DetectedPlate>), Damage> {
    let mut archive = open_archive(file)?;
    let names_inside = archive.file_names().filter_map(|name| plate_number(&name.ok()?));
    let mut numbers: Vec<u32> = names_inside.collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() > MAX_PLATES {
        return Err(Damage::TooManyParts);
    }
    let first = *numbers.first().ok_or(Damage::CutOff)?;
    let plate_info =
        text(&mut archive, "Metadata/slice_info.config").map_or_else(Plates::new, |text| slice_info(&text));
    let named = text(&mut archive, "Metadata/model_settings.config").map(|text| names(&text)).unwrap_or_default();
    let (mut metadata, mut plates, mut pictures) = (Metadata::default(), Vec::new(), 0);
    for number in numbers {
        let limit = if number == first { MAX_PLATE_BYTES } else { MAX_HEADER_BYTES };
        let (of_plate, mut found_plate, height) = read_plate(&mut archive, number, limit)?;
        found_plate.plate.plate = number;
        found_plate.plate.name = named.get(&number).cloned();
        if let Some(info) = plate_info.get(&number) {
            found_plate.plate.seconds = found_plate.plate.seconds.or(info.seconds);
            found_plate.plate.nozzle_diameter = found_plate.plate.nozzle_diameter.or(info.nozzle_diameter);
            found_plate.plate.printer_model =
                found_plate.plate.printer_model.take().or_else(|| info.printer_model.clone());
            if !info.filaments.is_empty() {
                found_plate.plate.filaments.clone_from(&info.filaments);
            }
        }
        let json = bytes(&mut archive, &format!("Metadata/plate_{number}.json"), MAX_PROJECT_BYTES);
        let across = json.and_then(|json| plate_json(&mut found_plate.plate, &json));
        let size = across.zip(height).map(|([x, y], z)| Dimensions { x, y, z });
        found_plate.plate.dimensions = found_plate.plate.dimensions.or(size);
        found_plate.thumbnail = picture(&mut archive, &format!("Metadata/plate_{number}.png"))
            .filter(|picture| pictures + picture.png.len() <= MAX_PICTURES_BYTES);
        pictures += found_plate.thumbnail.as_ref().map_or(0, |picture| picture.png.len());
        if number == first {
            metadata = Metadata {
                seconds: of_plate.seconds.or(found_plate.plate.seconds),
                grams: of_plate.grams.or(found_plate.plate.grams()),
                filament_mm: of_plate.filament_mm.or(found_plate.plate.filament_mm()),
                size: of_plate.size.or(found_plate.plate.dimensions),
                thumbnail: of_plate.thumbnail.or_else(|| found_plate.thumbnail.clone()),
                ..of_plate
            };
        }
        plates.push(found_plate);
    }
    Ok((metadata, plates))
}

/// Reads up to `limit` bytes of a plate's G-code. Returns its metadata, the plate, and the maximum height of the print
/// in millimetres.
fn read_plate<F: Read + Seek>(
    archive: &mut ZipArchive<F>,
    number: u32,
    limit: u64,
) -> Result<(Metadata, DetectedPlate, Option<f64>), Damage> {
    let mut reader = GcodeReader::new();
    let mut code = archive.by_name(&format!("Metadata/plate_{number}.gcode")).map_err(|_| Damage::CutOff)?.take(limit);
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match code.read(&mut chunk).map_err(|_| Damage::Checksum)? {
            0 => break,
            length => reader.push(&chunk[..length]),
        }
    }
    Ok(reader.finish_plate())
}

/// Returns the content of an archive entry; `None` if the entry is missing or larger than `limit` bytes.
fn bytes<F: Read + Seek>(archive: &mut ZipArchive<F>, name: &str, limit: u64) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    archive.by_name(name).ok()?.take(limit + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= limit).then_some(content)
}

fn text<F: Read + Seek>(archive: &mut ZipArchive<F>, name: &str) -> Option<String> {
    String::from_utf8(bytes(archive, name, MAX_PROJECT_BYTES)?).ok()
}

fn picture<F: Read + Seek>(archive: &mut ZipArchive<F>, name: &str) -> Option<Thumbnail> {
    let png = bytes(archive, name, MAX_PICTURE_BYTES)?;
    let size = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    // The first chunk of a PNG has its size.
    let (width, height) = (size(16)?, size(20)?);
    let is_shown = png.starts_with(super::content::PNG) && fits_a_screen(width.into(), height.into());
    is_shown.then_some(Thumbnail { width, height, png })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::io::{Cursor, Write as _};

    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::amount::Amount;
    use crate::gcode::{ContentType, GcodeContents};

    const CODE: &str = "; HEADER_BLOCK_START\n; BambuStudio 01.10.01.50\n; model printing time: 24m 36s; total estimated time: 31m 2s\n\
        ; total filament length [mm] : 1234.50\n; total filament weight [g] : 3.70\n; HEADER_BLOCK_END\nG28\nG1 X1\n";

    fn package(plates: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut put = |name: &str, bytes: &[u8]| {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        };
        put("3D/3dmodel.model", b"<model/>");
        for (name, code) in plates {
            put(name, code.as_bytes());
        }
        let png = [super::super::content::PNG, b"\0\0\0\rIHDR\0\0\x01\0\0\0\x02\0".as_slice()].concat();
        put("Metadata/plate_1.png", &png);
        zip.finish().unwrap().into_inner()
    }

    fn read_bytes(bytes: &[u8]) -> GcodeContents {
        let mut reader = GcodeReader::new();
        reader.push(bytes);
        reader.finish()
    }

    #[test]
    fn the_first_plate_says_what_it_takes() {
        let bytes = package(&[("Metadata/plate_2.gcode", "G28\n"), ("Metadata/plate_1.gcode", CODE)]);
        assert_eq!(read_bytes(&bytes).content, Some(ContentType::SlicedThreeMf));
        let (metadata, plates) = read_package(Cursor::new(&bytes)).unwrap();
        assert_eq!(plates.iter().map(|plate| plate.plate.plate).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(metadata.slicer.as_deref(), Some("Bambu Studio 01.10.01.50"));
        assert_eq!(
            (metadata.seconds, metadata.grams, metadata.filament_mm),
            (Some(1862), Some(Amount(3_700)), Some(1234.5))
        );
        let picture = metadata.thumbnail.unwrap();
        assert_eq!((picture.width, picture.height), (256, 512));
        assert_eq!(read_bytes(&package(&[])).content, Some(ContentType::ThreeMf), "a model that is not sliced");
    }

    /// Builds a project of two plates as exported by OrcaSlicer, the second plate with two filaments.
    fn project() -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut put = |name: &str, bytes: &[u8]| {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        };
        let config = "; CONFIG_BLOCK_START\n; curr_bed_type = Textured PEI Plate\n; filament_colour = #FFFFFF;#101010\n\
            ; filament_type = PLA;PLA\n; nozzle_diameter = 0.4\n; printer_model = Bambu Lab X1 Carbon\n; CONFIG_BLOCK_END\n";
        let second = "; HEADER_BLOCK_START\n; generated by OrcaSlicer 2.3.1 on 2026-11-01\n; max_z_height: 12.40\n\
            ; model printing time: 1h 2m 3s; total estimated time: 1h 8m 0s\n; total filament weight [g] : 10.00,2.50\n\
            ; filament: 1,2\n; HEADER_BLOCK_END\n";
        put("Metadata/plate_1.gcode", format!("{CODE}{config}").as_bytes());
        put("Metadata/plate_2.gcode", format!("{second}{config}G28\n").as_bytes());
        put(
            "Metadata/plate_2.json",
            br#"{"bbox_all":[10,10,52.5,30],"bed_type":"textured_plate","nozzle_diameter":0.4}"#,
        );
        let info = r##"<config><plate><metadata key="index" value="2"/><metadata key="prediction" value="4080"/>
            <filament id="1" type="PLA" color="#FFFFFF" used_m="3.35" used_g="10.00"/>
            <filament id="2" type="PLA" color="#101010" used_m="0.84" used_g="2.50"/></plate></config>"##;
        put("Metadata/slice_info.config", info.as_bytes());
        let settings = r#"<config><plate><metadata key="plater_id" value="2"/><metadata key="plater_name" value="Signs"/></plate></config>"#;
        put("Metadata/model_settings.config", settings.as_bytes());
        let png = [super::super::content::PNG, b"\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10".as_slice()].concat();
        put("Metadata/plate_2.png", &png);
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn each_plate_of_a_project_says_what_it_takes() {
        let (metadata, plates) = read_package(Cursor::new(project())).unwrap();
        assert_eq!(
            (metadata.seconds, metadata.grams),
            (Some(1862), Some(Amount(3_700))),
            "the file is its first plate"
        );
        let [first, second] = &plates[..] else { panic!("{plates:?}") };
        let of_first = &first.plate.filaments[..];
        assert_eq!(
            (of_first.len(), of_first[0].grams, of_first[0].color.as_deref()),
            (1, Some(Amount(3_700)), Some("#ffffff"))
        );
        let plate = &second.plate;
        assert_eq!((plate.plate, plate.name.as_deref(), plate.seconds), (2, Some("Signs"), Some(4080)));
        let filaments: Vec<_> = plate.filaments.iter().map(|one| (one.index, one.grams, one.mm)).collect();
        assert_eq!(filaments, [(0, Some(Amount(10_000)), Some(3350.0)), (1, Some(Amount(2_500)), Some(840.0))]);
        assert_eq!(plate.dimensions, Some(Dimensions { x: 42.5, y: 20.0, z: 12.4 }));
        assert_eq!((plate.bed_type.as_deref(), plate.nozzle_diameter), (Some("Textured PEI Plate"), Some(0.4)));
        assert_eq!(plate.printer_model.as_deref(), Some("Bambu Lab X1 Carbon"));
        assert_eq!(second.thumbnail.as_ref().map(|picture| picture.width), Some(16));
    }

    /// Builds a package of the given files.
    fn files(files: &[(String, Vec<u8>)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            zip.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
            zip.write_all(content).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn pictures_are_kept_as_far_as_they_fit() {
        let picture = |size: u64| {
            let mut png = [super::super::content::PNG, b"\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10".as_slice()].concat();
            png.resize(size as usize, 0);
            png
        };
        let mut pictures = vec![picture(MAX_PICTURE_BYTES); 5];
        pictures.push(picture(24));
        let of_plates = |pictures: Vec<Vec<u8>>| {
            let plates = pictures.into_iter().enumerate().flat_map(|(n, picture)| {
                let name = |ending: &str| format!("Metadata/plate_{}.{ending}", n + 1);
                [(name("gcode"), b"G28\n".to_vec()), (name("png"), picture)]
            });
            let (_, plates) = read_package(Cursor::new(files(&plates.collect::<Vec<_>>()))).unwrap();
            plates.iter().map(|plate| plate.thumbnail.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(of_plates(pictures), [true, true, true, true, false, false]);
        let mut other = picture(24);
        other[0] = b'?';
        assert_eq!(of_plates(vec![picture(MAX_PICTURE_BYTES + 1), other, picture(24)]), [false, false, true]);
    }

    #[test]
    fn the_first_plate_is_read_further_than_the_others_and_to_the_end_of_its_last_line() {
        let code = |moves: usize| ["G1 X1\n".repeat(moves), "; total filament weight [g] : 3.70".to_owned()].concat();
        let plates = ["Metadata/plate_1.gcode", "Metadata/plate_2.gcode"].map(|name| (name, code(100_000)));
        let (metadata, read) = read_package(Cursor::new(package(&plates.each_ref().map(|(n, c)| (*n, &**c))))).unwrap();
        let filaments = |plate: &DetectedPlate| plate.plate.filaments.len();
        assert_eq!((metadata.grams, filaments(&read[0]), filaments(&read[1])), (Some(Amount(3_700)), 1, 0));
    }

    #[test]
    fn plates_are_numbered_from_1() {
        let of = |name: &str| read_package(Cursor::new(package(&[(name, CODE)]))).map(|(_, plates)| plates.len());
        assert_eq!(of("Metadata/plate_1.gcode"), Ok(1));
        assert_eq!(of("Metadata/plate_0.gcode"), Err(Damage::CutOff));
    }

    #[test]
    fn a_package_of_too_many_plates_is_refused() {
        let names: Vec<String> = (1..=MAX_PLATES + 1).map(|n| format!("Metadata/plate_{n}.gcode")).collect();
        let plates: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "G28\n")).collect();
        assert_eq!(read_package(Cursor::new(package(&plates))), Err(Damage::TooManyParts));
        assert_eq!(read_package(Cursor::new(package(&plates[1..]))).unwrap().1.len(), MAX_PLATES);
    }

    #[test]
    fn a_directory_of_a_million_entries_is_not_read() {
        let whole = package(&[("Metadata/plate_1.gcode", CODE)]);
        let end = whole.len() - 22;
        assert!(whole[end..].starts_with(b"PK\x05\x06"));
        let many = |entries: u16| {
            let mut bytes = whole.clone();
            bytes[end + 8..end + 10].copy_from_slice(&entries.to_le_bytes());
            bytes[end + 10..end + 12].copy_from_slice(&entries.to_le_bytes());
            bytes
        };
        assert_eq!(read_package(Cursor::new(many(60_000))), Err(Damage::TooManyParts));
        assert_eq!(bounded(&mut Cursor::new(many(MAX_ENTRIES as u16 + 1))), Err(Damage::TooManyParts));
        assert_eq!(bounded(&mut Cursor::new(many(MAX_ENTRIES as u16))), Ok(()));
        for (size, expected) in [(MAX_DIRECTORY_BYTES, Ok(())), (MAX_DIRECTORY_BYTES + 1, Err(Damage::TooManyParts))] {
            let mut bytes = whole.clone();
            bytes[end + 12..end + 16].copy_from_slice(&(size as u32).to_le_bytes());
            assert_eq!(bounded(&mut Cursor::new(bytes)), expected);
        }
        // The 64-bit record, before the locator, before the record of old.
        let mut record = b"PK\x06\x06".to_vec();
        record.extend_from_slice(&44u64.to_le_bytes());
        record.extend_from_slice(&[0; 12]);
        for number in [1_000_000u64, 1_000_000, 46_000_000, 0] {
            record.extend_from_slice(&number.to_le_bytes());
        }
        let mut locator = b"PK\x06\x07\0\0\0\0".to_vec();
        locator.extend_from_slice(&(end as u64).to_le_bytes());
        locator.extend_from_slice(&1u32.to_le_bytes());
        let old = many(0xffff);
        let bytes = [&old[..end], &record, &locator, &old[end..]].concat();
        assert_eq!(read_package(Cursor::new(&bytes)), Err(Damage::TooManyParts));
        // The same record in the middle of the file, where only the locator finds it.
        let far = [&old[..end], &record, &vec![b' '; 200_000], &locator, &old[end..]].concat();
        assert_eq!(read_package(Cursor::new(&far)), Err(Damage::TooManyParts));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_crash(at in 0usize..9000, with in any::<u8>(), length in 0usize..4000) {
            let mut bytes = if with.is_multiple_of(2) { package(&[("Metadata/plate_1.gcode", CODE)]) } else { project() };
            let place = at % bytes.len();
            bytes[place] ^= with;
            let _ = read_package(Cursor::new(&bytes));
            bytes.truncate(length);
            let _ = read_package(Cursor::new(&bytes));
        }
    }
}
