//! Printfloor's tables, for SQLite and PostgreSQL from one description.
//!
//! A migration that has been released is never edited; a change to the tables is a new migration.

mod m20261121_000001_create_tables;
mod m20261121_000002_add_audit_detail_and_delivery_event;
mod m20261122_000003_payments_by_intent;
mod table;

pub use sea_orm_migration::{MigrationStatus, MigratorTrait};
use sea_orm_migration::{MigrationTrait, async_trait};

/// Brings a database to the newest tables: `Migrator::up(&db, None)`.
#[derive(Debug)]
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m20261121_000001_create_tables::Migration),
            Box::new(m20261121_000002_add_audit_detail_and_delivery_event::Migration),
            Box::new(m20261122_000003_payments_by_intent::Migration),
        ]
    }
}
