//! Printfloor: the server a 3D-print shop runs on.

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
pub mod server;
pub use ::services;
pub use ::store;

/// HTTP: the edge, the resources of both halves of the API, and the pages.
pub mod http {
    pub use ::http::*;
    pub use ::http_api::{billing, production, resources};
    pub use ::http_pages as pages;
}

/// `mimalloc` instead of the system's allocator, which took about half of the time of a request and of a commit.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
