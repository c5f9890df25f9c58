//! Deterministic simulation: the real shop, from its rules to its router, on virtual time. One seed is one story, and
//! the same seed tells it again to the byte.
//!
//! The server runs on a single thread with a paused clock, its data is in memory (`disk`), its printers are the
//! simulator's machines without their protocols (`machine`), and requests reach its router without a socket (`shop`).
//! Everything that outlives a crash of the server is in the `world`. A seed draws a `plan`: what `customers` and
//! `staff` do, which `faults` exist, when they come (`weather`, `store_faults`) and at which steps the server crashes
//! (`power`). Money moves at the `processor`, by the steps of `till`, and `outside` delivers mails. `oracles` judges by
//! what happened in the world, and asks the judged code nothing; `plants` shows that it sees.
//! `docs/design/simulation.md` lists what could make two runs differ, and how each is kept out.
//! `staff` do, which webhook `endpoints` there are and what other shops have `sold`, which `faults` exist, when they
//! come (`weather`, `store_faults`) and at which steps the server crashes (`power`). Other systems answer at the ports
//! of their clients (`outside`, `receivers`, `other_shops`). `oracles` judges by what happened in the world, and asks
//! the judged code nothing; `plants` shows that it sees. `docs/design/simulation.md` lists what could make two runs
//! differ, and how each is kept out.
//!
//! The wire protocols of printers and services, and the SQL databases, are not simulated: `tests/it` has them.

mod acknowledgements;
mod adapter;
mod chance;
mod clerk;
mod clock;
mod courier;
mod customers;
mod day;
mod disk;
mod downtime;
mod endpoints;
mod error;
mod faults;
mod growth;
mod ids;
mod inspections;
mod loose_ends;
mod machine;
mod money_plants;
mod oracles;
mod other_shops;
mod outside;
mod people;
mod plan;
mod plants;
mod power;
mod processor;
mod receivers;
mod report;
mod run;
mod sellers;
mod settings;
mod setup;
mod shop;
mod shrink;
mod sold;
mod staff;
mod store_faults;
mod story;
mod subscribers;
mod till;
mod weather;
mod world;

pub use error::SimError;
pub use faults::FaultKind;
pub use plan::Cut;
pub use plants::Plant;
pub use run::{SeedReport, run, run_cut, seeds_to_catch};
pub use shrink::{ShortStory, shrink};
