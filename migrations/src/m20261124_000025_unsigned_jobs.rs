//! Adds `jobs.unsigned`: the job is printed, but an operator has not signed off its parts yet. Such jobs are listed
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
        let waits = match db.get_database_backend() {
            DatabaseBackend::Postgres => "doc::json->>'unsigned' = 'true'",
            _ => "json_extract(doc, '$.unsigned') = 1",
        };
        for sql in [
            "ALTER TABLE jobs ADD COLUMN unsigned BOOLEAN NOT NULL DEFAULT FALSE",
            &format!("UPDATE jobs SET unsigned = TRUE WHERE state = 'COMPLETED' AND {waits}"),
            "CREATE INDEX ix__jobs__unsigned ON jobs (created_at, id) WHERE unsigned",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
