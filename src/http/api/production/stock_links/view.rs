//! Stock links and external stock systems as shown in responses.

use api_derive::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::production::materials;
use domain::amount::Amount;
use domain::id::Id;
use domain::material::{LinkAnswer, Material};
use domain::parts_sync::{ConflictKind, StockLink, StockSystem, SyncConflict, total};
use domain::time::Timestamp;
use http::command_request::CommandOutcome;

/// State of the link between a material and an external entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LinkState {
    /// Preview: nothing is transferred until an operator has decided which side is correct.
    Preview,
    /// In sync: both sides agree.
    InStep,
    /// Recording: a change is being sent to the external system.
    Booking,
    /// Conflict: an operator must decide.
    Conflict,
}

/// Conflict that an operator must resolve.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockConflict", example = json!({
    "kind": "negative", "message": "the changes of -50 g in the other system and -90 g in this shop since both agreed \
                                    on 100 g would make the stock negative; count the stock and decide which side is \
                                    correct",
}))]
pub(super) struct ConflictView {
    /// Type of conflict.
    kind: ConflictKind,
    /// Human-readable description, with the remedy.
    message: String,
}

impl From<SyncConflict> for ConflictView {
    fn from(SyncConflict { kind, message }: SyncConflict) -> Self {
        Self { kind, message }
    }
}

/// Material linked to an entry in an external system.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockLink", example = json!({
    "materialId": materials::EXAMPLE_ID, "materialName": "PLA black", "system": "parts", "entryId": 12, "entryName": "PLA black 1 kg",
    "state": "preview", "ours": 1800, "theirs": 2000, "difference": 200, "unit": "g", "conflict": null,
    "createdAt": "2026-11-01T08:00:00.000Z",
}))]
pub(super) struct LinkView {
    /// ID of the linked material.
    pub(super) material_id: Id,
    /// Name of the material in this shop.
    pub(super) material_name: String,
    /// External stock system.
    pub(super) system: StockSystem,
    /// Number of the part or filament in the external system.
    pub(super) entry_id: i64,
    /// Name of the part or filament in the external system.
    pub(super) entry_name: String,
    /// State of the link.
    pub(super) state: LinkState,
    /// Stock on hand in this shop.
    pub(super) ours: Amount,
    /// Count in the external system: while a decision is pending, the count last read; otherwise, the count on which
    /// both sides last agreed. Null if no usable count has been read.
    pub(super) theirs: Option<Amount>,
    /// Change to this shop's stock if the external count is correct; if this shop's count is correct, the opposite
    /// change is recorded in the external system.
    pub(super) difference: Option<Amount>,
    /// Unit of the stock, the count and the difference.
    pub(super) unit: &'static str,
    /// Conflict that an operator must resolve.
    pub(super) conflict: Option<ConflictView>,
    /// Time at which the link was created.
    pub(super) created_at: Timestamp,
}

impl LinkView {
    pub(super) fn new(material: &Material, link: &StockLink) -> Self {
        let theirs = link.last_amounts.as_ref().or(link.agreed.as_ref().filter(|_| link.conflict.is_none())).map(total);
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

    pub(super) fn after(done: &CommandOutcome<LinkAnswer>) -> Self {
        let (material, link) = &done.answer.linked;
        Self::new(material, link)
    }
}

/// Status of an external stock system.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockSystemStatus", example = json!({
    "system": "parts", "on": true, "lookedAt": "2026-11-02T10:15:00.000Z", "synchronisedAt": "2026-11-02T10:15:00.000Z",
    "error": null, "entries": 40, "links": 3, "conflicts": 0,
}))]
pub(super) struct SystemView {
    /// External stock system.
    pub(super) system: StockSystem,
    /// `true` if the system is enabled in the settings.
    pub(super) on: bool,
    /// Time of the last synchronisation, successful or not.
    pub(super) looked_at: Option<Timestamp>,
    /// Time of the last complete synchronisation.
    pub(super) synchronised_at: Option<Timestamp>,
    /// Reason the last synchronisation ended early, such as a connection error; null if it was completed.
    pub(super) error: Option<String>,
    /// Number of entries that materials can be linked to.
    pub(super) entries: usize,
    /// Number of linked entries.
    pub(super) links: usize,
    /// Number of links that require an operator's decision.
    pub(super) conflicts: usize,
}

/// All links, with the status of the external systems.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockLinks", example = json!({"systems": [SystemView::example()], "links": [LinkView::example()]}))]
pub(super) struct LinksView {
    /// All supported systems, enabled or not.
    pub(super) systems: Vec<SystemView>,
    /// All links; those that require an operator's decision come first.
    pub(super) links: Vec<LinkView>,
}

/// Entry in an external system that a material can be linked to.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "StockEntry", many = "entries", example = json!({
    "system": "parts", "entryId": 12, "name": "PLA black 1 kg", "materialId": null, "suggestedMaterialId": materials::EXAMPLE_ID,
}))]
pub(super) struct StockEntryView {
    /// System that the entry belongs to.
    pub(super) system: StockSystem,
    /// Number of the entry in the external system.
    pub(super) entry_id: i64,
    /// Name of the entry in the external system.
    pub(super) name: String,
    /// ID of the material linked to the entry, if any.
    pub(super) material_id: Option<Id>,
    /// ID of a material that could be linked, if any: one that is not linked to the system yet and whose name is
    /// contained in the entry's name.
    pub(super) suggested_material_id: Option<Id>,
}
