//! Adds `orders.flags`, an order's flags separated by spaces, so that orders that need an operator can be counted
//! without reading the others.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let words = match db.get_database_backend() {
            DatabaseBackend::Postgres => {
                "SELECT string_agg(value, ' ') FROM json_array_elements_text(doc::json->'flags')"
            }
            _ => "SELECT group_concat(value, ' ') FROM json_each(doc, '$.flags')",
        };
        for sql in [
            "ALTER TABLE orders ADD COLUMN flags TEXT NOT NULL DEFAULT ''",
            &format!("UPDATE orders SET flags = COALESCE(({words}), '')"),
            "CREATE INDEX ix__orders__flags ON orders (flags) WHERE flags <> ''",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
