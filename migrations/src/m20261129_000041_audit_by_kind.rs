//! Indexes the audit log by subject kind and time, so that the newest entries about all printers, or all orders, are
//! read without searching the entries of each one.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "CREATE INDEX ix__audit__subject_kind__at ON audit (subject_kind, at)";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
