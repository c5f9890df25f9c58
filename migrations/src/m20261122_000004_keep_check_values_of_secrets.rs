//! Adds `secret_checks`: for each of the server's own secrets that data depends on, a check value for detecting a
//! changed secret.

use sea_orm_migration::prelude::*;

use super::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::new("secret_checks").text("name").key("name").text("value").create(manager).await
    }
}
