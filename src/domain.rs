//! The rules of the shop, pure: no tokio, no ractor, no axum, no database. Clock, ids and numbers are handed in.
//!
//! One file a thing. Each thing answers commands with decisions or refusals ([`durable`]); nothing here performs I/O.

pub mod access;
pub mod agent;
pub mod amount;
pub mod dispatch;
pub mod durable;
pub mod endpoint;
pub mod event;
pub mod file;
pub mod gcode;
pub mod id;
pub mod inbound;
pub mod inbox;
pub mod job;
pub mod limits;
pub mod mail;
pub mod material;
pub mod order;
pub mod principal;
pub mod printer;
pub mod refusal;
pub mod rules;
pub mod schedule;
pub mod signing;
pub mod sku;
pub mod target;
pub mod telemetry;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
