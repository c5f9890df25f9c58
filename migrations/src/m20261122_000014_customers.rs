//! Adds `customers`, `customer_sessions` and `sign_in_links`, and the index with which customers list their orders. The
//! index covers all columns of their filters, so that counting thousands of orders reads no rows.

use sea_orm_migration::prelude::*;

use super::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tables = [
            Table::snapshot("customers")
                .text("email")
                .text_or_null("name")
                .int("created_at")
                .unique(&["email"])
                .index(&["created_at"]),
            Table::row("customer_sessions")
                .text("customer_id")
                .text("hash")
                .int("created_at")
                .unique(&["hash"])
                .index(&["customer_id"]),
            Table::snapshot("sign_in_links")
                .text("hash")
                .int("expires_at")
                .int("created_at")
                .unique(&["hash"])
                .index(&["expires_at"]),
        ];
        for table in tables {
            table.create(manager).await?;
        }
        let old = Index::drop().name("ix__orders__customer_email__created_at").table("orders").to_owned();
        manager.drop_index(old).await?;
        let of_customer = Index::create()
            .name("ix__orders__of_customer")
            .table("orders")
            .col("customer_email")
            .col("created_at")
            .col("id")
            .col("status")
            .col("kind")
            .col("site")
            .to_owned();
        manager.create_index(of_customer).await
    }
}
