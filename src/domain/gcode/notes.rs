//! Collector for print metadata from slicer comments: PrusaSlicer and its relatives (SuperSlicer, OrcaSlicer, Bambu
//! Studio), Cura, Simplify3D, ideaMaker and KISSlicer.

use super::comment::{key_and_value, metres, number, numbers, time};
use super::others::{self, OtherSlicerStatements};
use super::thumbnail::{Thumbnail, Thumbnails};
use super::tools::ToolStatements;
use super::{DetectedPlate, Metadata};
use crate::amount::Amount;
use crate::bounds::{self, MAX_LAYERS, filament_mm, length_mm, print_seconds};
use crate::sku::Dimensions;

/// Placeholder print time that `CuraEngine -o` writes into the header before the real time is known; the filament
/// length is then 0 as well.
const CURA_PLACEHOLDER: i64 = 6666;

/// Statements read so far, with fields named after the text that introduces them; a later statement replaces an earlier
/// one.
#[derive(Debug, Default)]
pub(super) struct CommentStatements {
    thumbnails: Thumbnails,
    slicer: Option<String>,
    /// Value of `estimated printing time (normal mode)`, in seconds.
    normal: Option<i64>,
    /// Value of Bambu Studio's `total estimated time`, in seconds, which includes heating and calibration.
    total: Option<i64>,
    /// Print time from Cura's header, in seconds.
    cura: Option<i64>,
    /// Elapsed time that Cura writes after each layer, in seconds; the last value is the print time.
    elapsed: Option<i64>,
    millimetres: Option<f64>,
    cura_millimetres: Option<f64>,
    cubic_centimetres: Option<Vec<f64>>,
    grams: Option<f64>,
    total_grams: Option<f64>,
    /// Filament density per extruder, in g/cm³, from the embedded settings.
    densities: Option<Vec<f64>>,
    layers: Option<u32>,
    /// Statements from Simplify3D, ideaMaker and KISSlicer.
    others: OtherSlicerStatements,
    /// Statements about each tool, and about the machine that the file was sliced for.
    tools: ToolStatements,
    /// Cura's extents: the minimum and maximum coordinate of each axis, in millimetres.
    extents: [[Option<f64>; 2]; 3],
}

impl CommentStatements {
    /// Reads a comment line, without the leading `;`.
    pub(super) fn comment(&mut self, text: &str) {
        if self.thumbnails.take(text) || self.name(text) {
            return;
        }
        let Some((key, value)) = key_and_value(text) else {
            return;
        };
        self.tools.comment(key, value);
        let sum = || numbers(value).map(|all| all.iter().sum::<f64>());
        match key {
            "estimated printing time (normal mode)" | "estimated printing time" => {
                replace(&mut self.normal, time(value));
            }
            "model printing time" => {
                // One line has both: `model printing time: 24m 36s; total estimated time: 31m 2s`.
                let (model, total) = value.split_once(';').unwrap_or((value, ""));
                let total = total.trim().strip_prefix("total estimated time:").and_then(time);
                replace(&mut self.total, total.or_else(|| time(model)));
            }
            "total estimated time" => replace(&mut self.total, time(value)),
            "TIME" | "PRINT.TIME" => replace(&mut self.cura, number(value).and_then(print_seconds)),
            "TIME_ELAPSED" => replace(&mut self.elapsed, number(value).and_then(print_seconds)),
            "filament used [mm]" | "total filament length [mm]" => replace(&mut self.millimetres, sum()),
            "filament used [cm3]" | "total filament volume [cm^3]" => {
                replace(&mut self.cubic_centimetres, numbers(value));
            }
            "filament used [g]" | "total filament weight [g]" => replace(&mut self.grams, sum()),
            "total filament used [g]" => replace(&mut self.total_grams, sum()),
            "filament_density" => replace(&mut self.densities, numbers(value)),
            "LAYER_COUNT" | "total layer number" | "total layers count" => {
                let layers = value.trim().parse::<u32>().ok().filter(|layers| *layers <= MAX_LAYERS);
                replace(&mut self.layers, layers);
            }
            "MINX" | "MINY" | "MINZ" | "MAXX" | "MAXY" | "MAXZ" => self.extent(key, value),
            "Filament used" => replace(&mut self.cura_millimetres, metres(value)),
            _ => self.others.comment(key, value),
        }
    }

