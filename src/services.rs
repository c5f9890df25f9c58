//! Clients of outside systems, one file each. Every base address, clock and HTTP client is handed in.
//!
//! Nothing outside this folder knows a vendor; nothing in it knows the rules of the shop.

pub mod agent;
pub mod http;
pub mod mail;
pub mod parts;
pub mod redis;
pub mod slicer;
pub mod tls;
pub mod webhook;
