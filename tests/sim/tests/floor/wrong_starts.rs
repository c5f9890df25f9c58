//! Wrong starts and lost prints that users of farm software have reported, by name. `tests/it/machines` has the same
//! stories over the protocols.

mod ends;
mod files;
mod starts;
