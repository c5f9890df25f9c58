//! Creates `invoices`, and `invoice_documents` for issued documents, which are numbered without gaps within each
//! series.

use sea_orm_migration::prelude::*;

use crate::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::snapshot("invoices")
            .text("status")
            .text("site")
            .text_or_null("order_id")
            .text_or_null("customer_email")
            .int_or_null("due_at")
            .int_or_null("issued_at")
            .int("total_cents")
            .int("created_at")
            .index(&["customer_email", "created_at"])
            .index(&["status", "created_at"])
            .index(&["created_at"])
            .index(&["order_id"])
            .create(manager)
            .await?;
        Table::row("invoice_documents")
            .text("invoice_id")
            .text("kind")
            .text("series")
            .int("number")
            .int("created_at")
            .index(&["invoice_id"])
            .unique(&["series", "number"])
            .create(manager)
            .await
    }
}
