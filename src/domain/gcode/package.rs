//! Reads a sliced 3MF package (Bambu Studio, OrcaSlicer): a zip archive whose `Metadata/plate_1.gcode` is G-code as
//! text.

use std::io::{self, Read, Seek, SeekFrom};

use zip::ZipArchive;

use super::thumbnail::Thumbnail;
use super::{Damage, Metadata, Reader};

/// Bytes read of a plate's G-code. Its beginning has all statements, and a small archive may unpack to any size.
const MAX_PLATE_BYTES: u64 = 16 << 20;
/// Size limit of a picture, in bytes.
const MAX_PICTURE_BYTES: u64 = 4 << 20;

/// Most entries of a package; a sliced project has some dozens.
const MAX_ENTRIES: u64 = 4096;
/// Most bytes of an archive's directory.
const MAX_DIRECTORY_BYTES: u64 = 4 << 20;
/// Bytes at the end of an archive in which the record that ends its directory may stand, and the 64-bit one before it.
const END_BYTES: u64 = (64 << 10) + 22 + 20 + 56;

/// Refuses an archive whose directory says that it has more entries, or more bytes, than a package may have: the directory is read
/// into memory as a whole. Every place that looks like the end of a directory is judged, because the archive may have several.
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
        // Entries and bytes of the directory, 16 and 32 bits, or 64 bits each. The 64-bit record may also stand elsewhere, where
        // its locator says.
        let told = if here.starts_with(b"PK\x05\x06") {
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
        let [entries, bytes] = told;
        if entries.is_some_and(|entries| entries > MAX_ENTRIES)
            || bytes.is_some_and(|bytes| bytes > MAX_DIRECTORY_BYTES)
        {
            return Err(Damage::TooManyParts);
        }
    }
    file.rewind().map_err(cut)
}

/// The metadata of the first plate of a package.
pub fn read_package(mut file: impl Read + Seek) -> Result<Metadata, Damage> {
    bounded(&mut file)?;
    let mut archive = ZipArchive::new(file).map_err(|_| Damage::CutOff)?;
    let names = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned()));
    let plates = names.filter(|name| name.starts_with("Metadata/plate_") && name.strip_suffix(".gcode").is_some());
    // The shortest name comes first, then by letters, so that plate 2 precedes plate 10.
    let first = plates.min_by_key(|name| (name.len(), name.clone())).ok_or(Damage::CutOff)?;
    let mut reader = Reader::new();
    {
        let mut code = archive.by_name(&first).map_err(|_| Damage::CutOff)?.take(MAX_PLATE_BYTES);
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match code.read(&mut chunk).map_err(|_| Damage::Checksum)? {
                0 => break,
                length => reader.push(&chunk[..length]),
            }
        }
    }
    let mut metadata = reader.finish().metadata;
    if metadata.thumbnail.is_none() {
        metadata.thumbnail = picture(&mut archive, &first.replace(".gcode", ".png"));
    }
    Ok(metadata)
}

fn picture<F: Read + Seek>(archive: &mut ZipArchive<F>, name: &str) -> Option<Thumbnail> {
    let mut png = Vec::new();
    archive.by_name(name).ok()?.take(MAX_PICTURE_BYTES + 1).read_to_end(&mut png).ok()?;
    let size = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    // The first chunk of a PNG has its size.
    let (width, height) = (size(16)?, size(20)?);
    let fits = png.len() as u64 <= MAX_PICTURE_BYTES && png.starts_with(super::content::PNG);
    fits.then_some(Thumbnail { width, height, png })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::io::{Cursor, Write as _};

    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::domain::amount::Amount;
    use crate::domain::gcode::{Content, Found};

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

    fn found(bytes: &[u8]) -> Found {
        let mut reader = Reader::new();
        reader.push(bytes);
        reader.finish()
    }

    #[test]
    fn the_first_plate_says_what_it_takes() {
        let bytes = package(&[("Metadata/plate_2.gcode", "G28\n"), ("Metadata/plate_1.gcode", CODE)]);
        assert_eq!(found(&bytes).content, Some(Content::SlicedThreeMf));
        let said = read_package(Cursor::new(&bytes)).unwrap();
        assert_eq!(said.slicer.as_deref(), Some("Bambu Studio 01.10.01.50"));
        assert_eq!((said.seconds, said.grams, said.filament_mm), (Some(1862), Some(Amount(3_700)), Some(1234.5)));
        let picture = said.thumbnail.unwrap();
        assert_eq!((picture.width, picture.height), (256, 512));
        assert_eq!(found(&package(&[])).content, Some(Content::ThreeMf), "a model that is not sliced");
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
        fn nothing_makes_it_fall(at in 0usize..900, with in any::<u8>(), length in 0usize..900) {
            let mut bytes = package(&[("Metadata/plate_1.gcode", CODE)]);
            let place = at % bytes.len();
            bytes[place] ^= with;
            let _ = read_package(Cursor::new(&bytes));
            bytes.truncate(length);
            let _ = read_package(Cursor::new(&bytes));
        }
    }
}
