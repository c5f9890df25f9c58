//! Tests of the whole, in one binary.
#![expect(clippy::unwrap_used, reason = "tests")]

mod shell;
mod store;
mod support;
