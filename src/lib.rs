//! Printfloor: the server a 3D-print shop runs on.

pub mod domain;
pub mod sealing;
pub mod services;
pub mod tls;
