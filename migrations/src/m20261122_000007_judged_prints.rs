//! Adds the results of signed-off prints to `attempts`: when they ended, how many parts they produced and how many of
//! these are good, the reasons for rejecting the others, and the material consumption. All are null for prints without
//! a sign-off.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for sql in [
            "ALTER TABLE attempts ADD COLUMN judged_end BIGINT",
            "ALTER TABLE attempts ADD COLUMN parts BIGINT",
            "ALTER TABLE attempts ADD COLUMN good BIGINT",
            "ALTER TABLE attempts ADD COLUMN scrap_reason TEXT",
            "ALTER TABLE attempts ADD COLUMN first_pass BOOLEAN",
            "ALTER TABLE attempts ADD COLUMN print_ms BIGINT",
            "ALTER TABLE attempts ADD COLUMN used BIGINT",
            "CREATE INDEX ix__attempts__judged_end ON attempts (judged_end)",
        ] {
            db.execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
