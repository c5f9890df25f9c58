//! A SKU: an article that the shop sells. It specifies the material, file and consumption of its jobs.

mod obstacle;
mod slug;
#[cfg(test)]
mod tests;

pub use obstacle::OrderObstacle;
pub use slug::slug_of;

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::amount::Amount;
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::picture_address::is_picture_address;
use crate::refusal::{Faults, Refusal};
use crate::requirement::{Referenced, Requirement};
use crate::slice_source::SliceSource;
use crate::time::Timestamp;
use words::Language;
use words::staff::waiting;

/// Class of machine required by a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum MachineType {
    FdmStandard,
    FdmLarge,
    ResinStandard,
    ResinLarge,
    LaserCutter,
    LaserEngraver,
}

impl MachineType {
    /// All types.
    pub const ALL: [Self; 6] = [
        Self::FdmStandard,
        Self::FdmLarge,
        Self::ResinStandard,
        Self::ResinLarge,
        Self::LaserCutter,
        Self::LaserEngraver,
    ];

    /// Returns the type's name in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::FdmStandard => "fdm_standard",
            Self::FdmLarge => "fdm_large",
            Self::ResinStandard => "resin_standard",
            Self::ResinLarge => "resin_large",
            Self::LaserCutter => "laser_cutter",
            Self::LaserEngraver => "laser_engraver",
        }
    }

    /// Returns the name that people use for the type, as a noun without an article.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::FdmStandard => "standard filament printer",
            Self::FdmLarge => "large filament printer",
            Self::ResinStandard => "standard resin printer",
            Self::ResinLarge => "large resin printer",
            Self::LaserCutter => "laser cutter",
            Self::LaserEngraver => "laser engraver",
        }
    }

    /// Returns the name that people use for the type in the given language, as a noun without an article. In German,
    /// all of them are masculine, and the plural is the same.
    pub fn noun_in(self, language: Language) -> String {
        match (language, self) {
            (Language::English, _) => self.noun().to_owned(),
            (_, Self::FdmStandard) => waiting::standard_filament_printer(language),
            (_, Self::FdmLarge) => waiting::large_filament_printer(language),
            (_, Self::ResinStandard) => waiting::standard_resin_printer(language),
            (_, Self::ResinLarge) => waiting::large_resin_printer(language),
            (_, Self::LaserCutter) => waiting::laser_cutter(language),
            (_, Self::LaserEngraver) => waiting::laser_engraver(language),
        }
    }
}

/// Lengths along the axes of a part or build volume, in millimetres.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the axes")]
pub struct Dimensions {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

impl Dimensions {
    /// Returns whether a part of the given size fits a build volume on each axis, without being rotated.
    pub(super) fn fits_in(&self, volume: &Self) -> bool {
        self.x <= volume.x && self.y <= volume.y && self.z <= volume.z
    }
}

/// Additional material for a SKU. The first material, [`SkuFields::material_id`], belongs to filament 0.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkuMaterial {
    /// Material for the filament.
    pub material_id: Id,
    /// Material consumption per full plate, in the material's unit; used if the file states no weight for the filament.
    pub estimated_consumption: Amount,
    /// Index of the filament in the file, starting at 0.
    pub filament: u32,
}

/// Returns the default plate number, 1, because every file has at least one plate.
const fn first_plate() -> u32 {
    1
}

/// Component of a kit: a SKU and its quantity.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// SKU of the component, which must not be a kit itself.
    pub sku_id: Id,
    /// Number of parts of the SKU per kit, at least 1.
    pub quantity: u32,
}

