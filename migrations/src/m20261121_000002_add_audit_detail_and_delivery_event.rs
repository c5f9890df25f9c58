//! Adds `audit.detail` for rejected attempts, `deliveries.event`, and an index for lookups by each.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let kind = match db.get_database_backend() {
            DatabaseBackend::Postgres => "doc::json->>'event'",
            _ => "json_extract(doc, '$.event')",
        };
        for sql in [
            "ALTER TABLE audit ADD COLUMN detail TEXT",
            "CREATE INDEX ix__audit__action__at ON audit (action, at)",
            "ALTER TABLE deliveries ADD COLUMN event TEXT NOT NULL DEFAULT ''",
            &format!("UPDATE deliveries SET event = {kind}"),
            "CREATE INDEX ix__deliveries__endpoint_id__event__created_at ON deliveries (endpoint_id, event, created_at)",
            // Nearly all deliveries have arrived. Counting the others must not go through them.
            "CREATE INDEX ix__deliveries__undelivered ON deliveries (state) WHERE state <> 'delivered'",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
