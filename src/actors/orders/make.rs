//! Reads what a SKU is made from and with, from the SKU, its G-code file and its material.

use crate::actors::kernel::directory::Directory;
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::material::Material;
use crate::domain::order::Make;
use crate::domain::sku::Sku;
use crate::store::rows::LoadError;

/// Where it is read.
#[derive(Clone)]
pub struct MakeSources {
    /// SKUs, which name the rest.
    pub skus: Directory<Sku>,
    /// G-code files, whose own words win over the SKU's estimates.
    pub files: Directory<File>,
    /// Materials, whose unit decides whether a file's grams count.
    pub materials: Directory<Material>,
}

impl MakeSources {
    /// What the SKU is made from and with, as it stands now; `None` for a kit.
    pub async fn make(&self, sku: &Sku) -> Result<Option<Make>, LoadError> {
        let fields = &sku.fields;
        let Some(material_id) = fields.material_id else { return Ok(None) };
        let state = match fields.gcode_file_id {
            Some(id) => self.files.read(id).await?,
            None => None,
        };
        let said = state.as_ref().and_then(|state| state.state.as_ref()).map(|file| &file.metadata);
        let grams = said.and_then(|said| said.grams).filter(|grams| grams.0 > 0);
        let need = match grams {
            Some(grams) if self.in_grams(material_id).await? => grams,
            _ => fields.estimated_consumption,
        };
        Ok(Some(Make {
            units_per_plate: fields.units_per_plate,
            material_id,
            need,
            machine_type: fields.machine_type,
            dimensions: fields.dimensions,
            file_id: fields.gcode_file_id,
            file_form: said.and_then(|said| said.form).unwrap_or_default(),
            file_filament_mm: said.and_then(|said| said.filament_mm),
            estimated_seconds: said.and_then(|said| said.seconds).or(fields.estimated_seconds),
        }))
    }

    /// Grams are what a G-code file states; sheets and millilitres are not.
    async fn in_grams(&self, material: Id) -> Result<bool, LoadError> {
        let material = self.materials.read(material).await?;
        let kind = material.as_ref().and_then(|state| state.state.as_ref()).map(|material| material.fields.kind);
        Ok(kind.is_some_and(|kind| kind.unit() == "g"))
    }
}
