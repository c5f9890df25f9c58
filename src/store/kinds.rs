//! Storage for aggregates, with one file per kind: the kind's tables, and the code that reassembles an aggregate from
//! their rows.
//!
//! Each file declares the snapshot row (`snapshot_row!`) and the part rows (`part_row!`), what each row of a commit
//! writes ([`crate::rows::StoredRow`]), which aggregates are resident, and how parts are attached to them
//! ([`crate::load::Load`]). Both databases and the in-memory store are derived from these declarations.

mod access;
mod accounting;
mod channel_order;
mod custom_request;
mod customer;
mod endpoint;
mod export;
mod file;
mod integration;
mod invoice;
mod mail;
mod material;
mod order;
mod payment_event;
mod posting;
mod printer;
mod quote;
mod restore;
mod sales_channel;
mod sign_in_link;
mod sku;
#[cfg(test)]
mod tests;

pub(super) use endpoint::pending_deliveries;
pub(super) use invoice::read_document;
pub(super) use order::with_attempts;
