//! Parses the domain's nested objects, whose schemas are in the crate `domain`.

/// Declares how a nested object of the domain is parsed: as the request struct that has its fields, followed by the
/// conversion with the given function, if any.
macro_rules! record {
    ($type:ident, $given:ident $(, $finish:expr)?) => {
        impl $crate::wire::FromJson for $type {
            type Inner = Self;
            fn from_json(
                value: serde_json::Value,
                place: &$crate::wire::ValuePath<'_>,
                faults: &mut domain::refusal::Faults,
            ) -> Option<Self> {
                <$given as $crate::wire::FromJson>::from_json(value, place, faults)
                    .map($given::into_fields)
                    $(.and_then($finish))?
            }
            fn inner(&self) -> Option<&Self> {
                Some(self)
            }
        }
    };
}

mod address;
mod nozzle;
mod position;
mod sku;
