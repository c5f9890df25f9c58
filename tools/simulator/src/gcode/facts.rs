//! Reader of the metadata in the comments of a G-code file, in the dialects of `PrusaSlicer`, `OrcaSlicer`/Bambu Studio
//! and Cura.
//!
//! It covers only the metadata that a printer host shows or that a virtual print needs. Missing values are `None`,
//! except for the print time, which always has a value.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::package::{first_code, is_package};

/// Metadata from the comments in one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GcodeFacts {
    /// Name of the slicer, such as `PrusaSlicer`.
    pub slicer: Option<String>,
    /// Version of the slicer, such as `2.9.4`.
    pub slicer_version: Option<String>,
    /// Print time in seconds: the slicer's estimate or, if there is none, an approximation based on moves and dwells.
    pub seconds: f64,
    /// `true` if `seconds` is the slicer's own estimate.
    pub estimated: bool,
    /// Total filament for all extruders, in millimetres.
    pub filament_mm: f64,
    /// `true` if the file states its filament consumption.
    pub filament_known: bool,
    /// Tools used by the print, numbered from 0, as indicated by the filament stated for each; only the first tool if
    /// nothing is stated.
    pub tools: Vec<u32>,
    /// Total filament for all extruders, in grams.
    pub filament_g: Option<f64>,
    /// Volume of filament in cubic centimetres.
    pub filament_cm3: Option<f64>,
    /// Type of the filament, such as `PLA`.
    pub filament_type: Option<String>,
    /// Layer height in millimetres.
    pub layer_height: Option<f64>,
    /// First layer height in millimetres.
    pub first_layer_height: Option<f64>,
    /// Nozzle diameter in millimetres.
    pub nozzle_diameter: Option<f64>,
    /// Number of layers, if stated in a comment.
    pub layers: Option<u64>,
    /// Nozzle temperature for the first layer, in °C.
    pub nozzle_temp: f64,
    /// Bed temperature for the first layer, in °C.
    pub bed_temp: f64,
    /// Embedded images, in file order.
    pub thumbnails: Vec<EmbeddedThumbnail>,
    /// Byte range from the first line of G-code to the end of the last; empty if there is no G-code.
    pub code: (u64, u64),
}

/// Image embedded in a file's comments.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedThumbnail {
    /// Width of the image in pixels.
    pub width: u32,
    /// Height of the image in pixels.
    pub height: u32,
    /// Contents of the PNG file.
    pub png: Vec<u8>,
}

impl GcodeFacts {
    /// Reads the metadata of a file, or of a package's first plate. Never fails; unreadable values are omitted.
    pub fn read(file: &[u8]) -> Self {
        if is_package(file) {
            return Self::read(&first_code(file).unwrap_or_default());
        }
        let mut facts = Self { nozzle_temp: 210.0, bed_temp: 60.0, tools: vec![0], ..Self::default() };
        let mut motion = 0.0;
        let mut layer_marks = 0;
        let mut picture: Option<(u32, u32, String)> = None;
        let mut next = 0;
        for line in file.split(|byte| *byte == b'\n') {
            let from = next;
            next += line.len() as u64 + 1;
            let Ok(line) = std::str::from_utf8(line) else {
                continue;
            };
            let line = line.trim();
            let Some(comment) = line.strip_prefix(';') else {
                motion += motion_seconds(line);
                if !line.is_empty() {
                    let begin = if facts.code == (0, 0) { from } else { facts.code.0 };
                    facts.code = (begin, from + line.len() as u64);
                }
                continue;
            };
            let comment = comment.trim();
            if comment == "LAYER_CHANGE" || comment == "CHANGE_LAYER" || (comment.starts_with("LAYER:")) {
                layer_marks += 1;
            } else if let Some(size) = comment.strip_prefix("thumbnail begin ") {
                picture = thumbnail_size(size).map(|(w, h)| (w, h, String::new()));
            } else if comment == "thumbnail end" {
                if let Some((width, height, text)) = picture.take()
                    && let Ok(png) = STANDARD.decode(text)
                {
                    facts.thumbnails.push(EmbeddedThumbnail { width, height, png });
                }
            } else if let Some((_, _, text)) = &mut picture {
                text.push_str(comment);
            } else {
                facts.comment(comment);
            }
        }
        if facts.layers.is_none() && layer_marks > 0 {
            facts.layers = Some(layer_marks);
        }
        if !facts.estimated {
            // Nothing better is known: a guess from the moves, long enough to be seen printing.
            facts.seconds = f64::max(10.0, motion);
        }
        if !facts.filament_known {
            facts.filament_mm = facts.seconds * 2.5;
        }
        facts
    }

