//! The actor of aggregates and its supervisor: who hears what when something crashes.

mod answers;
pub mod chaos;
mod components;
mod crashes;
mod real_kinds;
mod rest;
