//! Creates `custom_requests`: customers' requests for custom parts, before a price is quoted.

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::snapshot("custom_requests")
            .text("status")
            .text("site")
            .text("customer_email")
            .text("customer_name")
            .int("created_at")
            .index(&["customer_email", "created_at"])
            .index(&["status", "created_at"])
            .index(&["created_at"])
            .create(manager)
            .await
    }
}
