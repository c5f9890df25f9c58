//! Queries of printer maintenance.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::{Page, Queries};
use crate::domain::id::Id;
use crate::domain::maintenance::MaintenanceEntry;
use crate::entities::maintenance_entries;
use crate::store::rows::LoadError;

impl Queries {
    /// Returns a printer's maintenance log, newest first, and the total number of entries.
    pub async fn maintenance_entries(
        &self,
        printer: Id,
        page: Page,
    ) -> Result<(Vec<MaintenanceEntry>, u64), LoadError> {
        use maintenance_entries::Column as C;
        let select = maintenance_entries::Entity::find().filter(C::PrinterId.eq(printer.to_string()));
        self.rows(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }
}
