//! Printfloor: the server a 3D-print shop runs on.

pub mod config;
pub mod domain;
pub mod printers;
pub mod sealing;
pub mod services;
pub mod tls;
