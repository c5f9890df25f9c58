//! What is told of a restore of a backup.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::{EventData, EventKind};
use crate::domain::id::Id;
use crate::domain::time::Timestamp;

/// What is told of a restore of a backup.
#[derive(Response, Serialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[api(name = "ShopRestoredEventData", example = json!({
    "restoreId": "01890a5d-ac96-774b-bcce-b302099a8093", "backupMadeAt": "2026-11-01T03:00:00.000Z",
    "restoredAt": "2026-11-02T10:00:00.000Z", "lastEvent": 4711, "firstEvent": 1_000_004_711,
}))]
pub struct ShopRestoredData {
    /// The restore that is meant: its identifier at `/api/restores`.
    pub(crate) restore_id: Id,
    /// When the backup was made. What was told after that is undone here.
    pub(crate) backup_made_at: Timestamp,
    /// When it was put back.
    pub(crate) restored_at: Timestamp,
    /// Number of the newest event of the backup.
    pub(crate) last_event: i64,
    /// Number of the first event after the restore. What was told under the numbers in between is undone.
    pub(crate) first_event: i64,
}
carried_by! { ShopRestoredData:
    "shop.restored", "The shop was put back to an earlier moment, that of a backup: read anew what you keep of it.";
    "shop.restore_reviewed", "A person has reviewed a restored shop, and jobs are started again.";
}

impl ShopRestoredData {
    /// The event of a restore.
    pub(crate) const RESTORED: &'static str = Self::KINDS[0].name;
    /// The event of its review.
    pub(crate) const REVIEWED: &'static str = Self::KINDS[1].name;
}
