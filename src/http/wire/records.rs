//! Parsing of the nested objects of the rules, whose schemas stand beside them in the crate `domain`.

mod address;
mod nozzle;
mod position;
mod sku;
