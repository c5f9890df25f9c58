//! Clients for external systems, one file per system, and the cache of the catalogue. Base addresses, clocks and HTTP
//! clients are always passed in.
//!
//! No code outside this directory depends on a vendor; no code inside it depends on the shop's rules.

pub mod accounting;
pub mod agent;
pub mod catalog_cache;
pub mod circuit;
pub mod failure_detection;
pub mod farm_ui;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod mail;
pub mod mqtt;
pub mod object_storage;
pub mod parts;
pub mod payments;
pub mod peer_client;
pub mod peer_fault;
pub mod peers;
pub mod redis;
pub mod sales_channels;
pub mod slicer;
pub mod smart_home;
pub mod storefront;
pub mod webhook;
pub mod workflow;
