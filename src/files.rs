//! Uploaded files, tables that were asked for, and what the wizard has gathered, on the server's disk; how much room
//! there is on it; archives of what is there.

pub mod archive;
pub mod blobs;
pub mod disk;
pub mod exports;
pub mod mailboxes;
pub mod picture;
pub mod pieces;
pub mod setup_draft;
pub mod turns;

mod metadata;
mod reading;
