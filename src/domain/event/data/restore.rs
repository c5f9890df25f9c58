//! Payload of events about restored backups.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind};
use crate::id::Id;
use crate::time::Timestamp;

/// Data for an event about a restored backup.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "ShopRestoredEventData", example = json!({
    "restoreId": "01890a5d-ac96-774b-bcce-b302099a8093", "backupMadeAt": "2026-11-01T03:00:00.000Z",
    "restoredAt": "2026-11-02T10:00:00.000Z", "lastEvent": 4711, "firstEvent": 1_000_004_711,
}))]
pub struct ShopRestoredData {
    /// Unique identifier of the restore, as listed at `/api/restores`.
    pub(crate) restore_id: Id,
    /// Time at which the backup was created. Changes reported after this time are undone.
    pub(crate) backup_made_at: Timestamp,
    /// Time of the restore.
    pub(crate) restored_at: Timestamp,
    /// Number of the newest event in the backup.
    pub(crate) last_event: i64,
    /// Number of the first event after the restore. Changes reported by the events in between are undone.
    pub(crate) first_event: i64,
}
carried_by! { ShopRestoredData:
    "shop.restored", "The shop was restored from a backup: synchronise again everything that you store about it.";
    "shop.restore_reviewed", "An operator reviewed a restored shop; jobs start again.";
}

impl ShopRestoredData {
    /// Name of the event that reports a restore.
    pub(crate) const RESTORED: &'static str = Self::KINDS[0].name;
    /// Name of the event that reports the completed review of a restore.
    pub(crate) const REVIEWED: &'static str = Self::KINDS[1].name;
}
