//! Deterministic simulation: the real shop, from its rules to its router, on virtual time. A seed determines a story,
//! and the same seed reproduces it byte for byte.
//!
//! The server runs on a single thread with a paused clock, its data is in memory (`disk`), its printers are the
//! simulator's machines without their protocols (`machine`), and requests reach its router without a socket (`shop`).
//! Everything that outlives a crash of the server is in the `world`. A seed draws a `plan`: what `customers` and
//! `staff` do (`workload`, `office`, `parcels`), which webhook `endpoints` there are and what other shops have `sold`,
//! which `faults` exist, when they come (`weather`, `liars`, `store_faults`) and at which steps the server crashes
//! (`power`). A story has a `size`: it is short, or a whole day of a shop with twenty printers (`day_plan`). One that
//! fails is made shorter (`shrink`) by leaving parts of its plan out (`cut`). Money moves at the `processor`, by the
//! steps of `till`, and back by the `claims` of banks; other systems answer at the ports of their clients (`outside`,
//! `receivers`, `other_shops`, `spool_manager`). `oracles` judges by what happened in the world, and asks the judged
//! code nothing; `plants` shows that it sees. A test tells a story of its own on a `floor`, by its `hall`.
//! `docs/design/simulation.md` lists what could make two runs differ, and how each is kept out.
//!
//! The wire protocols of printers and services, and the SQL databases, are not simulated; `tests/it` covers them.

mod acknowledgements;
mod adapter;
mod agenda;
mod catalogue;
mod chance;
mod claims;
mod clerk;
mod clock;
mod courier;
mod customers;
mod cut;
mod day;
mod day_plan;
mod disk;
mod downtime;
mod endpoints;
mod error;
mod faults;
mod floor;
mod growth;
mod hall;
mod hands;
mod house_rules;
mod ids;
mod inspections;
mod journal;
mod liars;
mod loose_ends;
mod machine;
mod money_plants;
mod office;
mod oracles;
mod other_shops;
mod outside;
mod parcels;
mod peers;
mod people;
mod plan;
mod plants;
mod power;
mod prints;
mod processor;
mod receivers;
mod report;
mod rest;
mod run;
mod seeds;
mod sellers;
mod settings;
mod setup;
mod shop;
mod shrink;
mod size;
mod sold;
mod spool_keeper;
mod spool_manager;
mod staff;
mod store_faults;
mod story;
mod subscribers;
mod till;
mod weather;
mod workload;
mod world;

pub use cut::{Cut, PlanPart};
pub use error::SimError;
pub use faults::FaultKind;
pub use floor::{Floor, file_of};
pub use hall::{Hall, attempt_states, has_words};
pub use plants::Plant;
pub use run::{SeedReport, run, run_cut, run_sized, seeds_to_catch};
pub use seeds::run_all;
pub use shrink::{ShortStory, shrink, shrink_sized};
pub use size::Size;

/// The server's allocator, for the program and for the tests of stories; with the system's one, a fifth of the time
/// would be spent on allocation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
