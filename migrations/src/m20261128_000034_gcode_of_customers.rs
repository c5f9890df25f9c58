//! Adds to `files` the customer's model that G-code was sliced from for a draft. Such G-code is treated as sent by the
//! customer, and is deleted with the model. The model is unknown for existing G-code, which is treated as the shop's.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for sql in [
            "ALTER TABLE files ADD COLUMN model_file_id TEXT",
            "CREATE INDEX ix__files__model_file_id ON files (model_file_id) WHERE model_file_id IS NOT NULL",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
