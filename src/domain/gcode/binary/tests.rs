#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;

use super::super::heatshrink::tests::pack;
use super::super::{ContentType, GcodeContents, GcodeReader, Metadata};
use super::*;
use crate::amount::Amount;

fn block(kind: u16, compression: u16, parameters: &[u16], text: &[u8]) -> Vec<u8> {
    let data = match compression {
        0 => text.to_vec(),
        1 => {
            let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
            packer.write_all(text).unwrap();
            packer.finish().unwrap()
        }
        2 => pack(text, 11, 4),
        _ => pack(text, 12, 4),
    };
    let mut out = [kind.to_le_bytes(), compression.to_le_bytes()].concat();
    out.extend((text.len() as u32).to_le_bytes());
    if compression != 0 {
        out.extend((data.len() as u32).to_le_bytes());
    }
    parameters.iter().for_each(|one| out.extend(one.to_le_bytes()));
    out.extend(data);
    let mut crc = Crc::new();
    crc.update(&out);
    out.extend(crc.sum().to_le_bytes());
    out
}

fn file(compression: u16) -> Vec<u8> {
    let picture = [super::super::content::PNG, b"the picture".as_slice()].concat();
    let print = b"filament used [mm]=986.61\nfilament used [g]=2.94\nestimated printing time (normal mode)=32m 6s\n";
    [
        [b"GCDE".as_slice(), &1u32.to_le_bytes(), &1u16.to_le_bytes()].concat(),
        block(0, compression, &[0], b"Producer=PrusaSlicer 2.8.1\n"),
        block(3, compression, &[0], b"printer_model=MK4\n"),
        block(5, 0, &[0, 16, 16], &picture),
        block(5, 0, &[2, 640, 480], b"qoif"),
        block(4, compression, &[0], print),
        block(2, compression, &[0], b"filament_density=1.24\nlayer_height=0.2\n"),
        block(1, 0, &[0], b"G28\nG1 X1\n"),
        block(1, compression, &[0], b"M84\n"),
    ]
    .concat()
}

fn read_bytes(bytes: &[u8]) -> GcodeContents {
    let mut reader = GcodeReader::new();
    reader.push(bytes);
    reader.finish()
}

#[test]
fn metadata_is_read_however_it_is_packed() {
    for compression in 0..=3 {
        let parsed = read_bytes(&file(compression));
        assert_eq!((parsed.content, parsed.damage), (Some(ContentType::BinaryGcode), None), "{compression}");
        let thumbnail = parsed.metadata.thumbnail.clone().unwrap();
        assert_eq!((thumbnail.width, thumbnail.height), (16, 16), "a picture of another format is passed over");
        let expected = Metadata {
            slicer: Some("PrusaSlicer 2.8.1".to_owned()),
            seconds: Some(1926),
            grams: Some(Amount(2_940)),
            filament_mm: Some(986.61),
            thumbnail: Some(thumbnail),
            ..Metadata::default()
        };
        assert_eq!(parsed.metadata, expected, "{compression}");
    }
}

#[test]
fn a_binary_file_of_several_tools_says_what_each_uses() {
    let head = [b"GCDE".as_slice(), &1u32.to_le_bytes(), &1u16.to_le_bytes()].concat();
    let machine =
        b"printer_model=XL2IS\nfilament_type=PLA;PETG\nnozzle_diameter=0.4,0.4\nextruder_colour=#FF8000;#3EC0FF\n";
    let print = b"filament used [mm]=986.61, 120.5\nfilament used [g]=2.94, 0.38\nestimated printing time (normal mode)=32m 6s\n";
    let blocks = [block(3, 1, &[0], machine), block(4, 2, &[0], print), block(1, 0, &[0], b"G28\n")].concat();
    let parsed = read_bytes(&[head, blocks].concat());
    let plate = &parsed.plates[0].plate;
    assert_eq!((plate.printer_model.as_deref(), plate.nozzle_diameter), (Some("XL2IS"), Some(0.4)));
    let second = &plate.filaments[1];
    assert_eq!((second.index, second.kind.as_deref(), second.color.as_deref()), (1, Some("PETG"), Some("#3ec0ff")));
    assert_eq!((second.grams, second.mm), (Some(Amount(380)), Some(120.5)));
}

#[test]
fn a_file_that_is_cut_off_or_changed_is_told() {
    let whole = file(1);
    for length in FILE_HEADER_BYTES..whole.len() {
        let parsed = read_bytes(&whole[..length]);
        // Between two blocks of commands nobody can tell.
        let between = length == whole.len() - block(1, 1, &[0], b"M84\n").len();
        assert_eq!(parsed.damage, (!between).then_some(Damage::CutOff), "{length}");
    }
    for at in FILE_HEADER_BYTES..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        assert!(read_bytes(&changed).damage.is_some(), "{at}");
    }
    let mut newer = whole;
    newer[4] = 2;
    assert_eq!(read_bytes(&newer).damage, Some(Damage::Unknown));
}

