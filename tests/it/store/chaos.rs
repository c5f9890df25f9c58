//! Outages of the database: clear words, reads go on, recovery by itself.

mod answered;
mod cut;
mod disk;
