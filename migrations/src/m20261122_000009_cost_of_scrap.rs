//! Adds a material's unit cost, in thousandths of the smallest currency unit, and a signed-off print's consumption of
//! each material, as a JSON object of thousandths by material ID. Both are null if unknown.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for sql in ["ALTER TABLE materials ADD COLUMN unit_cost BIGINT", "ALTER TABLE attempts ADD COLUMN used_of TEXT"]
        {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