    fn comment(&mut self, comment: &str) {
        if let Some(program) = comment.strip_prefix("generated by ") {
            let mut words = program.split_whitespace();
            self.slicer = words.next().map(str::to_owned);
            self.slicer_version = words.next().map(str::to_owned);
            return;
        }
        if let Some(program) = comment.strip_prefix("Generated with ") {
            let mut words = program.split_whitespace();
            self.slicer = words.next().map(|word| word.trim_end_matches("_SteamEngine").to_owned());
            self.slicer_version = words.next().map(str::to_owned);
            return;
        }
        // Bambu Studio writes two statements into one comment.
        if comment.starts_with("model printing time:") {
            if let Some(time) = comment.split("total estimated time:").nth(1).and_then(parse_duration) {
                self.time(time);
            }
            return;
        }
        let Some((key, value)) = split_statement(comment) else {
            return;
        };
        match key {
            "estimated printing time (normal mode)" => {
                if let Some(time) = parse_duration(value) {
                    self.time(time);
                }
            }
            // Cura's placeholder is 6666; its real totals, if there are any, come later in the file.
            "TIME" | "PRINT.TIME" => {
                if let Ok(time) = value.parse::<f64>() {
                    self.time(time);
                }
            }
            "filament used [mm]" | "total filament length [mm]" => {
                let used =
                    (0..).zip(value.split(',')).filter(|(_, mm)| mm.trim().parse::<f64>().is_ok_and(|mm| mm > 0.0));
                let tools: Vec<u32> = used.map(|(tool, _)| tool).collect();
                if !tools.is_empty() {
                    self.tools = tools;
                }
                self.length(sum(value));
            }
            "Filament used" => {
                self.length(sum(&value.replace('m', "")).map(|metres| metres * 1000.0));
            }
            "filament used [g]" | "total filament weight [g]" => {
                self.filament_g = sum(value).or(self.filament_g);
            }
            "total filament used [g]" => self.filament_g = self.filament_g.or(sum(value)),
            "filament used [cm3]" => self.filament_cm3 = sum(value).or(self.filament_cm3),
            "filament_type" => {
                self.filament_type = Some(value.split([';', ',']).next().unwrap_or(value).trim().to_owned());
            }
            "layer_height" | "Layer height" => {
                self.layer_height = first(value).or(self.layer_height);
            }
            "first_layer_height" | "initial_layer_print_height" => {
                self.first_layer_height = first(value).or(self.first_layer_height);
            }
            "nozzle_diameter" => self.nozzle_diameter = first(value).or(self.nozzle_diameter),
            "total layers count" | "total layer number" | "LAYER_COUNT" => {
                self.layers = value.parse().ok().or(self.layers);
            }
            "first_layer_temperature" | "nozzle_temperature_initial_layer" => {
                self.nozzle_temp = first(value).unwrap_or(self.nozzle_temp);
            }
            "first_layer_bed_temperature" | "hot_plate_temp_initial_layer" => {
                self.bed_temp = first(value).unwrap_or(self.bed_temp);
            }
            _ => {}
        }
    }

    fn time(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.seconds = seconds;
            self.estimated = true;
        }
    }

    fn length(&mut self, mm: Option<f64>) {
        if let Some(mm) = mm.filter(|mm| *mm > 0.0) {
            self.filament_mm = mm;
            self.filament_known = true;
        }
    }
}

/// Splits `key = value` or `key: value` at whichever separator comes first.
fn split_statement(comment: &str) -> Option<(&str, &str)> {
    let at = comment.find(['=', ':'])?;
    Some((comment[..at].trim(), comment[at + 1..].trim()))
}

/// Adds up a comma-separated list with one number per extruder.
fn sum(list: &str) -> Option<f64> {
    let numbers: Vec<f64> = list.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum())
}

fn first(list: &str) -> Option<f64> {
    list.split([',', ';']).next()?.trim().parse().ok()
}

