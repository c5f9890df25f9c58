//! Creates `restores`, with a row for each restore from a backup, and `number_gaps`, the numbers skipped because of
//! restores.

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::snapshot("restores")
            .int("last_event")
            .int("first_event")
            .flag("active")
            .int("created_at")
            .create(manager)
            .await?;
        Table::row("number_gaps")
            .text("restore_id")
            .text("series")
            .int("first_number")
            .int("last_number")
            .index(&["series", "last_number"])
            .create(manager)
            .await
    }
}
