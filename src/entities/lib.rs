//! Tables as `SeaORM` entities, with one module per table and one file per area of the schema. `migrations/` creates
//! the tables.
//!
//! Only `store/` may use them: all other modules use the domain types. IDs are hyphenated UUIDs, times are in
//! milliseconds since 1970 UTC, money is in minor units, and amounts are in thousandths. `doc` is the serialised domain
//! value, and `schema` is the version of its format.
#![expect(missing_docs, reason = "columns mirror the domain fields of the same name")]

/// Declares a table of snapshots, each row an aggregate with the version of its last commit.
macro_rules! snapshots {
    ($(#[$doc:meta])* $table:ident = $name:tt { $($columns:tt)* }) => {
        entity! {
            $(#[$doc])*
            $table = $name { pub version: i64, pub schema: i64, pub doc: String, $($columns)* }
        }
    };
}

/// Declares a table of rows that belong to an aggregate.
macro_rules! rows {
    ($(#[$doc:meta])* $table:ident = $name:tt { $($columns:tt)* }) => {
        entity! {
            $(#[$doc])*
            $table = $name { pub schema: i64, pub doc: String, $($columns)* }
        }
    };
}

/// Declares the module of a table whose primary key is an ID.
macro_rules! entity {
    ($(#[$doc:meta])* $table:ident = $name:tt { $($columns:tt)* }) => {
        $(#[$doc])*
        pub mod $table {
            use sea_orm::entity::prelude::*;

            /// Row of the table.
            #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
            #[sea_orm(table_name = $name)]
            pub struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub id: String,
                $($columns)*
            }

            entity_tail!();
        }
    };
}

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
