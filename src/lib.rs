//! Printfloor: the server a 3D-print shop runs on.

pub mod config;
pub mod domain;
pub mod entities;
pub mod printers;
pub mod sealing;
pub mod services;
pub mod store;
pub mod tls;
