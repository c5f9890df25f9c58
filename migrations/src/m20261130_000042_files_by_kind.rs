//! Indexes files by kind and upload time, with the print that a picture shows, so that files are counted by kind in the
//! index alone, and the newest of a kind are read without passing over those of other kinds.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "CREATE INDEX ix__files__archived__kind ON files (archived, kind, created_at, attempt_id)";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
