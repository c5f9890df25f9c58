//! Repairs rows that older releases left in a wrong state.
//!
//! Invoices of orders stayed marked to be loaded at every start. In addition, if an order, or an invoice without an
//! order, received a refund before its payment, it stayed unpaid although it was fully paid; it is loaded at the next
//! start, which marks it as paid.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let postgres = db.get_database_backend() == DatabaseBackend::Postgres;
        let (cents, currency, of_order, of_invoice) = if postgres {
            (
                "(paid.doc::json->>'amountCents')::bigint",
                "paid.doc::json->>'currency'",
                "orders.doc::json->>'currency'",
                "invoices.doc::json->'content'->>'currency'",
            )
        } else {
            (
                "json_extract(paid.doc, '$.amountCents')",
                "json_extract(paid.doc, '$.currency')",
                "json_extract(orders.doc, '$.currency')",
                "json_extract(invoices.doc, '$.content.currency')",
            )
        };
        let behind = |table: &str, own: &str, which: &str| {
            format!(
                "UPDATE {table} SET active = TRUE WHERE {which} AND total_cents > 0 AND total_cents <= (\
                 SELECT COALESCE(SUM({cents}), 0) FROM payments AS paid \
                 WHERE paid.owner_id = {table}.id AND {cents} > 0 AND {currency} = {own})"
            )
        };
        for sql in [
            "UPDATE invoices SET active = FALSE WHERE order_id IS NOT NULL".to_owned(),
            behind("orders", of_order, "status IN ('draft', 'created', 'payment_failed')"),
            behind("invoices", of_invoice, "order_id IS NULL AND status IN ('open', 'partially_paid')"),
        ] {
            db.execute_unprepared(&sql).await?;
        }
        Ok(())
    }
}
