//! What is told of links and of the systems that they lead to.

use api_derive::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::material::{Material, MaterialAnswer};
use crate::domain::parts_sync::{ConflictKind, StockLink, StockSystem, SyncConflict, total};
use crate::domain::time::Timestamp;
use crate::http::command_request::CommandOutcome;
use crate::http::error::ApiError;
use crate::http::production::materials;

/// How a link stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LinkState {
    /// Nothing moves until somebody agreed to which side is right.
    Preview,
    /// Both sides are kept in step.
    InStep,
    /// A booking of ours is on its way.
    Booking,
    /// A person has to decide.
    Conflict,
}

/// What a person has to see to.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockConflict", example = json!({
    "kind": "negative", "message": "-50 g there and -90 g here since both agreed on 100 g would leave less than nothing: count it and say which side is right",
}))]
pub(super) struct ConflictView {
    /// Which it is.
    kind: ConflictKind,
    /// In words, with what to do.
    message: String,
}

impl From<SyncConflict> for ConflictView {
    fn from(SyncConflict { kind, message }: SyncConflict) -> Self {
        Self { kind, message }
    }
}

/// A material that is linked to an entry of another system.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockLink", example = json!({
    "materialId": materials::EXAMPLE_ID, "materialName": "PLA black", "system": "parts", "entryId": 12, "entryName": "PLA black 1 kg",
    "state": "preview", "ours": 1800, "theirs": 2000, "difference": 200, "unit": "g", "conflict": null,
    "createdAt": "2026-11-01T08:00:00.000Z",
}))]
pub(super) struct LinkView {
    /// The material that is linked.
    pub(super) material_id: Id,
    /// Its name here.
    pub(super) material_name: String,
    /// The other system.
    pub(super) system: StockSystem,
    /// Number of the part or filament there.
    pub(super) entry_id: i64,
    /// Name of the part or filament there.
    pub(super) entry_name: String,
    /// How the link stands.
    pub(super) state: LinkState,
    /// Stock on hand here.
    pub(super) ours: Amount,
    /// What is counted there: as last read while there is something to decide, else as both sides last agreed. Null
    /// when nothing usable was read.
    pub(super) theirs: Option<Amount>,
    /// What our stock changes by if theirs is right; if ours is, the opposite is booked there.
    pub(super) difference: Option<Amount>,
    /// The unit of all three.
    pub(super) unit: &'static str,
    /// What a person has to see to.
    pub(super) conflict: Option<ConflictView>,
    /// When the link was made.
    pub(super) created_at: Timestamp,
}

impl LinkView {
    pub(super) fn new(material: &Material, link: &StockLink) -> Self {
        let theirs = link.seen.as_ref().or(link.agreed.as_ref().filter(|_| link.conflict.is_none())).map(total);
        let state = match link {
            StockLink { conflict: Some(_), .. } => LinkState::Conflict,
            StockLink { pending: Some(_), .. } => LinkState::Booking,
            StockLink { agreed: None, .. } => LinkState::Preview,
            _ => LinkState::InStep,
        };
        Self {
            material_id: material.id,
            material_name: material.fields.name.clone(),
            system: link.system,
            entry_id: link.entry,
            entry_name: link.name.clone(),
            state,
            ours: material.quantity,
            theirs,
            difference: theirs.map(|theirs| theirs - material.quantity),
            unit: material.fields.kind.unit(),
            conflict: link.conflict.clone().map(Into::into),
            created_at: link.created_at,
        }
    }

    pub(super) fn after(done: &CommandOutcome<MaterialAnswer>) -> Result<Self, ApiError> {
        match &done.answer {
            MaterialAnswer::Linked(material, link) => Ok(Self::new(material, link)),
            other => Err(ApiError::internal(format!("a material answered {other:?}"))),
        }
    }
}

/// How another system that counts stock fares.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockSystemStatus", example = json!({
    "system": "parts", "on": true, "lookedAt": "2026-11-02T10:15:00.000Z", "synchronisedAt": "2026-11-02T10:15:00.000Z",
    "error": null, "entries": 40, "links": 3, "conflicts": 0,
}))]
pub(super) struct SystemView {
    /// Which it is.
    pub(super) system: StockSystem,
    /// Whether the settings switch it on.
    pub(super) on: bool,
    /// When it was last looked at, successfully or not.
    pub(super) looked_at: Option<Timestamp>,
    /// When everything was last read and brought in step.
    pub(super) synchronised_at: Option<Timestamp>,
    /// Why the last look ended early, such as when it cannot be reached; null when it did not.
    pub(super) error: Option<String>,
    /// How many entries it has that materials can be linked to.
    pub(super) entries: usize,
    /// How many of them are linked.
    pub(super) links: usize,
    /// How many links need a person.
    pub(super) conflicts: usize,
}

/// All links, and how the other systems fare.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockLinks", example = json!({"systems": [SystemView::example()], "links": [LinkView::example()]}))]
pub(super) struct LinksView {
    /// Each system that can count stock, whether it is on or not.
    pub(super) systems: Vec<SystemView>,
    /// All links, those that need a person first.
    pub(super) links: Vec<LinkView>,
}

/// Something in another system that a material can be linked to.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockEntry", many = "entries", example = json!({
    "system": "parts", "entryId": 12, "name": "PLA black 1 kg", "materialId": null, "suggestedMaterialId": materials::EXAMPLE_ID,
}))]
pub(super) struct EntryView {
    /// The system that it stands in.
    pub(super) system: StockSystem,
    /// Its number there.
    pub(super) entry_id: i64,
    /// Its name there.
    pub(super) name: String,
    /// The material that is linked to it.
    pub(super) material_id: Option<Id>,
    /// A material without a link to that system whose name is in the entry's.
    pub(super) suggested_material_id: Option<Id>,
}
