//! Adds `row_counts`, in which the store keeps the row counts that lists and tabs show, by filter, so that no rows need
//! to be counted. The counts themselves are in no index, so that PostgreSQL changes them in place.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Table, list, key and condition of each number.
const COUNTS: [[&str; 4]; 10] = [
    ["orders", "'orders'", "status || ' ' || kind || ' ' || site", "TRUE"],
    ["orders", "'order_mails'", "customer_email", "customer_email IS NOT NULL"],
    ["jobs", "'jobs'", "state || CASE WHEN unsigned THEN ' unsigned' ELSE '' END", "TRUE"],
    ["attempts", "'attempts ' || printer_id", "state", "TRUE"],
    ["movements", "'movements ' || material_id", "CAST(created_at / 86400000 AS TEXT)", "TRUE"],
    ["customers", "'customers'", "'all'", "TRUE"],
    ["files", "'files'", "kind || CASE WHEN attempt_id IS NULL THEN ' own' ELSE ' print' END", "NOT archived"],
    [
        "invoices",
        "'invoices'",
        "status || CASE WHEN issued_at IS NULL THEN ' draft ' ELSE ' issued ' END || site",
        "TRUE",
    ],
    [
        "payments",
        "'payments'",
        "COALESCE((SELECT site FROM orders WHERE orders.id = payments.owner_id), \
         (SELECT site FROM invoices WHERE invoices.id = payments.owner_id), '')",
        "TRUE",
    ],
    ["audit", "'audit'", "subject_kind || ' ' || action", "TRUE"],
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let clustered = if db.get_database_backend() == DatabaseBackend::Sqlite { " WITHOUT ROWID" } else { "" };
        let table = format!(
            "CREATE TABLE row_counts (list TEXT NOT NULL, key TEXT NOT NULL, entries BIGINT NOT NULL, \
             CONSTRAINT uq__row_counts__list__key PRIMARY KEY (list, key)){clustered}"
        );
        db.execute_unprepared(&table).await?;
        for [table, list, key, which] in COUNTS {
            let fill = format!(
                "INSERT INTO row_counts (list, key, entries) \
                 SELECT {list}, {key}, COUNT(*) FROM {table} WHERE {which} GROUP BY 1, 2"
            );
            db.execute_unprepared(&fill).await?;
        }
        Ok(())
    }
}
