//! The one binary of tests over the whole of the project.

mod invariants;
