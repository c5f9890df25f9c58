//! Parsing of the nested objects of the rules, whose schemas are in the crate `domain`.

mod address;
mod nozzle;
mod position;
mod sku;
