//! G-code that draws the shape of a part, so that a picture drawn from the file's moves shows the part.
//!
//! The moves are the walls of each layer and the filled tops. The layers are as far apart as a picture allows rather
//! than as close as a printer needs, which keeps the files small. The comments are the same as those of the other
//! generators.

mod layers;
mod parts;

use std::fmt::Write as _;

use self::layers::{BedPoint, PrintLayer};
use super::facts::GcodeFacts;
use super::orca_gcode;
use super::package::package_of_filaments;
use super::tools::{MM_PER_GRAM, gcode_of_several};

/// Number of layers that a file marks, as the other generators do; the layers that are drawn are thinner.
const STATED_LAYERS: usize = 10;

/// Everyday part whose shape is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartShape {
    /// Open ring on a foot.
    CableClip,
    /// Two legs with a brace.
    ShelfBracket,
    /// Foot with a lip and a sloping rest.
    PhoneStand,
    /// Gear with 16 teeth of module 2 and a hub.
    Gear,
    /// Pot with eight sides and a rim.
    Planter,
    /// Plate with raised digits in a frame.
    HouseSign,
    /// Plate with raised letters in a second filament.
    NameBadge,
    /// Hook in the shape of a J.
    WallHook,
}

impl PartShape {
    /// All shapes.
    pub const ALL: [Self; 8] = [
        Self::CableClip,
        Self::ShelfBracket,
        Self::PhoneStand,
        Self::Gear,
        Self::Planter,
        Self::HouseSign,
        Self::NameBadge,
        Self::WallHook,
    ];
}

/// Copies of a part on the bed.
#[derive(Clone, Copy, Debug)]
pub struct PlateLayout {
    /// Shape of the part.
    pub shape: PartShape,
    /// Number of copies.
    pub copies: u32,
    /// Width and depth of the area for all copies, in millimetres.
    pub area: (f64, f64),
}

/// Generates G-code as [`gcode_of_several`] does, but with the moves of the given plate and without a thumbnail.
pub fn shaped_gcode(name: &str, seconds: u64, filaments: &[(f64, &str)], plate: &PlateLayout) -> String {
    with_shapes(&gcode_of_several(name, seconds, filaments), plate)
}

/// Builds a package as [`package_of_several`](super::package::package_of_several) does, but with the moves of the given
/// plate and without a thumbnail.
pub fn shaped_package(name: &str, seconds: u64, filaments: &[(f64, &str)], plate: &PlateLayout) -> Vec<u8> {
    let grams: f64 = filaments.iter().map(|(grams, _)| grams).sum();
    let code = orca_gcode(name, seconds, grams, grams * MM_PER_GRAM);
    package_of_filaments(&with_shapes(&code, plate), filaments)
}

/// Comments that a slicer uses to mark its moves.
struct MoveComments {
    layer: &'static str,
    feature: &'static str,
}

/// `PrusaSlicer` comments.
const PRUSA: MoveComments = MoveComments { layer: ";LAYER_CHANGE\n", feature: ";TYPE:External perimeter\n" };
/// `OrcaSlicer` comments.
const ORCA: MoveComments = MoveComments { layer: "; CHANGE_LAYER\n", feature: "; FEATURE: Outer wall\n" };
/// First command after the moves, in the files of all generators.
const END_OF_MOVES: &str = "M104 S0\n";

/// Replaces the moves in generated G-code with those of a plate, and removes the thumbnail.
fn with_shapes(code: &str, plate: &PlateLayout) -> String {
    let comments = if code.contains(ORCA.layer) { ORCA } else { PRUSA };
    let (before, after) = around(code, comments.layer, END_OF_MOVES);
    let (header, start) = around(before, "; thumbnail begin", "; thumbnail end\n\n");
    let start = start.trim_start_matches("; THUMBNAIL_BLOCK_END\n\n");
    let mut text = header.trim_end_matches("; THUMBNAIL_BLOCK_START\n").to_owned() + start;
    let layers = layers::layers(plate, &parts::slabs(plate.shape));
    push_layers(&mut text, &layers, GcodeFacts::read(code.as_bytes()).filament_mm, &comments);
    text + END_OF_MOVES + after
}

/// Returns the text before and after the part that begins and ends with the given markers; if the part does not exist,
/// all of the text comes before it.
fn around<'a>(text: &'a str, begin: &str, end: &str) -> (&'a str, &'a str) {
    let parts = text.split_once(begin).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    parts.unwrap_or((text, ""))
}

