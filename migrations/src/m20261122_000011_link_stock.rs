//! Creates `stock_links`: links between materials and entries in external stock systems. Each entry belongs to one
//! material.

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::row("stock_links")
            .text("material_id")
            .text("system")
            .int("entry")
            .int("created_at")
            .index(&["material_id"])
            .unique(&["system", "entry"])
            .create(manager)
            .await
    }
}
