//! What tests share.

pub mod database;
