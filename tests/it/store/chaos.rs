//! Outages of the database.
