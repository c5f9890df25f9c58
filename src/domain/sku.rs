//! What the shop sells: names a required material, a file and an estimated consumption.
//!
//! (Production spec §1 rule 1, decisions §7.)

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// Machine types (decisions §6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum MachineType {
    FdmStandard,
    FdmLarge,
    ResinStandard,
    ResinLarge,
    LaserCutter,
    LaserEngraver,
}

impl MachineType {
    /// The word on the wire.
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
}

/// Millimetres along each axis; of a part or of a build volume.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the axes")]
pub struct Dimensions {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

impl Dimensions {
    /// x≤X, y≤Y, z≤Z; no rotation.
    pub fn fits_in(&self, volume: &Self) -> bool {
        self.x <= volume.x && self.y <= volume.y && self.z <= volume.z
    }
}

/// What may be said of a SKU on create; on update each member is optional.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkuFields {
    /// Unique among all SKUs, archived ones included.
    pub code: String,
    /// For addresses; from the code when not given.
    pub slug: String,
    /// Shown name.
    pub name: String,
    /// Longer words.
    pub description: Option<String>,
    /// Free word of the shop (`part`, `kit`, …).
    pub kind: Option<String>,
    /// Slugs of collections.
    pub collections: Vec<String>,
    /// Required material.
    pub material_id: Id,
    /// For one job: one full plate, in the material's unit.
    pub estimated_consumption: Amount,
    /// Which machines can make it.
    pub machine_type: MachineType,
    /// Size of the plate, mm.
    pub dimensions: Option<Dimensions>,
    /// Minor units.
    pub price_cents: i64,
    /// ISO 4217, lower case.
    pub currency: String,
    /// Parts per plate.
    pub units_per_plate: u32,
    /// Model to slice.
    pub model_file_id: Option<Id>,
    /// G-code to print.
    pub gcode_file_id: Option<Id>,
    /// Slicer settings.
    pub slicer_profile: Option<String>,
    /// Print time, seconds.
    pub estimated_seconds: Option<i64>,
    /// Addresses or file ids of pictures.
    pub images: Vec<String>,
    /// Shown to customers.
    pub public: bool,
    /// May be ordered.
    pub active: bool,
}

/// What the shop sells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sku {
    /// Identifier.
    pub id: Id,
    /// What is said of it.
    #[serde(flatten)]
    pub fields: SkuFields,
    /// Deleted: kept for history.
    pub archived: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What is asked of a SKU.
#[derive(Clone, Debug)]
pub enum SkuCommand {
    /// Makes it.
    Create(Box<SkuFields>),
    /// Replaces what is said of it (the edge merges a PATCH into the present fields; `if_version` guards the merge).
    Update {
        /// The version that was merged into.
        if_version: i64,
        /// All fields as they shall be.
        fields: Box<SkuFields>,
    },
    /// Deletes it; the edge has made sure that no unfinished order names it.
    Archive,
}

impl Aggregate for Sku {
    const KIND: &'static str = "sku";
    type Command = SkuCommand;
    type Answer = Self;
    type Row = Infallible;
    type Created = Infallible;
    type Effect = ();

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &SkuCommand,
    ) -> Result<Decision<Self>, Refusal> {
        let next = match (this.filter(|sku| !sku.archived), command) {
            (None, SkuCommand::Create(fields)) => {
                Self { id, fields: (**fields).clone(), archived: false, created_at: cx.now, updated_at: cx.now }
            }
            (Some(sku), SkuCommand::Update { fields, .. }) => {
                Self { fields: (**fields).clone(), updated_at: cx.now, ..sku.clone() }
            }
            (Some(sku), SkuCommand::Archive) => Self { archived: true, updated_at: cx.now, ..sku.clone() },
            (Some(_), SkuCommand::Create(_)) => return Err(Refusal::conflict("exists", "this SKU exists")),
            (None, _) => return Err(Refusal::not_found(Self::KIND)),
        };
        Ok(Decision::to(next.clone(), next))
    }

    fn name(command: &SkuCommand) -> &'static str {
        match command {
            SkuCommand::Create(_) => "sku.create",
            SkuCommand::Update { .. } => "sku.update",
            SkuCommand::Archive => "sku.delete",
        }
    }

    fn if_version(command: &SkuCommand) -> Option<i64> {
        match command {
            SkuCommand::Update { if_version, .. } => Some(*if_version),
            _ => None,
        }
    }

    fn clash(constraint: &str) -> Refusal {
        if constraint.contains("code") {
            Refusal::conflict("code_taken", "another SKU has this code")
        } else {
            Refusal::conflict("conflict", "another SKU stands in the way")
        }
    }
}
