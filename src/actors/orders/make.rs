//! Determines a SKU's production data from the SKU, its G-code file and its material.

use std::collections::{BTreeMap, BTreeSet};

use domain::amount::Amount;
use domain::file::{File, FileMetadata, Plate, PlateFilament};
use domain::id::Id;
use domain::launch::{MaterialNeed, SlicingTarget, UsedFilament};
use domain::material::Material;
use domain::order::ProductionData;
use domain::sku::{Sku, SkuFields};
use kernel::directory::Directory;
use store::rows::LoadError;

/// Directories that provide production data for SKUs.
#[derive(Clone)]
pub struct ProductionSources {
    /// SKUs, which reference the files and materials.
    pub skus: Directory<Sku>,
    /// G-code files, whose metadata takes precedence over the SKU's estimates.
    pub files: Directory<File>,
    /// Materials, whose unit determines whether the weights in grams in a file apply.
    pub materials: Directory<Material>,
}

impl ProductionSources {
    /// Returns the SKU's current production data; `None` for a kit.
    pub async fn make(&self, sku: &Sku) -> Result<Option<ProductionData>, LoadError> {
        self.make_of(&sku.fields).await
    }

    /// Returns the SKU's production data after its model has been sliced into the given file. The print size is taken
    /// from the G-code.
    pub async fn sliced(&self, sku: &Sku, file: Id) -> Result<Option<ProductionData>, LoadError> {
        let fields = SkuFields { gcode_file_id: Some(file), plate: 1, ..sku.fields.clone() };
        let Some(mut make) = self.make_of(&fields).await? else { return Ok(None) };
        let state = self.files.read(file).await?;
        let size = state.as_ref().and_then(|state| state.state.as_ref()?.metadata.size);
        make.dimensions = size.or(make.dimensions);
        Ok(Some(make))
    }

    async fn make_of(&self, fields: &SkuFields) -> Result<Option<ProductionData>, LoadError> {
        let Some(material_id) = fields.material_id else { return Ok(None) };
        let state = match fields.gcode_file_id {
            Some(id) => self.files.read(id).await?,
            None => None,
        };
        let metadata = state.as_ref().and_then(|state| state.state.as_ref()).map(|file| &file.metadata);
        let plate = metadata.and_then(|metadata| metadata.plate(fields.plate));
        let mut grams_of = BTreeSet::new();
        for material in std::iter::once(material_id).chain(fields.materials.iter().map(|one| one.material_id)) {
            if self.in_grams(material).await? {
                grams_of.insert(material);
            }
        }
        let mut needs = needs(fields, material_id, metadata, |material| grams_of.contains(&material));
        let first = needs.remove(&material_id).unwrap_or(fields.estimated_consumption);
        let further = needs.into_iter().map(|(material_id, need)| MaterialNeed { material_id, need }).collect();
        let sliced_for = SlicingTarget {
            plate: fields.plate,
            nozzle_diameter: plate.and_then(|plate| plate.nozzle_diameter),
            bed_type: plate.and_then(|plate| plate.bed_type.clone()),
            printer_model: plate.and_then(|plate| plate.printer_model.clone()),
            filaments: filaments(fields, material_id, plate),
        };
        // What the whole file says is about its first plate.
        let whole = metadata.filter(|_| fields.plate == 1);
        let seconds = plate.and_then(|plate| plate.seconds).or(whole.and_then(|metadata| metadata.seconds));
        let filament_mm = plate.and_then(Plate::filament_mm).or(whole.and_then(|metadata| metadata.filament_mm));
        Ok(Some(ProductionData {
            units_per_plate: fields.units_per_plate,
            material_id,
            need: first,
            further,
            machine_type: fields.machine_type,
            dimensions: fields.dimensions.or(plate.and_then(|plate| plate.dimensions)),
            file_id: fields.gcode_file_id,
            source: fields.source(),
            file_form: metadata.and_then(|metadata| metadata.form).unwrap_or_default(),
            sliced_for,
            file_filament_mm: filament_mm,
            estimated_seconds: seconds.or(fields.estimated_seconds),
        }))
    }

    /// Returns whether the material is measured in grams. The weights in G-code files do not apply to materials
    /// measured in sheets or millilitres.
    async fn in_grams(&self, material: Id) -> Result<bool, LoadError> {
        let material = self.materials.read(material).await?;
        let kind = material.as_ref().and_then(|state| state.state.as_ref()).map(|material| material.fields.kind);
        Ok(kind.is_some_and(|kind| kind.unit() == "g"))
    }
}

