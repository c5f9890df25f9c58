//! Queries for printer maintenance.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::{Page, Queries};
use crate::rows::LoadError;
use domain::id::Id;
use domain::maintenance::MaintenanceEntry;
use entities::maintenance_entries;

impl Queries {
    /// Returns a page of a printer's maintenance log, newest first, and the total number of entries.
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
