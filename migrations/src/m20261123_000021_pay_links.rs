//! Lets a payment belong to either an order or an invoice without an order. Such an invoice, like an order, is looked
//! up by its session at the payment processor, and is loaded at startup while a payment is pending there. Payments are
//! listed by time.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for sql in [
            "DROP INDEX ix__payments__order_id",
            "ALTER TABLE payments RENAME COLUMN order_id TO owner_id",
            "CREATE INDEX ix__payments__owner_id ON payments (owner_id)",
            "CREATE INDEX ix__payments__created_at ON payments (created_at)",
            "ALTER TABLE invoices ADD COLUMN payment_session TEXT",
            "CREATE INDEX ix__invoices__payment_session ON invoices (payment_session)",
            "ALTER TABLE invoices ADD COLUMN active BOOLEAN NOT NULL DEFAULT FALSE",
            "CREATE INDEX ix__invoices__active ON invoices (active)",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
