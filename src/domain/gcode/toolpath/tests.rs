#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::{Cursor, Write as _};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// Outline of a square of 10 mm, with a purge line and a skirt before it.
const SQUARE: &str = "G90\nM82\n;TYPE:Custom\nG1 X0 Y-3 Z0.2\nG1 X100 Y-3 E9\n;TYPE:Skirt/Brim\nG1 X0 Y90 E10\nG92 E0\n\
    ;TYPE:External perimeter\nG0 X5 Y5\nG1 X15 E1\nG1 Y15 E2\nG1 E1.2 ; retracted\nG1 E2\nG1 X5 E3\nG1 Y5 E4\nG1 X9 E3.5\n";

fn of(text: &str) -> Vec<([f32; 3], [f32; 3])> {
    let mut whole = ToolpathReader::default();
    whole.push(text.as_bytes());
    let whole = whole.finish();
    let mut pieces = ToolpathReader::default();
    text.as_bytes().iter().for_each(|byte| pieces.push(std::slice::from_ref(byte)));
    assert_eq!(whole, pieces.finish(), "however it is cut");
    whole.segments().iter().map(|one| (one.from, one.to)).collect()
}

#[test]
fn what_is_extruded_for_the_part_is_drawn() {
    let corners = [[5.0, 5.0, 0.2], [15.0, 5.0, 0.2], [15.0, 15.0, 0.2], [5.0, 15.0, 0.2], [5.0, 5.0, 0.2]];
    let sides: Vec<_> = corners.windows(2).map(|pair| (pair[0], pair[1])).collect();
    assert_eq!(of(SQUARE), sides);
    assert!(of("G1 X5 Y5\nG28\n; G1 X9 E5\nG1 E4\nG1 Z5 E6\n").is_empty(), "nothing moves while it extrudes");
}

#[test]
fn relative_moves_and_arcs_are_followed() {
    let relative = of("G91\nG1 X10 Y10 Z0.5\nG1 X5 E1\nG90\nM83\nG1 X20 E1\nG1 X30\nG1 X35 E-1\n");
    assert_eq!(relative, [([10.0, 10.0, 0.5], [15.0, 10.0, 0.5]), ([15.0, 10.0, 0.5], [20.0, 10.0, 0.5])]);
    let arc = of("M83\nG2 X10 Y0 I5 J0 E1\n");
    assert_eq!((arc.len(), arc[0].0, arc[15].1), (16, [0.0; 3], [10.0, 0.0, 0.0]));
    let (begins, ends): (Vec<_>, Vec<_>) = arc.into_iter().unzip();
    assert_eq!(begins[1..], ends[..15], "the moves join");
}

#[test]
fn the_extruder_takes_turns_between_absolute_and_relative() {
    let moves = of("M83\nM82\nG92 E5\nG1 X5 E6\nG1 X10 E1\nM83\nG1 X15 E1\n");
    assert_eq!(moves, [([0.0; 3], [5.0, 0.0, 0.0]), ([10.0, 0.0, 0.0], [15.0, 0.0, 0.0])]);
    assert_eq!(of("G1 X5 E20000\n").len(), 1, "a long filament is no far place");
}

#[test]
fn arcs_turn_to_their_side() {
    let middle = |code: &str| of(&format!("M83\n{code} X10 Y0 I5 J0 E1\n"))[7].1[1];
    assert!(middle("G2") > 4.9 && middle("G3") < -4.9, "{} {}", middle("G2"), middle("G3"));
}

#[test]
fn lines_and_positions_beyond_all_bounds_are_passed_over() {
    let long = format!("M83\nG1 X5 E1 ;{}\nG1 X6 Y1 E1\nG1 X99999 E1\nG1 XNaN E1\nG1 X1e9 E1\n", "x".repeat(600));
    assert_eq!(of(&long), [([0.0; 3], [6.0, 1.0, 0.0]), ([6.0, 1.0, 0.0], [1.0, 1.0, 0.0])]);
}

