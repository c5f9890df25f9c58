//! The shell and its keeper: who hears what when something falls.

mod answers;
pub mod chaos;
mod falls;
mod pillars;
mod rest;
