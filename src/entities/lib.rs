//! Tables as `SeaORM` entities, one file per table; `migrations/` creates them.
//!
//! Only for use by `store/`: all other modules use the domain types. Ids are hyphenated UUIDs, times milliseconds since
//! 1970 UTC, money minor units, amounts thousandths, `doc` the serialised domain value and `schema` its version.
#![expect(missing_docs, reason = "columns are what the domain's fields of the same name are")]

pub mod access;
pub mod accounting;
pub mod api_keys;
pub mod attempts;
pub mod audit;
pub mod channel_orders;
pub mod claims;
pub mod custom_requests;
pub mod customer_sessions;
pub mod customers;
pub mod deliveries;
pub mod endpoints;
pub mod events;
pub mod exports;
pub mod files;
pub mod idempotency;
pub mod inbound;
pub mod integrations;
pub mod invoice_documents;
pub mod invoices;
pub mod jobs;
pub mod mails;
pub mod maintenance_entries;
pub mod maintenance_reminders;
pub mod materials;
pub mod movements;
pub mod number_gaps;
pub mod orders;
pub mod payments;
pub mod postings;
pub mod printers;
pub mod quotes;
pub mod restores;
pub mod sales_channel_variants;
pub mod sales_channels;
pub mod sign_in_links;
pub mod skus;
pub mod staff_sessions;
pub mod stock_links;
pub mod users;
pub mod writer;
