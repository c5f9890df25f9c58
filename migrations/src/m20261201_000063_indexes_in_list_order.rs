//! Adds the ID to the indexes in which lists are sorted, so that a page far behind the first is found in the index
//! alone; sorts the jobs of each printer and SKU in their indexes; and indexes the names of customers with their email
//! addresses, which are searched without reading customers. The files that may refer to pictures are found without
//! reading all others.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Name of each index that is replaced, and the table and columns of its replacement.
const INDEXES: [[&str; 3]; 9] = [
    ["ix__orders__created_at", "orders", "created_at, id"],
    ["ix__orders__status__created_at", "orders", "status, created_at, id"],
    ["ix__jobs__created_at", "jobs", "created_at, id"],
    ["ix__jobs__state__created_at", "jobs", "state, created_at, id"],
    ["ix__jobs__printer_id", "jobs", "printer_id, created_at, id"],
    ["ix__jobs__sku_id", "jobs", "sku_id, created_at, id"],
    ["ix__movements__material_id__created_at", "movements", "material_id, created_at, id"],
    ["ix__payments__created_at", "payments", "created_at, id"],
    ["ix__customers__created_at", "customers", "created_at, id, email, name"],
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        for [index, table, columns] in INDEXES {
            db.execute_unprepared(&format!("DROP INDEX {index}")).await?;
            db.execute_unprepared(&format!("CREATE INDEX {index} ON {table} ({columns})")).await?;
        }
        let no_print = "CREATE INDEX ix__files__no_print ON files (id) WHERE attempt_id IS NULL AND NOT archived";
        db.execute_unprepared(no_print).await?;
        Ok(())
    }
}
