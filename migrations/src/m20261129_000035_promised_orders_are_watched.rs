//! Marks orders with an outstanding promise to be loaded at the next start, including those that have only failed jobs,
//! which older releases let rest. Only orders in memory are monitored for becoming late.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "UPDATE orders SET active = TRUE WHERE status IN ('paid', 'printing') AND doc LIKE '%\"promise\":{%'";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