/// Returns the filaments that the plate uses, each with its material. Filaments to which the SKU assigns no material
/// use its first material.
fn filaments(fields: &SkuFields, material_id: Id, plate: Option<&Plate>) -> Vec<UsedFilament> {
    let stated = plate.map(|plate| plate.filaments.iter().map(|one| one.index)).into_iter().flatten();
    let mut used: BTreeSet<u32> = stated.collect();
    if used.is_empty() {
        used.insert(0);
        used.extend(fields.materials.iter().map(|one| one.filament));
    }
    let of = |filament| {
        fields.materials.iter().find(|one| one.filament == filament).map_or(material_id, |one| one.material_id)
    };
    let grams = |filament| plate.and_then(|plate| plate.filaments.iter().find(|one| one.index == filament)?.grams);
    let one = |filament| UsedFilament { filament, material_id: of(filament), grams: grams(filament) };
    used.into_iter().map(one).collect()
}

/// Returns the amount of each material that one plate consumes: the file's amount for the filaments if the material is
/// measured in grams, otherwise the SKU's estimate. Filaments to which the SKU assigns no material use its first
/// material. Amounts of the same material are added up.
fn needs(
    fields: &SkuFields,
    material_id: Id,
    metadata: Option<&FileMetadata>,
    in_grams: impl Fn(Id) -> bool,
) -> BTreeMap<Id, Amount> {
    let plate = metadata.and_then(|metadata| metadata.plate(fields.plate));
    let stated = |filament: u32| {
        let of_it = |one: &&PlateFilament| one.index == filament;
        plate.and_then(|plate| plate.filaments.iter().find(of_it)?.grams).filter(|grams| grams.0 > 0)
    };
    let assigned = |filament: u32| fields.materials.iter().any(|one| one.filament == filament);
    let first = if !in_grams(material_id) {
        None
    } else if fields.materials.is_empty() {
        let whole = metadata.filter(|_| fields.plate == 1).and_then(|metadata| metadata.grams);
        whole.or(plate.and_then(Plate::grams)).filter(|grams| grams.0 > 0)
    } else {
        let own = plate.map(|plate| plate.filaments.iter().filter(|one| !assigned(one.index)));
        own.and_then(|own| own.map(|one| one.grams).sum::<Option<Amount>>()).filter(|grams| grams.0 > 0)
    };
    let mut needs = BTreeMap::from([(material_id, first.unwrap_or(fields.estimated_consumption))]);
    for one in &fields.materials {
        let stated = stated(one.filament).filter(|_| in_grams(one.material_id));
        *needs.entry(one.material_id).or_default() += stated.unwrap_or(one.estimated_consumption);
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::sku::SkuMaterial;
    use domain::testing::id;
    use store::rows::samples::sku;

    fn file(filaments: &[(u32, i64)]) -> FileMetadata {
        let filament = |(index, grams): &(u32, i64)| PlateFilament {
            index: *index,
            grams: Some(Amount::units(*grams)),
            ..PlateFilament::default()
        };
        let plate = Plate { plate: 2, filaments: filaments.iter().map(filament).collect(), ..Plate::default() };
        FileMetadata { grams: Some(Amount::units(99)), plates: vec![plate], ..FileMetadata::default() }
    }

    #[test]
    fn each_filament_is_of_its_material_and_the_rest_of_the_first() {
        let mut fields = sku(1, "A").fields;
        let [first, second] = [id(1), id(2)];
        fields.plate = 2;
        let metadata = file(&[(0, 10), (1, 3), (2, 4), (3, 1)]);
        let of = |fields: &SkuFields, grams: bool| {
            needs(fields, first, Some(&metadata), |_| grams)
                .into_iter()
                .map(|(id, need)| (id, need.0 / 1000))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&fields, true), [(first, 18)], "one material for all filaments");
        let further =
            |material_id, filament| SkuMaterial { material_id, estimated_consumption: Amount::units(7), filament };
        fields.materials = vec![further(second, 1), further(first, 2), further(second, 3), further(second, 9)];
        // Filament 9 is not in the file: the estimate.
        assert_eq!(of(&fields, true), [(first, 14), (second, 3 + 1 + 7)]);
        assert_eq!(of(&fields, false), [(first, 12 + 7), (second, 21)], "estimates, where grams say nothing");
    }

    #[test]
    fn filaments_that_nobody_assigns_are_of_the_first_material() {
        let mut fields = sku(1, "A").fields;
        let [first, second] = [id(1), id(2)];
        fields.plate = 2;
        fields.materials =
            vec![SkuMaterial { material_id: second, estimated_consumption: Amount::units(1), filament: 3 }];
        let of = |plate: Option<&Plate>| -> Vec<(u32, Id)> {
            filaments(&fields, first, plate).into_iter().map(|used| (used.filament, used.material_id)).collect()
        };
        let metadata = file(&[(1, 5), (3, 5)]);
        assert_eq!(of(metadata.plate(2)), [(1, first), (3, second)], "only those that the plate uses");
        assert_eq!(of(None), [(0, first), (3, second)], "as the SKU says");
    }
}