    fn extent(&mut self, key: &str, value: &str) {
        let Some(axis) = ["X", "Y", "Z"].iter().position(|axis| key.ends_with(axis)) else { return };
        let end = usize::from(key.starts_with("MAX"));
        // Before it has sliced, Cura writes the limits of its number type.
        let number = value.trim().parse().ok().filter(|number: &f64| number.abs() < 1e6);
        replace(&mut self.extents[axis][end], number);
    }

    fn size(&self) -> Option<Dimensions> {
        let [x, y, z] = self.extents.map(|[least, most]| Some(most? - least?).filter(|length| *length > 0.0));
        Some(Dimensions { x: length_mm(x?)?, y: length_mm(y?)?, z: length_mm(z?)? })
    }

    /// Stores a thumbnail if it is a PNG and the largest so far.
    pub(super) fn picture(&mut self, picture: Thumbnail) {
        self.thumbnails.offer(picture);
    }

    /// Reads the line that names the slicer.
    fn name(&mut self, text: &str) -> bool {
        let named = if let Some(rest) = text.strip_prefix("generated by ") {
            rest.split(" on ").next().map(str::to_owned)
        } else if let Some(rest) = text.strip_prefix("Generated with Cura_SteamEngine ") {
            Some(format!("Cura {rest}"))
        } else if let Some(version) = text.strip_prefix("BambuStudio ") {
            Some(format!("Bambu Studio {version}"))
        } else {
            others::name(text)
        };
        let Some(named) = named else { return false };
        // The first line wins: files that went through a second program name the slicer first.
        self.slicer.get_or_insert(named.trim().chars().take(100).collect());
        true
    }

    /// Returns the maximum height of the print in millimetres, if the slicer states it.
    pub(super) fn height(&self) -> Option<f64> {
        self.tools.height
    }

    /// Returns the metadata derived from the statements, and the single plate of plain G-code.
    pub(super) fn into_parts(mut self) -> (Metadata, DetectedPlate) {
        let mut tools = std::mem::take(&mut self.tools);
        tools.weigh(self.weights());
        let metadata = self.metadata();
        let mut found_plate = tools.plate(metadata.grams, metadata.filament_mm);
        (found_plate.plate.seconds, found_plate.plate.dimensions) = (metadata.seconds, metadata.size);
        (metadata, found_plate)
    }

    /// Returns the metadata derived from the statements.
    fn metadata(self) -> Metadata {
        let cura_is_placeholder =
            self.cura == Some(CURA_PLACEHOLDER) && self.cura_millimetres.is_none_or(|length| length <= 0.0);
        let cura = self.cura.filter(|_| !cura_is_placeholder).or(self.elapsed);
        let (grams, size) = (self.weight(), self.size());
        let millimetres = self.millimetres.or(self.cura_millimetres).or(self.others.millimetres());
        Metadata {
            slicer: self.slicer,
            seconds: self.total.or(self.normal).or(cura).or(self.others.seconds),
            grams,
            filament_mm: millimetres.and_then(filament_mm).filter(|length| *length > 0.0),
            layers: self.layers,
            size,
            thumbnail: self.thumbnails.into_best(),
        }
    }

    /// Returns the total weight. A slicer that does not know the density omits the weight, or writes 0 for a print that
    /// uses filament; in that case, the weight is the volume multiplied by the density in the embedded settings, if
    /// any.
    fn weight(&self) -> Option<Amount> {
        let stated =
            [self.total_grams, self.grams, self.others.grams()].into_iter().flatten().find(|grams| *grams > 0.0);
        let weights = || Some(self.weights()?.into_iter().sum::<f64>()).filter(|grams| *grams > 0.0);
        bounds::grams(stated.or_else(weights)?)
    }

    /// Returns the weight of each extruder's filament, in grams, from its volume and density. Returns `None` if any of
    /// these is unknown.
    fn weights(&self) -> Option<Vec<f64>> {
        let densities = self.densities.as_ref()?;
        let volumes = self.cubic_centimetres.as_ref()?.iter().enumerate();
        volumes
            .map(|(extruder, volume)| {
                if *volume <= 0.0 {
                    return Some(0.0);
                }
                let density = densities.get(extruder).or(densities.last().filter(|_| densities.len() == 1));
                density.filter(|density| **density > 0.0).map(|density| volume * density)
            })
            .collect()
    }
}

/// Replaces a value, unless the new statement could not be parsed.
fn replace<T>(current: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *current = new;
    }
}
