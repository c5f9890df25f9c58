//! Printfloor: the server a 3D-print shop runs on.

pub mod actors;
pub mod blobs;
pub mod config;
pub mod domain;
pub mod entities;
pub mod fleet;
pub mod payments;
pub mod printers;
pub mod sealing;
pub mod services;
pub mod shop;
pub mod store;
pub mod tls;
