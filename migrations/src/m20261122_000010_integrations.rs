//! Adds `integrations`: the cursor of each integration that follows events.

use sea_orm_migration::prelude::*;

use super::table::Table;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::snapshot("integrations").text("name").int("created_at").unique(&["name"]).create(manager).await
    }
}
