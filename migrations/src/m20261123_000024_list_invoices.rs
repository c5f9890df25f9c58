//! Adds the index with which customers list their invoices. It covers all columns of their filters, so that counting
//! thousands of invoices reads no rows.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let old = Index::drop().name("ix__invoices__customer_email__created_at").table("invoices").to_owned();
        manager.drop_index(old).await?;
        let of_customer = Index::create()
            .name("ix__invoices__of_customer")
            .table("invoices")
            .col("customer_email")
            .col("created_at")
            .col("id")
            .col("status")
            .col("site")
            .col("issued_at")
            .col("due_at")
            .to_owned();
        manager.create_index(of_customer).await
    }
}
