//! Adds what a unit of a material costs, in thousandths of the smallest unit of the currency, and what a judged print
//! used of each of its materials, as a JSON object of thousandths by the material's id. Both are null where it is not
//! known.

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
