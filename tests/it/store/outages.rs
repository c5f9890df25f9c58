//! Outages of the database: clear words, reads go on, recovery by itself. Each test cuts off, fills or closes a
//! database or a disk of its own, so others may run beside it.

mod answered;
mod cut;
mod disk;
