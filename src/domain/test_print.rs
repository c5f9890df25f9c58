//! G-code of a test print: a flat square of PLA in the middle of the bed, printed in a few minutes. It is intended as
//! the first print on a newly registered printer, and is not a test of print quality.

use std::fmt::Write as _;

use crate::sku::Dimensions;

/// Width of a printed line, in millimetres, for the usual 0.4 mm nozzle.
const LINE_WIDTH_MM: f64 = 0.4;
const LAYER_HEIGHT_MM: f64 = 0.2;
/// Length of 1.75 mm filament per millimetre of printed line, in millimetres.
const FILAMENT_PER_MM: f64 = 0.0333;
/// Side length of the square, in millimetres; shorter on a small bed.
const SIDE_MM: f64 = 20.0;
const LAYER_COUNT: u32 = 4;
/// Number of concentric squares per layer.
const RINGS_PER_LAYER: u32 = 5;
/// Coordinate of the centre, in millimetres, if the bed size is unknown; it is within every bed on the market.
const USUAL_MIDDLE_MM: f64 = 60.0;

/// Returns the G-code for a printer with the given build volume; if it is `None`, the print is placed near the corner
/// that every printer has.
pub fn gcode(room: Option<&Dimensions>) -> String {
    let (x, y) = room.map_or((USUAL_MIDDLE_MM, USUAL_MIDDLE_MM), |room| (room.x / 2.0, room.y / 2.0));
    let side = SIDE_MM.min(x).min(y);
    let mut text = String::from(
        "; Test print: a flat square of PLA\n\
         ; estimated printing time (normal mode) = 2m 0s\n\
         ; filament used [g] = 0.4\n\
         M140 S60 ; heat the bed and the nozzle\nM104 S200\nG28 ; find the corner\nM190 S60\nM109 S200\n\
         G90\nM83\nG92 E0\n",
    );
    for layer in 1..=LAYER_COUNT {
        let z = LAYER_HEIGHT_MM * f64::from(layer);
        let _ = writeln!(text, "G1 Z{z:.2} F600");
        for ring in 0..RINGS_PER_LAYER {
            let half = side / 2.0 - LINE_WIDTH_MM * f64::from(ring);
            if half <= LINE_WIDTH_MM {
                break;
            }
            let filament = half * 2.0 * FILAMENT_PER_MM;
            let _ = writeln!(text, "G1 X{:.2} Y{:.2} F6000", x - half, y - half);
            for (to_x, to_y) in [(half, -half), (half, half), (-half, half), (-half, -half)] {
                let _ = writeln!(text, "G1 X{:.2} Y{:.2} E{filament:.4} F1200", x + to_x, y + to_y);
            }
        }
    }
    let up = LAYER_HEIGHT_MM * f64::from(LAYER_COUNT) + 10.0;
    let _ = writeln!(text, "G1 E-2 F1800\nG1 Z{up:.2} F600 ; away from the part\nM104 S0\nM140 S0\nM84");
    text
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    fn places(text: &str) -> Vec<(f64, f64)> {
        let number = |line: &str, axis: char| {
            let word = line.split(' ').find_map(|word| word.strip_prefix(axis))?;
            Some(word.parse::<f64>().unwrap())
        };
        text.lines().filter_map(|line| Some((number(line, 'X')?, number(line, 'Y')?))).collect()
    }

    #[test]
    fn what_is_heated_is_switched_off_at_the_end() {
        let text = gcode(None);
        let last: Vec<&str> = text.lines().rev().take(3).collect();
        assert_eq!(last, ["M84", "M140 S0", "M104 S0"]);
        assert!(text.find("G28").unwrap() < text.find("G1 ").unwrap(), "first the corner is found");
        assert_eq!(text.matches("G1 Z").count(), 5);
    }

    proptest! {
        #[test]
        fn it_stays_on_the_bed(x in 20.0..1000.0_f64, y in 20.0..1000.0_f64) {
            let room = Dimensions { x, y, z: 200.0 };
            let all = places(&gcode(Some(&room)));
            prop_assert!(all.len() >= 20);
            for (at_x, at_y) in all {
                prop_assert!(at_x > 0.0 && at_x < x && at_y > 0.0 && at_y < y, "{at_x} {at_y}");
            }
        }
    }

    #[test]
    fn each_layer_is_five_squares_in_the_middle_of_the_bed() {
        let text = gcode(Some(&Dimensions { x: 100.0, y: 80.0, z: 90.0 }));
        let first = "G1 Z0.20 F600
G1 X40.00 Y30.00 F6000
G1 X60.00 Y30.00 E0.6660 F1200
G1 X60.00 Y50.00 E0.6660 F1200
G1 X40.00 Y50.00 E0.6660 F1200
G1 X40.00 Y30.00 E0.6660 F1200
G1 X40.40 Y30.40 F6000
G1 X59.60 Y30.40 E0.6394 F1200
";
        assert!(text.contains(first), "{text}");
        assert_eq!((places(&text).len(), text.matches("F6000").count()), (100, 20));
        assert!(text.contains("\nG1 Z0.80 F600\n") && text.contains("\nG1 E-2 F1800\nG1 Z10.80 F600 ;"), "{text}");
        let narrow = gcode(Some(&Dimensions { x: 6.0, y: 200.0, z: 90.0 }));
        assert_eq!(places(&narrow).len(), 60, "a square that is no wider than its lines is left out");
        assert!(narrow.contains("\nG1 X1.50 Y98.50 F6000\nG1 X4.50 Y98.50 E0.0999 F1200\n"), "{narrow}");
        assert_eq!(places(&gcode(None)).first().copied(), Some((50.0, 50.0)));
    }
}
