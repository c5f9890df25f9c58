//! A hall of all types at once.

mod chaos;
