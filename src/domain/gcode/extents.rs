//! Size of a print, calculated from its moves, because slicers of the PrusaSlicer family do not state it.
//!
//! Only extruding moves are included, except those in the printer's own start and end sections (`;TYPE:Custom`), which
//! wipe and prime next to the print. For arcs, only the end points are included.

use crate::sku::Dimensions;

/// Maximum length of a line that is parsed, in bytes; longer lines, which occur in the settings at the end of a file,
/// contain nothing useful here.
const MAX_LINE_BYTES: usize = 512;
/// Tolerance, in millimetres, for prints that extend beyond the edge of the bed, because positions are rounded.
const TOLERANCE_MM: f64 = 0.1;
/// Largest plausible coordinate, in millimetres; larger ones are ignored.
const MAX_MM: f64 = 100_000.0;

/// Minimum and maximum coordinate along an axis, in millimetres.
type Range = [f64; 2];

const NONE: Range = [f64::INFINITY, f64::NEG_INFINITY];

/// Streaming tracker of the moves in G-code that arrives in chunks.
#[derive(Debug)]
pub struct Extents {
    line: Vec<u8>,
    position: [f64; 3],
    extruded: f64,
    relative: bool,
    relative_extruder: bool,
    /// `true` within the printer's own start and end sections.
    custom: bool,
    print: [Range; 3],
    bed: Option<[Range; 2]>,
}

impl Default for Extents {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            position: [0.0; 3],
            extruded: 0.0,
            relative: false,
            relative_extruder: false,
            custom: false,
            print: [NONE; 3],
            bed: None,
        }
    }
}

