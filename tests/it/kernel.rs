//! The actor of aggregates and its supervisor: the responses that callers receive when something crashes.

mod answers;
pub mod chaos;
mod components;
mod crashes;
mod real_kinds;
mod rest;