/// Description of a SKU, which an operator edits as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkuFields {
    /// Article code; unique among all SKUs that are not deleted.
    pub code: String,
    /// Name used in URLs, unique like the code; derived from the code if omitted.
    pub slug: String,
    /// Display name, as one line of text.
    pub name: String,
    /// Free-text description for customers.
    pub description: Option<String>,
    /// The shop's own category (`part`, `kit`, …), as free text.
    pub kind: Option<String>,
    /// Slugs of the collections that contain the SKU.
    pub collections: Vec<String>,
    /// Material that the SKU is made of; `None` only for kits.
    pub material_id: Option<Id>,
    /// Material consumption per full plate, in the material's unit; used if the G-code file states no weight.
    pub estimated_consumption: Amount,
    /// Machine type that can make the SKU.
    pub machine_type: MachineType,
    /// Additional materials used by a plate, each for one filament of the file.
    #[serde(default)]
    pub materials: Vec<SkuMaterial>,
    /// Size of the print in millimetres; if `None`, the print fits every build volume.
    pub dimensions: Option<Dimensions>,
    /// Net price per part, in minor units.
    pub price_cents: i64,
    /// Currency of the price, as a lowercase ISO 4217 code.
    pub currency: String,
    /// Number of parts per plate, at least 1.
    pub units_per_plate: u32,
    /// Model of the part. If the SKU has a slicer profile but no G-code, the model is sliced when it is first needed
    /// for a job.
    pub model_file_id: Option<Id>,
    /// G-code file to print; takes precedence over the model. Without either of them, jobs cannot be printed.
    pub gcode_file_id: Option<Id>,
    /// Number of the plate to print from the G-code file, starting at 1.
    #[serde(default = "first_plate")]
    pub plate: u32,
    /// Name of the slicer profile for the model.
    pub slicer_profile: Option<String>,
    /// Print time per plate, in seconds.
    pub estimated_seconds: Option<i64>,
    /// Components of a kit; empty for a SKU that is not a kit.
    #[serde(default)]
    pub components: Vec<Component>,
    /// Images: URLs, or IDs of uploaded files.
    pub images: Vec<String>,
    /// `true` if customers see the SKU in the catalogue.
    pub public: bool,
    /// `true` if the SKU may be ordered.
    pub active: bool,
}

impl SkuFields {
    /// Returns whether the SKU is a kit, which is not made itself but assembled from parts of other SKUs.
    pub const fn is_kit(&self) -> bool {
        !self.components.is_empty()
    }

    /// Rejects fields that a kit cannot have, fields that only a kit can have, and invalid new image addresses;
    /// existing images are not checked.
    fn check(&self, own: Id, before: Option<&Self>) -> Result<(), Refusal> {
        let mut faults = Faults::default();
        for (at, image) in self.images.iter().enumerate() {
            let is_known = before.is_some_and(|before| before.images.contains(image));
            let words = "must be a URL (https://...), a path on the shop's site, or the ID of an uploaded file";
            faults.check(is_known || is_picture_address(image), &format!("images.{at}"), words);
        }
        if !self.is_kit() {
            faults.check(self.material_id.is_some(), "materialId", "is required unless the SKU is a kit");
            return faults.refuse();
        }
        faults.check(
            self.material_id.is_none(),
            "materialId",
            "must be null for a kit, because its components are made instead",
        );
        let files = [("modelFileId", self.model_file_id), ("gcodeFileId", self.gcode_file_id)];
        for (member, file) in files {
            faults.check(file.is_none(), member, "must be null for a kit, because its components have the files");
        }
        for (at, component) in self.components.iter().enumerate() {
            let path = format!("components.{at}.skuId");
            let again = self.components[..at].iter().any(|other| other.sku_id == component.sku_id);
            faults.check(!again, &path, "is listed twice");
            faults.check(component.sku_id != own, &path, "must not be the kit itself");
            faults.check(component.quantity > 0, &format!("components.{at}.quantity"), "must be at least 1");
        }
        faults.refuse()
    }

    /// Returns whether the SKU has a file or a model to print from. Customers can order only such SKUs; staff may also
    /// order SKUs without a file, whose jobs wait until one is added.
    pub const fn orderable(&self) -> bool {
        self.gcode_file_id.is_some() || self.model_file_id.is_some()
    }

    /// Returns the source of the SKU's G-code, if the SKU has a model and a profile but no G-code.
    pub fn source(&self) -> Option<SliceSource> {
        let profile = self.slicer_profile.clone().filter(|_| self.gcode_file_id.is_none())?;
        Some(SliceSource { model_file_id: self.model_file_id?, profile, copies: self.units_per_plate.max(1) })
    }

