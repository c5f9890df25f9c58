//! Deterministic simulation: the real shop, from its rules to its router, on virtual time. One seed is one story, and
//! the same seed tells it again to the byte.
//!
//! The server runs on a single thread with a paused clock, its data is in memory (`disk`), its printers are the
//! simulator's machines without their protocols (`machine`), and requests reach its router without a socket (`shop`).
//! Everything that outlives a crash of the server is in the `world`. `oracles` judges by what happened in the world,
//! and asks the judged code nothing. `docs/design/simulation.md` lists what could make two runs differ, and how each is
//! kept out.
//!
//! The wire protocols of printers and services, and the SQL databases, are not simulated: `tests/it` has them.

mod adapter;
mod clock;
mod day;
mod disk;
mod error;
mod ids;
mod machine;
mod oracles;
mod outside;
mod report;
mod run;
mod settings;
mod shop;
mod story;
mod world;

pub use error::SimError;
pub use run::{SeedReport, run};
