//! Printfloor: the server a 3D-print shop runs on.

pub mod domain;
pub mod entities;
pub mod store;