fn header(version: u32, checksum: u16) -> Vec<u8> {
    [b"GCDE".as_slice(), &version.to_le_bytes(), &checksum.to_le_bytes()].concat()
}

#[test]
fn a_file_of_an_unknown_version_is_said_to_be_one() {
    let commands = block(1, 0, &[0], b"G28\n");
    let unknown = |head: Vec<u8>, block: Vec<u8>| read_bytes(&[head, block, commands.clone()].concat()).damage;
    assert_eq!(unknown(header(1, 1), Vec::new()), None);
    assert_eq!(unknown(header(2, 1), Vec::new()), Some(Damage::Unknown));
    assert_eq!(unknown(header(1, 2), Vec::new()), Some(Damage::Unknown), "another checksum");
    assert_eq!(unknown(header(1, 1), block(6, 0, &[0], b"x")), Some(Damage::Unknown), "another kind of block");
    let mut packed = block(2, 3, &[0], b"x");
    packed[2] = 4;
    assert_eq!(unknown(header(1, 1), packed), Some(Damage::Unknown), "another compression");
}

#[test]
fn a_file_without_checksums_is_read_as_well() {
    let print = block(4, 1, &[0], b"filament used [g]=2.94\n");
    let commands = block(1, 0, &[0], b"G28\n");
    let blocks = [&print[..print.len() - 4], &commands[..commands.len() - 4]].concat();
    let parsed = read_bytes(&[header(1, 0), blocks].concat());
    assert_eq!((parsed.damage, parsed.metadata.grams), (None, Some(Amount(2_940))));
}

#[test]
fn commands_are_no_statements() {
    let commands = block(1, 0, &[0], b"filament used [g]=99\n; filament used [g] = 99\nG28\n");
    let parsed = read_bytes(&[header(1, 1), commands].concat());
    assert_eq!((parsed.damage, parsed.metadata), (None, Metadata::default()));
}

#[test]
fn a_block_that_is_too_large_is_skipped() {
    let mut large = b"filament used [g]=2.94\n".to_vec();
    large.resize(MAX_BLOCK_BYTES as usize + 1, b' ');
    let blocks = [header(1, 1), block(2, 1, &[0], &large), block(1, 0, &[0], b"G28\n")].concat();
    assert_eq!((read_bytes(&blocks).damage, read_bytes(&blocks).metadata.grams), (None, None));
    large.pop();
    let blocks = [header(1, 1), block(2, 1, &[0], &large), block(1, 0, &[0], b"G28\n")].concat();
    assert_eq!(read_bytes(&blocks).metadata.grams, Some(Amount(2_940)));
}

#[test]
fn blocks_are_counted_and_unpacked_within_bounds() {
    let head = [b"GCDE".as_slice(), &1u32.to_le_bytes(), &1u16.to_le_bytes()].concat();
    let tiny = block(1, 0, &[0], b"");
    let many = [head.clone(), tiny.repeat(MAX_BLOCKS as usize + 1)].concat();
    assert_eq!(read_bytes(&many).damage, Some(Damage::TooManyParts));
    assert_eq!(read_bytes(&many[..many.len() - tiny.len()]).damage, None);
    // Each of a few kilobytes unpacks to four megabytes.
    let bomb = block(2, 1, &[0], &vec![b' '; MAX_BLOCK_BYTES as usize]);
    let (mut binary, mut notes) = (Binary::default(), CommentStatements::default());
    binary.push(&[head, bomb.repeat(50), tiny].concat(), &mut notes);
    assert_eq!((binary.unpacked, binary.damage()), (MAX_UNPACKED_BYTES, None));
}

proptest! {
    #[test]
    fn chunks_change_nothing(cuts in prop::collection::vec(1usize..60, 1..80), compression in 0u16..4) {
        let whole = file(compression);
        let (mut reader, mut left) = (GcodeReader::new(), whole.as_slice());
        for cut in cuts.iter().cycle() {
            let (part, rest) = left.split_at((*cut).min(left.len()));
            reader.push(part);
            left = rest;
            if left.is_empty() {
                break;
            }
        }
        prop_assert_eq!(reader.finish(), read_bytes(&whole));
    }

    #[test]
    fn nothing_makes_it_fall(tail in prop::collection::vec(any::<u8>(), 0..400), checksum in 0u16..2, cut in 0usize..300) {
        let head = [b"GCDE".as_slice(), &1u32.to_le_bytes(), &checksum.to_le_bytes()].concat();
        read_bytes(&[head, tail.clone()].concat());
        let mut whole = file(3);
        whole.truncate(cut);
        read_bytes(&[whole, tail].concat());
    }
}