/// Parses a duration of the form `1d 2h 3m 4s`, in which units may be missing or fractional, into seconds.
pub fn parse_duration(text: &str) -> Option<f64> {
    let mut seconds = 0.0;
    let mut has_parts = false;
    for part in text.split_whitespace() {
        let part = part.trim_end_matches(';');
        let unit = match part.chars().last()? {
            'd' => 86_400.0,
            'h' => 3_600.0,
            'm' => 60.0,
            's' => 1.0,
            _ => return None,
        };
        seconds += part[..part.len() - 1].parse::<f64>().ok()? * unit;
        has_parts = true;
    }
    has_parts.then_some(seconds)
}

/// Parses width and height in pixels from text of the form `16x16 1234`.
fn thumbnail_size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_whitespace().next()?.split_once('x')?;
    Some((width.parse().ok()?, height.parse().ok()?))
}

/// Estimates the duration, in seconds, of a line of G-code: dwells as stated, and 1/20 s for each move.
fn motion_seconds(line: &str) -> f64 {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("G0" | "G1" | "G2" | "G3") => 0.05,
        Some("G4") => words.fold(0.0, |total, word| match word.as_bytes().first() {
            Some(b'P') => total + word[1..].parse::<f64>().unwrap_or(0.0) / 1000.0,
            Some(b'S') => total + word[1..].parse::<f64>().unwrap_or(0.0),
            _ => total,
        }),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::float_cmp, reason = "tests")]
    use super::*;
    use crate::gcode::{duration_text, gcode, orca_gcode, sample_png};

    #[test]
    fn reads_back_what_the_prusa_style_generator_wrote() {
        let facts = GcodeFacts::read(gcode("part", 93_784, 5.17, 1732.99).as_bytes());
        assert_eq!(facts.slicer.as_deref(), Some("PrusaSlicer"));
        assert_eq!(facts.slicer_version.as_deref(), Some("2.9.4"));
        assert_eq!((facts.seconds, facts.estimated), (93_784.0, true));
        assert_eq!((facts.filament_mm, facts.filament_g), (1732.99, Some(5.17)));
        assert_eq!((facts.nozzle_temp, facts.bed_temp), (215.0, 60.0));
        assert_eq!(facts.layers, Some(10));
        assert_eq!(facts.thumbnails.len(), 1);
        assert_eq!(facts.thumbnails[0].png, sample_png());
        assert!(sample_png().starts_with(b"\x89PNG"));
    }

    #[test]
    fn reads_back_what_the_orca_style_generator_wrote() {
        let facts = GcodeFacts::read(orca_gcode("part", 399, 12.5, 4000.0).as_bytes());
        assert_eq!(facts.slicer.as_deref(), Some("OrcaSlicer"));
        assert_eq!((facts.seconds, facts.filament_g, facts.filament_mm), (399.0, Some(12.5), 4000.0));
        assert_eq!((facts.nozzle_temp, facts.bed_temp), (240.0, 80.0));
        assert_eq!(facts.filament_type.as_deref(), Some("PETG"));
    }

    #[test]
    fn understands_bambu_and_cura() {
        let bambu = GcodeFacts::read(b"; model printing time: 5m 2s; total estimated time: 11m 15s\n; total filament weight [g] : 3.40\n; total filament length [mm] : 1100.5\n");
        assert_eq!((bambu.seconds, bambu.filament_g, bambu.filament_mm), (675.0, Some(3.4), 1100.5));
        let cura = GcodeFacts::read(
            b";FLAVOR:Marlin\n;TIME:1234\n;Filament used: 1.5m, 0.5m\n;Layer height: 0.2\n;LAYER_COUNT:7\n",
        );
        assert_eq!((cura.seconds, cura.filament_mm, cura.layers), (1234.0, 2000.0, Some(7)));
    }

    #[test]
    fn guesses_from_moves_and_dwells_when_the_file_says_nothing() {
        assert_eq!(GcodeFacts::read(b"G28\n").seconds, 10.0);
        let dwelling = GcodeFacts::read(b"G4 P40000\nG4 S20\n");
        assert_eq!((dwelling.seconds, dwelling.estimated), (60.0, false));
    }

    #[test]
    fn durations_survive_writing_and_reading() {
        for seconds in [0, 45, 60, 827, 7205, 86_403] {
            assert_eq!(parse_duration(&duration_text(seconds)).unwrap(), seconds as f64);
        }
        assert_eq!(duration_text(7205), "2h 0m 5s");
        assert_eq!(parse_duration("soon"), None);
    }
}
