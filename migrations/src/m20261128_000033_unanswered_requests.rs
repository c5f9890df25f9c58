//! Adds to `custom_requests` whether they were closed because the shop did not respond in time. The photos of such
//! requests must be deleted, however many attempts that takes. The value is unknown for existing requests.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for sql in [
            "ALTER TABLE custom_requests ADD COLUMN unanswered BOOLEAN NOT NULL DEFAULT FALSE",
            "CREATE INDEX ix__custom_requests__unanswered ON custom_requests (id) WHERE unanswered",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