#[test]
fn a_print_of_any_length_is_held_in_bounded_room() {
    let text = |moves: usize| {
        let line = |at: usize| format!("G1 X{} Y{} E1\n", at % 200, at / 200);
        (1..=moves).map(line).collect::<Vec<_>>().concat()
    };
    let held = |moves: usize| {
        let mut reader = ToolpathReader::with_room(100);
        reader.push(format!("M83\n{}", text(moves)).as_bytes());
        reader.finish().segments().iter().map(|one| one.to[1] * 200.0 + one.to[0]).collect::<Vec<_>>()
    };
    assert_eq!(held(100).len(), 100);
    let thinned = held(10_000);
    assert!((50..=100).contains(&thinned.len()), "{}", thinned.len());
    assert!(thinned.windows(2).all(|pair| (64.0..=256.0).contains(&(pair[1] - pair[0]))), "{thinned:?}");
    // 50 MB of G-code, with a comment in each line.
    let line = |at: usize| format!("G1 X{} Y{} E1 ;{}\n", at % 30, at / 30, "-".repeat(80));
    let chunk = (0..640).map(line).collect::<Vec<_>>().concat();
    let mut reader = ToolpathReader::default();
    reader.push(b"M83\n");
    (0..=50_000_000 / chunk.len()).for_each(|_| reader.push(chunk.as_bytes()));
    let path = reader.finish();
    assert!((MAX_SEGMENTS / 2..=MAX_SEGMENTS).contains(&path.segments().len()), "{}", path.segments().len());
}

#[test]
fn only_an_area_is_worth_a_picture() {
    let has_area = |text: &str| {
        let mut reader = ToolpathReader::default();
        reader.push(text.as_bytes());
        reader.finish().has_area()
    };
    assert!(has_area(SQUARE));
    assert!(!has_area("G28\nG1 X10 E1\n"), "a line");
    assert!(!has_area("G1 X5 Y10\nG1 X10 E1\n") && !has_area("G1 X10 Y5\nG1 Y10 E1\n"), "a line away from the origin");
    assert!(!has_area("hello"));
}

fn binary(compression: u16, encoding: u16, blocks: &[&[u8]]) -> Vec<u8> {
    let mut file = [b"GCDE".as_slice(), &1u32.to_le_bytes(), &1u16.to_le_bytes()].concat();
    let mut add = |kind: u16, compression: u16, parameters: &[u16], text: &[u8], data: &[u8]| {
        file.extend([kind.to_le_bytes(), compression.to_le_bytes()].concat());
        file.extend((text.len() as u32).to_le_bytes());
        if compression != 0 {
            file.extend((data.len() as u32).to_le_bytes());
        }
        parameters.iter().for_each(|one| file.extend(one.to_le_bytes()));
        file.extend(data);
        file.extend([0; 4]);
    };
    add(5, 0, &[0, 16, 16], b"picture", b"picture");
    for &text in blocks {
        let packed = super::super::heatshrink::tests::pack(text, 12, 4);
        add(1, compression, &[encoding], text, if compression == 0 { text } else { &packed[..] });
    }
    file
}

#[test]
fn binary_g_code_and_packages_are_read() {
    let expected = read_toolpath(Cursor::new(SQUARE), 1).unwrap();
    assert_eq!(expected.segments().len(), 4);
    let (first, second) = SQUARE.split_at(40);
    for compression in [0, 3] {
        let file = binary(compression, 0, &[first.as_bytes(), second.as_bytes()]);
        assert_eq!(read_toolpath(Cursor::new(&file), 1).unwrap(), expected, "{compression}");
    }
    // A decoder that packs nothing lets text pass.
    assert_eq!(read_toolpath(Cursor::new(binary(3, 2, &[SQUARE.as_bytes()])), 1).unwrap(), expected);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("Metadata/plate_2.gcode", SimpleFileOptions::default()).unwrap();
    zip.write_all(SQUARE.as_bytes()).unwrap();
    let package = zip.finish().unwrap().into_inner();
    assert_eq!(read_toolpath(Cursor::new(&package), 2).unwrap(), expected);
    read_toolpath(Cursor::new(&package), 1).unwrap_err();
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        for start in [b"".as_slice(), b"GCDE\x01\0\0\0\x01\0", b"PK\x03\x04"] {
            let _ = read_toolpath(Cursor::new([start, &bytes].concat()), 1);
        }
    }

    #[test]
    fn any_moves_stay_finite_and_within_bounds(
        lines in prop::collection::vec("(G[0-3]|G9[012]|M8[23])( ?[XYZEIJRF][-0-9.]{0,12}){0,6}", 0..60),
    ) {
        let mut reader = ToolpathReader::with_room(64);
        reader.push(lines.join("\n").as_bytes());
        let path = reader.finish();
        prop_assert!(path.segments().len() <= 64);
        let limit = 4.0 * MAX_MM as f32;
        prop_assert!(path.segments().iter().flat_map(|one| [one.from, one.to]).flatten().all(|mm| mm.abs() <= limit));
    }
}
