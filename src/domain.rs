//! The rules of the shop, pure: no tokio, no ractor, no axum, no database. Clock, ids and numbers are handed in.

pub mod gcode;
