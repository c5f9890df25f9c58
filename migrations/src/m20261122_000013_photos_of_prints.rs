//! Adds to `files` the attempt whose print a picture shows, for pictures that the server took itself; null for other
//! files. Such pictures are looked up by age.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for sql in [
            "ALTER TABLE files ADD COLUMN attempt_id TEXT",
            "CREATE INDEX ix__files__photos ON files (created_at) WHERE attempt_id IS NOT NULL",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
