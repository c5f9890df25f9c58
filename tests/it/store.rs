//! The store: the fate of commits, numbering, epochs, and outages.

mod audit;
mod bucket;
mod contract;
mod damage;
mod exclusion;
mod failover;
pub mod migrations;
mod numbers;
mod outages;
mod panics;
pub mod proxy;
pub mod rig;
mod settlements;
mod standby;
mod start_check;
pub mod submit;
pub mod takeover;
pub mod tally;
