//! Parses the domain's nested objects, whose schemas are in the crate `domain`.

mod address;
mod nozzle;
mod position;
mod sku;