impl Extents {
    /// Reads the next bytes of the file.
    pub fn push(&mut self, mut chunk: &[u8]) {
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            self.take(&chunk[..end]);
            let line = std::mem::take(&mut self.line);
            if line.len() <= MAX_LINE_BYTES
                && let Ok(text) = std::str::from_utf8(&line)
            {
                self.read(text.trim());
            }
            chunk = &chunk[end + 1..];
        }
        self.take(chunk);
    }

    /// Appends bytes to the current line. One byte beyond the limit marks the line as too long.
    fn take(&mut self, bytes: &[u8]) {
        let room = (MAX_LINE_BYTES + 1).saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn read(&mut self, line: &str) {
        if let Some(comment) = line.strip_prefix(';') {
            return self.comment(comment.trim());
        }
        let mut words = line.split(';').next().unwrap_or_default().split_ascii_whitespace();
        match words.next() {
            Some("G0" | "G1" | "G2" | "G3") => self.go(words),
            Some("G90") => self.relative = false,
            Some("G91") => self.relative = true,
            Some("M82") => self.relative_extruder = false,
            Some("M83") => self.relative_extruder = true,
            Some("G92") => {
                for (axis, value) in words.filter_map(axis) {
                    *self.place(axis) = value;
                }
            }
            _ => {}
        }
    }

    fn comment(&mut self, text: &str) {
        if let Some(kind) = text.strip_prefix("TYPE:") {
            self.custom = kind == "Custom";
        } else if let Some(points) = text.strip_prefix("bed_shape =") {
            let mut bed = [NONE; 2];
            for point in points.split(',') {
                let Some((x, y)) = point.trim().split_once('x') else { return };
                let (Ok(x), Ok(y)) = (x.parse::<f64>(), y.parse::<f64>()) else { return };
                include(&mut bed[0], x);
                include(&mut bed[1], y);
            }
            self.bed = Some(bed);
        }
    }

    fn place(&mut self, axis: usize) -> &mut f64 {
        self.position.get_mut(axis).unwrap_or(&mut self.extruded)
    }

    fn go<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        let (from, extruded) = (self.position, self.extruded);
        for (axis, value) in words.filter_map(axis) {
            let relative = if axis == EXTRUDER_PLACE { self.relative || self.relative_extruder } else { self.relative };
            let place = self.place(axis);
            *place = if relative { *place + value } else { value };
        }
        let moved = (0..2).any(|axis| (from[axis] - self.position[axis]).abs() > f64::EPSILON);
        if self.extruded <= extruded || !moved || self.custom {
            return;
        }
        for position in [from, self.position] {
            for (range, value) in self.print.iter_mut().zip(position) {
                if value.abs() <= MAX_MM {
                    include(range, value);
                }
            }
        }
    }

    /// Returns the size of the print in millimetres, with the height measured from the bed; `None` if nothing is
    /// extruded.
    pub fn size(&self) -> Option<Dimensions> {
        let [x, y, z] = self.print;
        let round = |mm: f64| (mm * 100.0).round() / 100.0;
        let [wide, deep, high] = [x[1] - x[0], y[1] - y[0], z[1]].map(round);
        let all = [wide, deep, high].iter().all(|mm| mm.is_finite() && *mm > 0.0);
        all.then_some(Dimensions { x: wide, y: deep, z: high })
    }

    /// Describes the axes on which the print extends beyond the bed that is defined in the settings at the end of the
    /// file. Returns `None` if it stays within the bed, or if the settings define no bed.
    pub fn beyond_bed(&self) -> Option<String> {
        let bed = self.bed?;
        let axes = ['X', 'Y'].into_iter().zip(self.print).zip(bed);
        let beyond =
            axes.filter(|((_, print), bed)| print[0] < bed[0] - TOLERANCE_MM || print[1] > bed[1] + TOLERANCE_MM);
        let words: Vec<String> = beyond
            .map(|((axis, print), bed)| {
                format!(
                    "its {axis} ranges from {:.1} to {:.1} mm, but the bed of the profile from {:.1} to {:.1} mm",
                    print[0], print[1], bed[0], bed[1]
                )
            })
            .collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// Index of the extruder, after the three axes.
const EXTRUDER_PLACE: usize = 3;

/// Parses a G-code word such as `X12.5` into the axis index and the value.
fn axis(word: &str) -> Option<(usize, f64)> {
    let (letter, value) = word.split_at_checked(1)?;
    let axis = match letter {
        "X" => 0,
        "Y" => 1,
        "Z" => 2,
        "E" => EXTRUDER_PLACE,
        _ => return None,
    };
    Some((axis, value.parse::<f64>().ok().filter(|value| value.is_finite())?))
}

fn include(range: &mut Range, value: f64) {
    *range = [range[0].min(value), range[1].max(value)];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Extents {
        let mut whole = Extents::default();
        whole.push(text.as_bytes());
        let mut bytes = Extents::default();
        text.as_bytes().iter().for_each(|byte| bytes.push(std::slice::from_ref(byte)));
        assert_eq!((whole.size(), whole.beyond_bed()), (bytes.size(), bytes.beyond_bed()), "however it is cut");
        whole
    }

    const PRINT: &str = "G90\nM82\n;TYPE:Custom\nG1 X0 Y-3 Z0.2 E0\nG1 X100 Y-3 E9 ; prime\nG92 E0\n;TYPE:Perimeter\n\
        G1 X10 Y20\nG1 X30 E1\nG1 Y50 E2\nG1 E1\nG0 X150 Y150\nG1 Z5.4\nG1 X10 Y50 E0.5\nG1 X10.5 Y50 E1.5\n";

    #[test]
    fn what_is_extruded_beside_the_printers_own_commands_counts() {
        let extents = of(PRINT);
        assert_eq!(extents.size(), Some(Dimensions { x: 20.0, y: 30.0, z: 5.4 }));
        assert_eq!(extents.beyond_bed(), None, "no bed is named");
        assert_eq!(of("G28\nG1 X5 Y5\n").size(), None);
    }

    #[test]
    fn relative_moves_are_followed() {
        let extents = of("G91\nM83\nG1 X10 Y10 Z0.2\nG1 X5 E1\nG1 Y7 E1\nG1 Z1\nG1 X-5 E1\n");
        assert_eq!(extents.size(), Some(Dimensions { x: 5.0, y: 7.0, z: 1.2 }));
    }

    #[test]
    fn absolute_and_relative_positions_take_turns() {
        let square = Some(Dimensions { x: 5.0, y: 7.0, z: 0.2 });
        assert_eq!(of("M83\nG1 X10 Y10 Z0.2\nG1 X15 E1\nG1 Y17 E1\n").size(), square, "only the extruder is relative");
        assert_eq!(of("G91\nG90\nG1 X10 Y10 Z0.2\nG1 X15 E1\nG1 Y17 E2\n").size(), square);
        let shrinking = "M83\nM82\nG92 E5\nG1 X10 Y10 Z0.2\nG1 X15 E6\nG1 Y17 E7\nG1 X90 E1\n";
        assert_eq!(of(shrinking).size(), square, "the last move pulls the filament back");
    }

    #[test]
    fn what_is_extruded_in_place_or_in_a_line_that_is_too_long_is_passed_over() {
        let square = "G1 X10 Y10 Z0.2\nG1 X15 E1\nG1 Y17 E2\n";
        let size = of(square).size();
        assert_eq!(size, Some(Dimensions { x: 5.0, y: 7.0, z: 0.2 }));
        assert_eq!(of(&format!("{square}G0 X150 Y150 Z30\nG1 E5\n")).size(), size, "a drop that is primed");
        assert_eq!(of(&format!("{square}G1 X99 E9 ;{}\n", "x".repeat(600))).size(), size);
        assert_eq!(of("G1 X10 Y10 E1\n").size(), None, "nothing has no height");
    }

    #[test]
    fn a_print_may_leave_its_bed_by_a_tenth_of_a_millimetre_on_each_side() {
        let beyond = |shape: &str| of(&format!("{PRINT}; bed_shape = {shape}\n")).beyond_bed();
        assert_eq!(beyond("10.05x20.05,29.95x20.05,29.95x49.95,10.05x49.95"), None);
        let words = beyond("10.2x20,30x20,30x50,10.2x50").unwrap_or_default();
        assert!(words.starts_with("its X ranges from 10.0 to 30.0 mm") && !words.contains("its Y"), "{words}");
        let words = beyond("10x20.2,30x20.2,30x49.8,10x49.8").unwrap_or_default();
        assert!(words.starts_with("its Y ranges from 20.0 to 50.0 mm"), "{words}");
    }

    #[test]
    fn a_position_that_is_set_anew_is_followed() {
        let extents = of("G1 X10 Y10 Z0.2 E5\nG92 E0\nG1 X20 Y15 E1\n");
        assert_eq!(extents.size(), Some(Dimensions { x: 20.0, y: 15.0, z: 0.2 }));
    }

    #[test]
    fn a_print_that_leaves_its_bed_is_named_with_numbers() {
        let bed = |shape: &str| of(&format!("{PRINT}; bed_shape = {shape}\n")).beyond_bed();
        assert_eq!(bed("0x0,200x0,200x200,0x200"), None);
        let words = bed("0x0,25x0,25x200,0x200");
        assert_eq!(
            words.as_deref(),
            Some("its X ranges from 10.0 to 30.0 mm, but the bed of the profile from 0.0 to 25.0 mm")
        );
        assert_eq!(bed("nonsense"), None);
    }
}
