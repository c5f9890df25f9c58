//! Virtual printers.
