//! The shell and its supervisor: who hears what when something falls.

mod answers;
pub mod chaos;
mod components;
mod crashes;
mod real_kinds;
mod rest;
