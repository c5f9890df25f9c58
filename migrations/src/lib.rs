//! Printfloor's database schema, for SQLite and PostgreSQL from a single description.
//!
//! A released migration is never edited; a schema change is a new migration. On both databases, each migration runs in
//! one transaction with the row that records it: if the process ends in the middle, the database is left unchanged.
//! What a migration may do to the tables of the release before, its name declares ([`label`]).

pub mod label;
mod m20261121_000001_create_tables;
mod m20261121_000002_add_audit_detail_and_delivery_event;
mod m20261122_000003_rename_idempotency_aggregate_id;
mod m20261122_000004_keep_check_values_of_secrets;
mod m20261122_000005_add_order_flags;
mod m20261122_000006_payments_by_intent;
mod m20261122_000007_judged_prints;
mod m20261122_000008_kept_cents_of_orders;
mod m20261122_000009_cost_of_scrap;
mod m20261122_000010_integrations;
mod m20261122_000011_link_stock;
mod m20261122_000012_printer_care;
mod m20261122_000013_photos_of_prints;
mod m20261122_000014_customers;
mod m20261122_000016_invoices;
mod m20261123_000017_custom_requests;
mod m20261123_000018_quotes;
mod m20261123_000019_exports_and_accounting;
mod m20261123_000020_sales_channels;
mod m20261123_000021_pay_links;
mod m20261123_000024_list_invoices;
mod m20261124_000025_unsigned_jobs;
mod m20261125_000026_finished_invoices_and_early_refunds;
mod m20261125_000029_restores;
mod m20261125_000031_customer_files;
mod m20261128_000032_rejected_after_shipping;
mod m20261128_000033_unanswered_requests;
mod m20261128_000034_gcode_of_customers;
mod m20261129_000035_promised_orders_are_watched;
mod m20261129_000041_audit_by_kind;
mod m20261130_000042_files_by_kind;
mod m20261201_000052_chain_audit;
mod m20261201_000062_row_counts;
mod m20261201_000063_indexes_in_list_order;
mod m20261201_000064_print_sums;
mod table;

use sea_orm_migration::{DbErr, MigrationName, MigrationTrait, async_trait};
pub use sea_orm_migration::{MigrationStatus, MigratorTrait, SchemaManager};

/// Migrations of a database to the latest schema: `Migrator::up(&db, None)`.
#[derive(Debug)]
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            whole(m20261121_000001_create_tables::Migration),
            whole(m20261121_000002_add_audit_detail_and_delivery_event::Migration),
            whole(m20261122_000003_rename_idempotency_aggregate_id::Migration),
            whole(m20261122_000004_keep_check_values_of_secrets::Migration),
            whole(m20261122_000005_add_order_flags::Migration),
            whole(m20261122_000006_payments_by_intent::Migration),
            whole(m20261122_000007_judged_prints::Migration),
            whole(m20261122_000008_kept_cents_of_orders::Migration),
            whole(m20261122_000009_cost_of_scrap::Migration),
            whole(m20261122_000010_integrations::Migration),
            whole(m20261122_000011_link_stock::Migration),
            whole(m20261122_000012_printer_care::Migration),
            whole(m20261122_000013_photos_of_prints::Migration),
            whole(m20261122_000014_customers::Migration),
            whole(m20261122_000016_invoices::Migration),
            whole(m20261123_000017_custom_requests::Migration),
            whole(m20261123_000018_quotes::Migration),
            whole(m20261123_000019_exports_and_accounting::Migration),
            whole(m20261123_000020_sales_channels::Migration),
            whole(m20261123_000021_pay_links::Migration),
            whole(m20261123_000024_list_invoices::Migration),
            whole(m20261124_000025_unsigned_jobs::Migration),
            whole(m20261125_000026_finished_invoices_and_early_refunds::Migration),
            whole(m20261125_000029_restores::Migration),
            whole(m20261125_000031_customer_files::Migration),
            whole(m20261128_000032_rejected_after_shipping::Migration),
            whole(m20261128_000033_unanswered_requests::Migration),
            whole(m20261128_000034_gcode_of_customers::Migration),
            whole(m20261129_000035_promised_orders_are_watched::Migration),
            whole(m20261129_000041_audit_by_kind::Migration),
            whole(m20261130_000042_files_by_kind::Migration),
            whole(m20261201_000052_chain_audit::Migration),
            whole(m20261201_000062_row_counts::Migration),
            whole(m20261201_000063_indexes_in_list_order::Migration),
            whole(m20261201_000064_print_sums::Migration),
        ]
    }
}

/// Wraps a migration so that it is applied completely or not at all.
fn whole(migration: impl MigrationTrait + 'static) -> Box<dyn MigrationTrait> {
    Box::new(Whole(migration))
}

struct Whole<M>(M);

impl<M: MigrationTrait> MigrationName for Whole<M> {
    fn name(&self) -> &str {
        self.0.name()
    }
}

#[async_trait::async_trait]
impl<M: MigrationTrait> MigrationTrait for Whole<M> {
    #[expect(elided_lifetimes_in_paths, reason = "async_trait wants it as the trait writes it")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.0.up(manager).await
    }

    // SQLite would run each statement by itself otherwise.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
