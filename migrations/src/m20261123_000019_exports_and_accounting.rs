//! Creates `exports`, `accounting` (the accounting connection) and `postings` (records to transfer to the accounting
//! system).

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::snapshot("exports")
            .text("state")
            .text_or_null("customer_email")
            .text_or_null("token_hash")
            .int("created_at")
            .index(&["token_hash"])
            .index(&["state"])
            .index(&["customer_email", "state"])
            .index(&["created_at"])
            .create(manager)
            .await?;
        Table::snapshot("accounting").flag("connected").create(manager).await?;
        Table::snapshot("postings")
            .text("document_id")
            .text("invoice_id")
            .text("state")
            .int("created_at")
            .unique(&["document_id"])
            .index(&["invoice_id"])
            .index(&["state", "created_at"])
            .index(&["created_at"])
            .create(manager)
            .await
    }
}
