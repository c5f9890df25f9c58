//! Storage of each kind of aggregate, one file per kind: its tables, and how it is reassembled from them.
//!
//! A file declares the snapshot row (`snapshot_row!`) and the rows of parts (`part_row!`), defines what each row of a
//! commit writes ([`crate::rows::StoredRow`]), and which aggregates are resident and how their parts are
//! attached ([`crate::load::Load`]). Both databases and the store in memory are derived from that.

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

pub(super) use invoice::read_document;
pub(super) use order::with_attempts;
