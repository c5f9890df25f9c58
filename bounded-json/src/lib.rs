//! Parses JSON from outside the server into a [`Value`], within bounds on its depth and size.
//!
//! `serde_json::from_slice::<Value>` must not be used for such text: while its feature `raw_value` is on (axum and sqlx
//! enable it), the text of an object whose only field is `$serde_json::private::RawValue` is parsed again with a fresh
//! depth limit, so that 67 KB crash the process by overflowing its stack. In this parser, no name has a special
//! meaning. `clippy.toml` enforces this.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Limits on the depth and size of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum nesting depth of arrays and objects.
    pub depth: usize,
    /// Maximum total number of values: a value takes up about 30 bytes of memory in addition to its text, no matter how
    /// short the text is.
    pub values: usize,
}

/// Bounds for a request body, whose size in bytes has already been limited.
pub const REQUEST: Bounds = Bounds { depth: 32, values: 50_000 };

/// Bounds for a response or message from a printer or another program, some of which are long lists.
pub const ANSWER: Bounds = Bounds { depth: 64, values: 1_000_000 };

/// Maximum number of repeated fields to record.
const MAX_REPEATED: usize = 50;

/// Parsed document.
#[derive(Debug, PartialEq)]
pub struct Document {
    /// Content of the document. If a field is repeated, its last occurrence is used.
    pub value: Value,
    /// Dotted paths of fields that occur more than once in an object.
    pub repeated: Vec<String>,
}

/// Parses a document and records its repeated fields. The error message does not contain the parsed text.
pub fn document(bytes: &[u8], bounds: Bounds) -> Result<Document, serde_json::Error> {
    let reader = BoundedReader { bounds, values: Cell::new(0), repeated: RefCell::default() };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = At { reader: &reader, depth: 0, path: None }.deserialize(&mut json)?;
    json.end()?;
    Ok(Document { value, repeated: reader.repeated.into_inner() })
}

/// Parses a document from another program, in which repeated fields are not recorded.
pub fn read(bytes: &[u8], bounds: Bounds) -> Result<Value, serde_json::Error> {
    document(bytes, bounds).map(|document| document.value)
}

struct BoundedReader {
    bounds: Bounds,
    values: Cell<usize>,
    repeated: RefCell<Vec<String>>,
}

/// Path to a value, linked from the inside out, so that it is assembled only when an error message needs it.
#[derive(Clone, Copy)]
struct Path<'a> {
    outer: Option<&'a Path<'a>>,
    step: PathStep<'a>,
}

#[derive(Clone, Copy)]
enum PathStep<'a> {
    Member(&'a str),
    Item(usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(outer) = self.outer {
            write!(f, "{outer}.")?;
        }
        match self.step {
            PathStep::Member(name) => f.write_str(name),
            PathStep::Item(at) => write!(f, "{at}"),
        }
    }
}

/// Deserialiser seed for the value at one path.
#[derive(Clone, Copy)]
struct At<'a> {
    reader: &'a BoundedReader,
    depth: usize,
    path: Option<&'a Path<'a>>,
}

impl At<'_> {
    fn inside<'b, E: serde::de::Error>(&'b self, path: &'b Path<'b>) -> Result<At<'b>, E> {
        let depth = self.depth + 1;
        if depth > self.reader.bounds.depth {
            return Err(E::custom(format!("more than {} levels of nesting", self.reader.bounds.depth)));
        }
        Ok(At { reader: self.reader, depth, path: Some(path) })
    }
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = Value;
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let values = self.reader.values.get() + 1;
        self.reader.values.set(values);
        if values > self.reader.bounds.values {
            return Err(D::Error::custom(format!("more than {} values", self.reader.bounds.values)));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        loop {
            let path = Path { outer: self.path, step: PathStep::Item(all.len()) };
            match items.next_element_seed(self.inside(&path)?)? {
                Some(item) => all.push(item),
                None => return Ok(Value::Array(all)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let path = Path { outer: self.path, step: PathStep::Member(&name) };
            let value = members.next_value_seed(self.inside(&path)?)?;
            let mut repeated = self.reader.repeated.borrow_mut();
            if all.contains_key(&name) && repeated.len() < MAX_REPEATED {
                repeated.push(path.to_string());
            }
            drop(repeated);
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const SMALL: Bounds = Bounds { depth: 3, values: 10 };

    /// Builds nested objects that `serde_json` would parse again, each around the one before.
    fn nested_raw_values(levels: usize) -> String {
        let mut text = "[".repeat(100);
        for _ in 0..levels {
            text = json!({"$serde_json::private::RawValue": format!("{}{text}", "[".repeat(100))}).to_string();
        }
        text
    }

    #[test]
    fn no_name_of_a_member_has_a_meaning() {
        let text = json!({"$serde_json::private::RawValue": "[1]"}).to_string();
        assert_eq!(read(text.as_bytes(), REQUEST).unwrap(), json!({"$serde_json::private::RawValue": "[1]"}));
        let text = json!({"$serde_json::private::Number": "7"}).to_string();
        assert_eq!(read(text.as_bytes(), REQUEST).unwrap(), json!({"$serde_json::private::Number": "7"}));
        read(nested_raw_values(9).as_bytes(), REQUEST).unwrap();
    }

    #[test]
    fn depth_and_number_of_values_are_bounded() {
        assert!(read(b"[[[1]]]", SMALL).is_ok());
        assert!(read(b"[[[[1]]]]", SMALL).unwrap_err().to_string().starts_with("more than 3 levels of nesting"));
        assert!(read(b"[1,2,3,4,5,6,7,8,9]", SMALL).is_ok());
        assert!(read(b"[1,2,3,4,5,6,7,8,9,10]", SMALL).unwrap_err().to_string().starts_with("more than 10 values"));
        assert!(read("[".repeat(1_000_000).as_bytes(), ANSWER).is_err());
    }

    #[test]
    fn what_is_no_document_is_an_error() {
        for text in ["", "{", "{} {}", "[1,]", "nul", "{\"a\":\"\\ud800\"}", "1e999"] {
            assert!(read(text.as_bytes(), REQUEST).is_err(), "{text}");
        }
        assert!(read(b"\"\xff\"", REQUEST).is_err());
    }

    #[test]
    fn repeated_members_are_noted_with_their_paths_and_the_last_counts() {
        let text = br#"{"a": 1, "a": 2, "lines": [{}, {"n": 1, "n": {"b": 1, "b": 2}}]}"#;
        let document = document(text, REQUEST).unwrap();
        assert_eq!(document.repeated, ["a", "lines.1.n.b", "lines.1.n"]);
        assert_eq!(document.value, json!({"a": 2, "lines": [{}, {"n": {"b": 2}}]}));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_filter_map("finite", |number| Number::from_f64(number).map(Value::Number)),
            "\\PC*".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map("\\PC*", inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_document_is_read_as_it_was_written(value in values()) {
            prop_assert_eq!(read(value.to_string().as_bytes(), REQUEST).unwrap(), value);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let ours = read(&bytes, ANSWER);
            prop_assert_eq!(ours.ok(), serde_json::from_slice::<Value>(&bytes).ok());
        }
    }
}
