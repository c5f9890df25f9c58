//! Uploaded files and exported tables on a disk or in a bucket; the setup wizard's draft on the server's disk; the free
//! space on the disk; and archives of the shop's contents.

pub mod archive;
pub mod blobs;
pub mod disk;
pub mod exports;
pub mod mailboxes;
pub mod picture;
pub mod pieces;
pub mod setup_draft;
pub mod turns;

mod drawing;
mod metadata;
mod reading;
