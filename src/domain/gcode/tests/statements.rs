//! Tests of individual slicer statements and their limits.

use super::*;

fn plate(text: &str) -> Plate {
    read(text.as_bytes()).plates[0].plate.clone()
}

#[test]
fn what_follows_the_first_lines_does_not_change_what_a_file_is() {
    let text = format!("{PRUSA}{}\0", "G1 X1\n".repeat(1_000));
    let mut reader = GcodeReader::new();
    text.as_bytes().chunks(4_096).for_each(|chunk| reader.push(chunk));
    assert_eq!(reader.finish().content, Some(ContentType::Gcode));
}

#[test]
fn one_density_is_that_of_every_extruder() {
    let text = |volumes: &str, densities: &str| {
        metadata(&format!("G28\n; filament used [cm3] = {volumes}\n; filament_density = {densities}\n")).grams
    };
    assert_eq!(text("2.0, 3.0", "1.24"), Some(Amount(6_200)));
    assert_eq!(text("2.0, 3.0, 1.5", "1.24,1.5"), None, "nobody knows which one the third is of");
}

#[test]
fn a_time_is_read_from_each_statement_that_has_one() {
    for (line, seconds) in [
        ("; total estimated time: 31m 2s", 1_862),
        ("; model printing time: 24m 36s", 1_476),
        ("; estimated printing time = 1h", 3_600),
        ("; Estimated Build Time:   38.53 minutes", 2_312),
        ("; Build Time: 2 hours 5 minutes", 7_500),
        (";TIME_ELAPSED:90.4", 90),
    ] {
        assert_eq!(metadata(&format!("{line}\nG28\n")).seconds, Some(seconds), "{line}");
    }
}

#[test]
fn amounts_of_other_slicers_count_only_extruders_that_are_used() {
    let idea = ";Sliced by ideaMaker 4.1.1.4990, 2026-11-01\nG28\n;Material#1 Used: 1548.2\n;Material#2 Used: 0.0\n\
        ;Filament Diameter #1: 1.75\n;Filament Density #1: 1240.0\n";
    assert_eq!(metadata(idea).grams, Some(Amount(4_618)), "nothing is known of the second");
    let extruders = |count: usize| {
        let lines: Vec<String> = (1..=count).map(|n| format!(";    Ext {n} =  10.00 mm  (0.024 cm^3)\n")).collect();
        metadata(&format!("; KISSlicer - FREE\nG28\n{}", lines.concat())).filament_mm
    };
    assert_eq!((extruders(32), extruders(40)), (Some(320.0), Some(320.0)));
}

#[test]
fn totals_are_those_of_the_only_filament() {
    let totals = "; Build Summary\nG28\n;   Filament length: 4034.3 mm (4.03 m)\n";
    let both = format!("{totals};   Plastic weight: 12.13 g (0.03 lb)\n");
    let filaments = |text: &str| -> Vec<(u32, Option<Amount>, Option<f64>)> {
        plate(text).filaments.iter().map(|one| (one.index, one.grams, one.mm)).collect()
    };
    assert_eq!(filaments(totals), [(0, None, Some(4034.3))]);
    assert_eq!(filaments(&both), [(0, Some(Amount(12_130)), Some(4034.3))]);
    assert_eq!(filaments(&format!("{both}; filament_type = PLA;PETG\n")), [], "of two nobody knows which");
}

#[test]
fn numbers_of_filaments_go_with_the_amounts_if_there_are_as_many() {
    let settings = "; filament_type = PLA;ABS;PETG;TPU\n; filament_colour = #000000;;#222222;\n\
        ; extruder_colour = #AAAAAA;#BBBBBB;#CCCCCC;#DDDDDD\n";
    let used = |numbers: &str| -> Vec<(u32, String, String)> {
        let text = format!("G28\n; filament: {numbers}\n; total filament weight [g] : 10.00,2.50\n{settings}");
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        plate(&text).filaments.iter().map(|one| (one.index, name(&one.kind), name(&one.color))).collect()
    };
    let tool = |index, kind: &str, color: &str| (index, kind.to_owned(), color.to_owned());
    assert_eq!(used("2,4"), [tool(1, "ABS", "#bbbbbb"), tool(3, "TPU", "#dddddd")]);
    assert_eq!(used("3,1"), [tool(2, "PETG", "#222222"), tool(0, "PLA", "#000000")]);
    assert_eq!(used("2,3,4"), [tool(0, "PLA", "#000000"), tool(1, "ABS", "#bbbbbb")], "they are of something else");
}

#[test]
fn what_is_no_colour_is_none() {
    use super::super::tools::colour;
    assert_eq!([colour("#FF8000"), colour("\"#ff8000cc\"")], [Some("#ff8000".to_owned()), Some("#ff8000".to_owned())]);
    for text in ["", "FF8000", "#FF800", "#FF80000", "#FF800G", "#gg800000"] {
        assert_eq!(colour(text), None, "{text}");
    }
}

#[test]
fn the_largest_picture_is_that_of_the_most_pixels() {
    let best = |blocks: &[(&str, usize)]| {
        let blocks = blocks.iter().map(|(size, bytes)| thumbnail_block("thumbnail", size, &png(*bytes)));
        metadata(&format!("{}G28\n", blocks.collect::<String>())).thumbnail.map(|best| (best.width, best.png.len()))
    };
    assert_eq!(best(&[("100x1", 100), ("20x20", 200)]), Some((20, 200)));
    assert_eq!(best(&[("20x20", 100), ("20x20", 200)]), Some((20, 100)), "the first of two");
    assert_eq!(best(&[("20x20", 60_000)]), Some((20, 60_000)));
    assert_eq!(best(&[("20x20", 100), ("999x999", 3_200_000)]), Some((20, 100)), "more than four million characters");
}
