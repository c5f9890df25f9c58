//! Adds `payments.intent`, by which an event that names nothing else finds its order. An order may have several payments,
//! so the one intent in `orders` goes.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let [reference, method, cents] = match db.get_database_backend() {
            DatabaseBackend::Postgres => {
                ["doc::json->>'reference'", "doc::json->>'method'", "(doc::json->>'amountCents')::bigint"]
            }
            _ => [
                "json_extract(doc, '$.reference')",
                "json_extract(doc, '$.method')",
                "json_extract(doc, '$.amountCents')",
            ],
        };
        for sql in [
            "ALTER TABLE payments ADD COLUMN intent TEXT",
            &format!("UPDATE payments SET intent = {reference} WHERE {method} = 'processor' AND {cents} >= 0"),
            "CREATE INDEX ix__payments__intent ON payments (intent)",
            "DROP INDEX ix__orders__payment_intent",
            "ALTER TABLE orders DROP COLUMN payment_intent",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
