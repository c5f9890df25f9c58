//! Tables as `SeaORM` entities, with one module per table and one file per area of the schema. `migrations/` creates
//! the tables.
//!
//! Only `store/` may use them: all other modules use the domain types. IDs are hyphenated UUIDs, times are in
//! milliseconds since 1970 UTC, money is in minor units, and amounts are in thousandths. `doc` is the serialised domain
//! value, and `schema` is the version of its format.
#![expect(missing_docs, reason = "columns mirror the domain fields of the same name")]

/// Ends a table's module. `SeaORM` relations and hooks are left empty: rows refer to each other by IDs that only the
/// domain interprets.
macro_rules! entity_tail {
    () => {
        #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
        pub enum Relation {}

        impl ActiveModelBehavior for ActiveModel {}
    };
}

mod buyers;
mod fleet;
mod messages;
mod money;
mod operations;
mod products;
mod sales;
mod staff;
mod stock;

pub use buyers::{custom_requests, customer_sessions, customers, quotes, sign_in_links};
pub use fleet::{maintenance_entries, maintenance_reminders, printers};
pub use messages::{deliveries, endpoints, events, mails};
pub use money::{accounting, inbound, invoice_documents, invoices, number_gaps, payments, postings};
pub use operations::{audit, exports, idempotency, integrations, restores, writer};
pub use products::{files, skus};
pub use sales::{attempts, channel_orders, jobs, orders, sales_channel_variants, sales_channels};
pub use staff::{access, api_keys, staff_sessions, users};
pub use stock::{claims, materials, movements, stock_links};
