//! Databases as an earlier release left them.

use migrations::{Migrator, MigratorTrait as _};
use sea_orm::{ConnectionTrait as _, DatabaseConnection};

/// Runs a migration again, on all stored data. `removals` are the statements that take back what it added. A later
/// migration of the same tables has to be rerun with it.
pub async fn migrate_again(db: &DatabaseConnection, migration: &str, removals: &[&str]) {
    for sql in removals {
        db.execute_unprepared(sql).await.unwrap();
    }
    let forget = format!("DELETE FROM seaql_migrations WHERE version = '{migration}'");
    assert_eq!(db.execute_unprepared(&forget).await.unwrap().rows_affected(), 1, "{migration}");
    Migrator::up(db, None).await.unwrap();
}