    /// Requires that the referenced records have not been deleted.
    fn named(&self) -> Vec<Requirement> {
        let files = [("modelFileId", self.model_file_id), ("gcodeFileId", self.gcode_file_id)];
        let files = files.into_iter().filter_map(|(member, id)| Some((member.to_owned(), id?)));
        // An image is an address or the id of an uploaded file.
        let images = self
            .images
            .iter()
            .enumerate()
            .filter_map(|(at, image)| Some((format!("images.{at}"), image.parse().ok()?)));
        let material = self.material_id.map(|id| Requirement::not_deleted(Referenced::Material, id, "materialId"));
        let components = self.components.iter().enumerate().flat_map(|(at, component)| {
            let (sku, member) = (component.sku_id, format!("components.{at}.skuId"));
            [Requirement::not_deleted(Referenced::Sku, sku, member.clone()), Requirement::NoKit { sku, member }]
        });
        let files = files.chain(images).map(|(member, id)| Requirement::not_deleted(Referenced::File, id, member));
        let further = self.materials.iter().enumerate();
        let further = further.map(|(at, one)| {
            Requirement::not_deleted(Referenced::Material, one.material_id, format!("materials.{at}.materialId"))
        });
        material.into_iter().chain(further).chain(components).chain(files).collect()
    }
}

/// Article that the shop sells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sku {
    /// Identifier of the SKU.
    pub id: Id,
    /// Description that operators edit.
    #[serde(flatten)]
    pub fields: SkuFields,
    /// `true` if the SKU was deleted; the record remains for past orders.
    pub archived: bool,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Command that adds, edits or deletes a SKU.
#[derive(Clone, Debug)]
pub enum SkuCommand {
    /// Adds a SKU to the catalogue.
    Create(Box<SkuFields>),
    /// Replaces the description. The HTTP layer merges a partial edit into the current description; `if_version`
    /// ensures that the description has not changed in the meantime.
    Update {
        /// Version that the edit was merged into; rejected with 412 if the SKU has changed since.
        if_version: i64,
        /// Complete new description.
        fields: Box<SkuFields>,
    },
    /// Deletes the SKU, unless an unfinished order or job references it.
    Archive,
}

impl Aggregate for Sku {
    const KIND: &'static str = "sku";
    type Row = Infallible;
    type Created = Infallible;
    type Effect = ();

    fn is_archived(&self) -> bool {
        self.archived
    }

    fn clash(constraint: &str) -> Refusal {
        if constraint.contains("code") {
            Refusal::conflict("code_taken", "this code is already in use by another SKU")
        } else if constraint.contains("slug") {
            Refusal::conflict("slug_taken", "this slug is already in use by another SKU")
        } else {
            Refusal::conflict("conflict", "a value of this SKU is already in use by another SKU")
        }
    }
}

impl Command<Sku> for SkuCommand {
    type Answer = Sku;

    fn decide(&self, this: Option<&Sku>, id: Id, cx: &DecisionContext<'_>) -> DecisionResult<Sku, Self::Answer> {
        if let SkuCommand::Create(fields) | SkuCommand::Update { fields, .. } = self {
            fields.check(id, this.map(|sku| &sku.fields))?;
        }
        let next = match (this.filter(|sku| !sku.archived), self) {
            (None, SkuCommand::Create(fields)) => {
                Sku { id, fields: (**fields).clone(), archived: false, created_at: cx.now, updated_at: cx.now }
            }
            (Some(sku), SkuCommand::Update { fields, .. }) => {
                Sku { fields: (**fields).clone(), updated_at: cx.now, ..sku.clone() }
            }
            (Some(sku), SkuCommand::Archive) => Sku { archived: true, updated_at: cx.now, ..sku.clone() },
            (Some(_), SkuCommand::Create(_)) => return Err(Refusal::conflict("exists", "this SKU already exists")),
            (None, _) => return Err(Refusal::not_found(Sku::KIND)),
        };
        let mut requirements = match self {
            SkuCommand::Archive => Vec::new(),
            SkuCommand::Create(fields) | SkuCommand::Update { fields, .. } => fields.named(),
        };
        // A kit is no component of another, and what is ordered of a part would never be made once it is a kit.
        let becomes_kit = next.fields.is_kit() && this.is_some_and(|sku| !sku.fields.is_kit());
        if next.archived || becomes_kit {
            requirements.push(Requirement::Unused { what: Referenced::Sku, id });
        }
        Ok(Decision::to(next.clone(), next).requires(requirements))
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            SkuCommand::Create(_) => AuditedAct::SkuCreate,
            SkuCommand::Update { .. } => AuditedAct::SkuUpdate,
            SkuCommand::Archive => AuditedAct::SkuDelete,
        }
    }

    fn if_version(&self) -> Option<i64> {
        match self {
            SkuCommand::Update { if_version, .. } => Some(*if_version),
            _ => None,
        }
    }
}
