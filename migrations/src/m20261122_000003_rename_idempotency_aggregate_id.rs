//! Renames `idempotency.thing_id` to `aggregate_id`, the term in the code.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let rename = "ALTER TABLE idempotency RENAME COLUMN thing_id TO aggregate_id";
        manager.get_connection().execute_unprepared(rename).await?;
        Ok(())
    }
}
