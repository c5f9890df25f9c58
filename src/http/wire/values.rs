//! Parsing of scalar values.

use api_schema::shape::{Shape, above_zero};
use api_schema::words::words_of;
use serde_json::{Value, json};

use super::{FromJson, ToSchema, ValuePath};
use domain::amount::Amount;
use domain::bounds::{MAX_LENGTH_MM, length_mm};
use domain::id::Id;
use domain::refusal::Faults;
use domain::sku::Dimensions;
use domain::time::Timestamp;
use domain::time_span::{SpanEnd, SpanStart};

/// Declares how a scalar type is parsed: the error message for other values, the conversion, and the JSON for a query
/// parameter's text.
macro_rules! value {
    ($type:ty $(; empty_is_absent = $empty_is_absent:literal)?, $message:expr, $read:expr $(, $from_text:expr)?) => {
        impl FromJson for $type {
            type Inner = Self;
            $(const EMPTY_IS_ABSENT: bool = $empty_is_absent;)?
            fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
                let read: fn(&Value) -> Option<Self> = $read;
                read(&value).or_else(|| place.fault(faults, $message))
            }
            fn inner(&self) -> Option<&Self> {
                Some(self)
            }
            fn to_json(&self) -> Option<Value> {
                serde_json::to_value(self).ok()
            }
            $(fn from_text(text: String) -> Value {
                let parse: fn(&str) -> Option<Value> = $from_text;
                parse(&text).unwrap_or(Value::String(text))
            })?
        }
    };
}

/// Error message for a text that is neither a time nor a date.
const TIME_OR_DAY: &str = "must be an RFC 3339 date and time, or a date YYYY-MM-DD, from 1970 to 2999";

fn parsed<T: std::str::FromStr + Into<Value>>(text: &str) -> Option<Value> {
    text.parse::<T>().ok().map(Into::into)
}

value!(bool, "must be true or false", Value::as_bool, parsed::<bool>);
value!(i64; empty_is_absent = false, "must be a whole number", Value::as_i64, parsed::<i64>);
value!(u64; empty_is_absent = false, "must be a whole number", Value::as_u64, parsed::<u64>);
value!(f64; empty_is_absent = false, "must be a number", Value::as_f64, parsed::<f64>);
value!(
    u8; empty_is_absent = false,
    format!("must be a whole number from {} to {}", u8::MIN, u8::MAX),
    |value| value.as_i64()?.try_into().ok(),
    parsed::<i64>
);
value!(
    u32; empty_is_absent = false,
    format!("must be a whole number from {} to {}", u32::MIN, u32::MAX),
    |value| value.as_i64()?.try_into().ok(),
    parsed::<i64>
);
value!(Id, "must be a UUID", |value| value.as_str()?.parse().ok());
value!(Timestamp, "must be an RFC 3339 date and time from 1970 to 2999", |value| value.as_str()?.parse().ok());
value!(SpanStart, TIME_OR_DAY, |value| value.as_str()?.parse().ok());
value!(SpanEnd, TIME_OR_DAY, |value| value.as_str()?.parse().ok());

/// Declares an enumeration without data: a named schema with the names that `serde` reads and writes. The schema has
/// the type's name, or the name that follows it: `enumeration!(Activity = "PrinterState")`. A doc comment before the
/// type becomes the description of the schema.
#[macro_export]
macro_rules! enumeration {
    ($($(#[doc = $doc:literal])* $type:ident),+ $(,)?) => {
        $($crate::wire::enumeration!($(#[doc = $doc])* $type = stringify!($type));)+
    };
    ($($(#[doc = $doc:literal])* $type:ident = $name:expr),+ $(,)?) => {$(
        impl api_schema::ToSchema for $type {
            const NAME: Option<&'static str> = Some($name);
            fn schema() -> api_schema::shape::Shape {
                api_schema::words::word_of::<Self>().described(concat!($($doc),*).trim())
            }
        }
        $crate::wire::readable!($type);
    )+};
}

/// Declares how an enumeration without data is parsed if its schema is declared elsewhere.
#[macro_export]
macro_rules! readable {
    ($($type:ident),+) => {$(
        impl $crate::wire::FromJson for $type {
            type Inner = Self;
            fn from_json(
                value: serde_json::Value,
                place: &$crate::wire::ValuePath<'_>,
                faults: &mut domain::refusal::Faults,
            ) -> Option<Self> {
                $crate::wire::read_word(&value, place, faults)
            }
            fn inner(&self) -> Option<&Self> {
                Some(self)
            }
        }
    )+};
}
pub use {enumeration, readable};

/// Parses a name of an enumeration value.
pub fn read_word<T: serde::de::DeserializeOwned>(
    value: &Value,
    place: &ValuePath<'_>,
    faults: &mut Faults,
) -> Option<T> {
    let read = value.as_str().and_then(|text| {
        let text: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
            serde::de::IntoDeserializer::into_deserializer(text);
        T::deserialize(text).ok()
    });
    read.or_else(|| place.fault(faults, format!("must be one of {}", words_of::<T>().join(", "))))
}

impl FromJson for String {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        let Value::String(text) = value else { return place.fault(faults, "must be a string") };
        // A search for odd characters finds nothing; but PostgreSQL takes no NUL, not even to compare with.
        let control = |c: char| c == '\0' || (!place.in_query && c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
        if text.chars().any(control) {
            return place.fault(faults, "must not contain control characters");
        }
        Some(text)
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
    fn to_json(&self) -> Option<Value> {
        Some(json!(self))
    }
}

impl FromJson for Amount {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        match &value {
            Value::Number(number) => {
                Self::from_number(number).map_or_else(|error| place.fault(faults, error.to_string()), Some)
            }
            _ => place.fault(faults, "must be a number"),
        }
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
    fn to_json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        let Value::Array(items) = value else { return place.fault(faults, "must be a list") };
        let mut all = Self::with_capacity(items.len());
        let mut complete = true;
        for (index, item) in items.into_iter().enumerate() {
            let path = format!("{}.{index}", place.path);
            let item = T::from_json(item, &ValuePath { path: &path, in_query: false }, faults);
            complete &= item.is_some();
            all.extend(item);
        }
        complete.then_some(all)
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
    fn to_json(&self) -> Option<Value> {
        self.iter().map(T::to_json).collect::<Option<_>>().map(Value::Array)
    }
}

/// Length along one axis, in millimetres.
struct Length(f64);

impl ToSchema for Length {
    fn schema() -> Shape {
        above_zero(MAX_LENGTH_MM)
    }
}

impl FromJson for Length {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        let length = value.as_f64().and_then(length_mm);
        length.map(Self).or_else(|| place.fault(faults, "must be a number of millimetres above 0"))
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

impl FromJson for Dimensions {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        let mut members = super::Members::of(value, place, faults)?;
        let axes: [Option<Length>; 3] = ["x", "y", "z"].map(|axis| members.read(axis, &[], None));
        members.finish();
        let [x, y, z] = axes;
        Some(Self { x: x?.0, y: y?.0, z: z?.0 })
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}
