//! The rules of the shop, pure: no tokio, no ractor, no axum, no database. Clock, ids and numbers are handed in.

pub mod amount;
pub mod id;
pub mod principal;
pub mod refusal;
pub mod rules;
pub mod telemetry;
pub mod time;
