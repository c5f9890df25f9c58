//! Printfloor: the server a 3D-print shop runs on.

pub mod actors;
pub mod blobs;
pub mod cli;
pub mod config;
pub mod credentials;
pub mod demo;
pub mod domain;
pub mod entities;
pub mod fleet;
pub mod http;
pub mod log;
pub mod meters;
pub mod payments;
pub mod printers;
pub mod sealing;
pub mod server;
pub mod services;
pub mod shop;
pub mod store;
pub mod tls;

/// Half of a request's and of a commit's own time went into the system's allocator; here its share is a fraction of that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
