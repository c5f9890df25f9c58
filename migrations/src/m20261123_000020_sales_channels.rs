//! Creates `sales_channels` with `sales_channel_variants`, and `channel_orders` for orders placed at external shops.

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::snapshot("sales_channels")
            .text("name")
            .text("kind")
            .flag("archived")
            .int("created_at")
            .index(&["created_at"])
            .create(manager)
            .await?;
        Table::row("sales_channel_variants")
            .text("channel_id")
            .text("variant")
            .text("sku_id")
            .unique(&["channel_id", "variant"])
            .create(manager)
            .await?;
        Table::snapshot("channel_orders")
            .text("channel_id")
            .text("number")
            .text("status")
            .flag("attention")
            .flag("active")
            .text("order_id")
            .int("created_at")
            .index(&["channel_id", "created_at"])
            .index(&["status", "created_at"])
            .index(&["created_at"])
            .index(&["active"])
            .index(&["order_id"])
            .create(manager)
            .await
    }
}
