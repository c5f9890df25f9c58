//! One file for each kind of aggregate: its tables, and how it is put together again from them.
//!
//! A file declares the snapshot row (`snapshot_row!`) and the rows of parts (`part_row!`), says what each row of a
//! commit writes ([`crate::store::rows::StoredRow`]), and which aggregates are resident and how their parts are put
//! back ([`crate::store::load::Load`]). Databases and the store in memory both follow from that.

mod access;
mod endpoint;
mod file;
mod integration;
mod mail;
mod material;
mod order;
mod payment_event;
mod printer;
mod sku;
#[cfg(test)]
mod tests;

pub(super) use order::with_attempts;
