//! Tables as `SeaORM` entities, one module per table, one file for each area of the schema; `migrations/` creates them.
//!
//! Only for use by `store/`: all other modules use the domain types. Ids are hyphenated UUIDs, times milliseconds since
//! 1970 UTC, money minor units, amounts thousandths, `doc` the serialised domain value and `schema` its version.
#![expect(missing_docs, reason = "columns are what the domain's fields of the same name are")]

/// Ends the module of a table: rows are related by ids that the domain knows, and saved as they are.
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
