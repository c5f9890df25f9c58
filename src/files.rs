//! Uploaded files on the disk of the server.

pub mod blobs;
