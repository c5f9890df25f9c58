//! The shop as it lives: every thing with a life is an actor around its rules, every change one durable commit.
//!
//! [`shell`] is the one generic actor; [`handle`] is how everybody speaks to a thing; [`keeper`] supervises one kind.

pub mod access;
pub mod dispatcher;
pub mod endpoints;
pub mod envelope;
pub mod environment;
pub mod handle;
pub mod inbound;
pub mod keeper;
pub mod mails;
pub mod materials;
pub mod orders;
pub mod policy;
pub mod printers;
pub mod root;
pub mod shell;
pub mod slot;
pub mod things;
pub mod world;
