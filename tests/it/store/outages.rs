//! Database outages: clear messages, reads that continue, automatic recovery. Each test disconnects, fills or closes
//! its own database or disk, so that tests can run in parallel.

mod answered;
mod cut;
mod disk;
