//! The store: the only part that writes, and the only one that knows tables.

pub mod rows;