/// Appends the moves of all layers, whose extrusion adds up to `filament_mm`.
fn push_layers(text: &mut String, layers: &[PrintLayer], filament_mm: f64, comments: &MoveComments) {
    let lines = || layers.iter().flat_map(|layer| &layer.lines);
    let length: f64 = lines().map(|line| line.points.windows(2).map(move_length).sum::<f64>()).sum();
    let filament_per_mm = filament_mm / length.max(1.0);
    // A print with one tool does not select it.
    let mut tool = if lines().any(|line| line.tool > 0) { None } else { Some(0) };
    let mut stated = 0;
    for (number, layer) in layers.iter().enumerate() {
        if number * STATED_LAYERS >= stated * layers.len() {
            stated += 1;
            let _ = writeln!(text, "{};Z:{:.2}", comments.layer, layer.height);
        }
        let _ = write!(text, "G1 Z{:.2} F720\n{}", layer.height, comments.feature);
        for line in &layer.lines {
            if tool != Some(line.tool) {
                tool = Some(line.tool);
                let _ = writeln!(text, "T{}", line.tool);
            }
            push_line(text, &line.points, filament_per_mm);
        }
    }
}

/// Appends the moves along a line: one to its first point, and those that extrude.
fn push_line(text: &mut String, points: &[BedPoint], filament_per_mm: f64) {
    if let Some((x, y)) = points.first() {
        let _ = writeln!(text, "G1 X{x:.2} Y{y:.2} F9000");
    }
    let mut speed = " F1800";
    for step in points.windows(2) {
        if let [_, (x, y)] = step {
            let _ = writeln!(text, "G1 X{x:.2} Y{y:.2} E{:.4}{speed}", move_length(step) * filament_per_mm);
            speed = "";
        }
    }
}

/// Returns the distance between two successive points.
fn move_length(step: &[BedPoint]) -> f64 {
    if let [from, to] = step { (to.0 - from.0).hypot(to.1 - from.1) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILAMENTS: [(f64, &str); 2] = [(11.0, "#1b1b22"), (4.5, "#f4f1e6")];

    fn layout(shape: PartShape) -> PlateLayout {
        let is_large = matches!(shape, PartShape::Planter | PartShape::HouseSign);
        PlateLayout { shape, copies: 1, area: if is_large { (300.0, 240.0) } else { (80.0, 60.0) } }
    }

    /// Returns the length of filament that a move extrudes, in millimetres; `None` if it extrudes none.
    fn extrusion(line: &str) -> Option<f64> {
        line.split_whitespace().find_map(|word| word.strip_prefix('E')).and_then(|mm| mm.parse().ok())
    }

    #[test]
    fn each_layer_extrudes_and_all_of_them_the_stated_filament() {
        for shape in PartShape::ALL {
            let text = shaped_gcode("part", 90, &FILAMENTS, &layout(shape));
            for layer in text.split("G1 Z").skip(1) {
                assert!(layer.lines().any(|line| extrusion(line).is_some_and(|mm| mm > 0.0)), "{shape:?}: {layer}");
            }
            let moves = text.lines().filter(|line| line.starts_with("G1 "));
            let all: f64 = moves.filter_map(extrusion).inspect(|mm| assert!(*mm > 0.0, "{shape:?}")).sum();
            assert!((all - 15.5 * MM_PER_GRAM).abs() < 1.0, "{shape:?}: {all}");
        }
    }

    #[test]
    fn the_statements_are_those_of_the_other_generators() {
        let facts =
            |text: &str| GcodeFacts { thumbnails: Vec::new(), code: (0, 0), ..GcodeFacts::read(text.as_bytes()) };
        for shape in PartShape::ALL {
            let text = shaped_gcode("part", 90, &FILAMENTS, &layout(shape));
            assert_eq!(facts(&text), facts(&gcode_of_several("part", 90, &FILAMENTS)), "{shape:?}");
            let orca = orca_gcode("part", 90, 15.5, 15.5 * MM_PER_GRAM);
            let shaped = with_shapes(&orca, &layout(shape));
            assert_eq!(facts(&shaped), facts(&orca), "{shape:?}");
            for text in [text, shaped] {
                assert!(!text.to_ascii_lowercase().contains("thumbnail"), "{shape:?}");
                assert!(text.contains(END_OF_MOVES) && text.lines().all(|line| line.len() < 100), "{shape:?}");
            }
        }
    }

    #[test]
    fn letters_of_a_badge_are_printed_with_the_second_tool() {
        let text = shaped_gcode("badge", 90, &FILAMENTS, &layout(PartShape::NameBadge));
        let tools: Vec<&str> = text.lines().filter(|line| line.starts_with('T')).collect();
        assert_eq!(tools, ["T0", "T1"]);
        let hook = shaped_gcode("hook", 90, &FILAMENTS, &layout(PartShape::WallHook));
        assert!(hook.lines().all(|line| !line.starts_with('T')));
    }
}
