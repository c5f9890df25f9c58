//! Creates `quotes`, which contains only snapshot rows.

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::snapshot("quotes")
            .int("number")
            .text("status")
            .text("site")
            .text_or_null("customer_email")
            .text_or_null("custom_request_id")
            .text_or_null("order_id")
            .text_or_null("model_file_id")
            .int_or_null("valid_until")
            .int("total_cents")
            .flag("active")
            .flag("archived")
            .int("created_at")
            .unique(&["number"])
            .index(&["customer_email", "created_at"])
            .index(&["status", "created_at"])
            .index(&["created_at"])
            .index(&["custom_request_id"])
            .index(&["order_id"])
            .index(&["active"])
            .index(&["model_file_id"])
            .create(manager)
            .await
    }
}
