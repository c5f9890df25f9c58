//! Printfloor: server for 3D-print shops.

pub use ::actors;
pub use ::actors::{app, integrations};
pub mod cli;
pub use ::config;
pub use ::documents;
pub use ::domain;
pub use ::entities;
pub use ::files;
pub use ::platform;
pub use ::platform::{observe, secrets, shared};
pub use ::printers;
pub mod process_settings;
pub mod server;
pub use ::services;
pub use ::store;
pub use ::words;

/// HTTP layer: the acceptor, the resources of both APIs, and the pages.
pub mod http {
    pub use ::http::*;
    pub use ::http_api::{billing, production, resources};
    pub use ::http_pages as pages;
}

/// Memory allocator. The system allocator accounted for about half of the time taken by a request or a commit, so
/// `mimalloc` is used instead. It asks for no huge pages, and [`process_settings`] refuses those that are given
/// unasked.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
