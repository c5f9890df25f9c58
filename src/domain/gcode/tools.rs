//! Collector for slicer comments about each tool (filament, colour and usage) and about the machine that the file was
//! sliced for.

use super::DetectedPlate;
use super::comment::{metres_each, numbers};
use crate::amount::Amount;
use crate::bounds::{filament_mm, grams, length_mm, nozzle_mm};
use crate::file::{MAX_FILAMENTS, Plate, PlateFilament};

/// Highest filament number; numbers start at 1.
const MAX_INDEX: usize = 1000;
/// Maximum length of a stored name or term from a slicer, in characters.
const MAX_WORD_CHARS: usize = 100;

/// Statements read so far; a later statement replaces an earlier one. Lists have one item per tool.
#[derive(Debug, Default)]
pub(super) struct ToolStatements {
    millimetres: Vec<f64>,
    grams: Vec<f64>,
    /// Numbers of the filaments that the lists cover, starting at 1, if the lists do not cover all filaments.
    used: Vec<u32>,
    kinds: Vec<String>,
    filament_colours: Vec<String>,
    extruder_colours: Vec<String>,
    nozzle: Option<f64>,
    /// Nozzle diameters from Cura's header, one statement each.
    trains: Vec<Option<f64>>,
    printer_model: Option<String>,
    bed_type: Option<String>,
    /// Maximum height of the print in millimetres.
    pub(super) height: Option<f64>,
}

impl ToolStatements {
    /// Reads a statement of a comment.
    pub(super) fn comment(&mut self, key: &str, value: &str) {
        match key {
            "filament used [mm]" | "total filament length [mm]" => replace(&mut self.millimetres, numbers(value)),
            "Filament used" => replace(&mut self.millimetres, metres_each(value)),
            "filament used [g]" | "total filament weight [g]" => replace(&mut self.grams, numbers(value)),
            "filament" => {
                self.used = value.split(',').take(MAX_FILAMENTS).filter_map(|text| text.trim().parse().ok()).collect();
            }
            "filament_type" => self.kinds = words(value),
            "filament_colour" => self.filament_colours = words(value),
            "extruder_colour" => self.extruder_colours = words(value),
            "nozzle_diameter" | "nozzle_diameters" => self.nozzle = one_nozzle(value).or(self.nozzle),
            "printer_model" | "TARGET_MACHINE.NAME" => self.printer_model = word(value).or(self.printer_model.take()),
            "curr_bed_type" | "BUILD_PLATE.TYPE" => self.bed_type = word(value).or(self.bed_type.take()),
            "max_z_height" => self.height = value.trim().parse().ok().and_then(length_mm),
            _ => {
                let nozzle = key.strip_prefix("EXTRUDER_TRAIN.").is_some_and(|rest| rest.ends_with(".NOZZLE.DIAMETER"));
                if nozzle && self.trains.len() < MAX_FILAMENTS {
                    self.trains.push(one_nozzle(value));
                }
            }
        }
    }

    /// Returns the colour of a tool's filament. Several slicers write a default colour for a tool that has no chosen
    /// colour, so the filament's colour takes precedence.
    fn colour(&self, tool: usize) -> Option<String> {
        let of = |colours: &[String]| colours.get(tool).and_then(|text| colour(text));
        of(&self.filament_colours).or_else(|| of(&self.extruder_colours))
    }

    /// Returns the filaments used, by index. `total_grams` and `total_mm` are the totals of the print, which are used
    /// for the filament if there is only one.
    fn filaments(&self, total_grams: Option<Amount>, total_mm: Option<f64>) -> Vec<PlateFilament> {
        let tools = self.millimetres.len().max(self.grams.len()).min(MAX_FILAMENTS);
        let index = |place: usize| match self.used.get(place) {
            Some(number) if self.used.len() == tools => (*number as usize).clamp(1, MAX_INDEX) - 1,
            _ => place,
        };
        let of = |place: usize| {
            let index = index(place);
            PlateFilament {
                index: index as u32,
                kind: self.kinds.get(index).and_then(|kind| word(kind)),
                color: self.colour(index),
                grams: self.grams.get(place).copied().and_then(grams),
                mm: self.millimetres.get(place).copied().and_then(filament_mm).filter(|mm| *mm > 0.0),
            }
        };
        let mut all: Vec<PlateFilament> =
            (0..tools).map(of).filter(|one| one.grams.is_some() || one.mm.is_some()).collect();
        if all.is_empty() && (total_grams.is_some() || total_mm.is_some()) && self.kinds.len() <= 1 {
            all.push(of(0));
        }
        if let [only] = all.as_mut_slice() {
            only.grams = only.grams.or(total_grams);
            only.mm = only.mm.or(total_mm);
        }
        all
    }

    /// Sets the weights, in grams, calculated from volumes and densities, if the slicer states none.
    pub(super) fn weigh(&mut self, weights: Option<Vec<f64>>) {
        if self.grams.iter().all(|grams| *grams <= 0.0) {
            replace(&mut self.grams, weights);
        }
    }

    /// Returns the nozzle diameter if all nozzles have the same one, otherwise `None`.
    fn nozzle(&self) -> Option<f64> {
        let first = self.trains.first().copied().flatten();
        self.nozzle.or(first.filter(|_| self.trains.iter().all(|nozzle| *nozzle == first)))
    }

    /// Builds the single plate of plain G-code; the caller adds the data that applies to the whole print.
    pub(super) fn plate(&self, total_grams: Option<Amount>, total_mm: Option<f64>) -> DetectedPlate {
        let plate = Plate {
            plate: 1,
            filaments: self.filaments(total_grams, total_mm),
            bed_type: self.bed_type.clone(),
            nozzle_diameter: self.nozzle(),
            printer_model: self.printer_model.clone(),
            ..Plate::default()
        };
        DetectedPlate { plate, thumbnail: None }
    }
}

/// Cleans a name or term: trims it and removes quotes and control characters. Returns `None` if nothing is left.
pub(super) fn word(text: &str) -> Option<String> {
    let clean: String =
        text.trim().trim_matches('"').chars().filter(|c| !c.is_control()).take(MAX_WORD_CHARS).collect();
    let clean = clean.trim().to_owned();
    (!clean.is_empty()).then_some(clean)
}

/// Parses a colour into `#rrggbb`; slicers also use `#RRGGBBAA`.
pub(super) fn colour(text: &str) -> Option<String> {
    let text = text.trim().trim_matches('"');
    let digits = text.strip_prefix('#')?;
    let valid = matches!(digits.len(), 6 | 8) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    valid.then(|| format!("#{}", digits[..6].to_ascii_lowercase()))
}

/// Splits a list at semicolons, or at commas if there is no semicolon.
fn words(text: &str) -> Vec<String> {
    let separator = if text.contains(';') { ';' } else { ',' };
    text.split(separator).take(MAX_FILAMENTS).map(|item| item.trim().trim_matches('"').to_owned()).collect()
}

/// Returns the nozzle diameter if all nozzles in a list have the same one, otherwise `None`.
pub(super) fn one_nozzle(text: &str) -> Option<f64> {
    let mut all = text.split([',', ';']).map(|item| item.trim().parse().ok().and_then(nozzle_mm));
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

fn replace(current: &mut Vec<f64>, new: Option<Vec<f64>>) {
    if let Some(mut new) = new {
        new.truncate(MAX_FILAMENTS);
        *current = new;
    }
}
