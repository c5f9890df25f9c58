//! Creates `maintenance_reminders` and `maintenance_entries`, which are rows of printers, and an index for finding a
//! printer's attempts by claim time.

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::row("maintenance_reminders")
            .text("printer_id")
            .int("created_at")
            .index(&["printer_id"])
            .create(manager)
            .await?;
        Table::row("maintenance_entries")
            .text("printer_id")
            .int("created_at")
            .index(&["printer_id", "created_at"])
            .create(manager)
            .await?;
        let db = manager.get_connection();
        db.execute_unprepared("CREATE INDEX ix__attempts__printer_id__created_at ON attempts (printer_id, created_at)")
            .await?;
        Ok(())
    }
}
