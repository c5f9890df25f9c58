//! Uploaded files on the server's disk.

pub mod blobs;

mod metadata;
mod reading;
