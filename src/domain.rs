//! The rules of the shop, pure: no tokio, no ractor, no axum, no database. Clock, ids and numbers are handed in.
//!
//! One file or folder for each aggregate, which answers commands with decisions or refusals ([`aggregate`]). Nothing
//! here performs I/O.

pub mod access;
pub mod agent;
pub mod aggregate;
pub mod amount;
pub mod bounds;
pub mod breaker;
pub mod camera_link;
mod decision_context;
pub mod dispatch;
pub mod endpoint;
pub mod event;
pub mod failure_detection;
pub mod file;
pub mod forecast;
pub mod gcode;
pub mod gcode_form;
pub mod heaters;
pub mod id;
pub mod integration;
pub mod job;
pub mod kept_payment_event;
pub mod launch;
pub mod limits;
pub mod mail;
pub mod maintenance;
pub mod material;
pub mod order;
mod order_status;
pub mod parts_sync;
pub mod payment_event;
pub mod peer_address;
pub mod principal;
pub mod printer;
pub mod printer_status;
pub mod printer_types;
pub mod promise;
pub mod refusal;
mod region;
pub mod requirement;
pub mod rules;
pub mod schedule;
mod schemas;
pub mod setup;
pub mod shop_hours;
pub mod sign_off;
pub mod signing;
pub mod sku;
pub mod slice_source;
pub mod target;
pub mod temperature_history;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
