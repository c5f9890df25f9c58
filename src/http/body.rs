//! Reads JSON bodies member by member and collects all faults of a body at once.
//!
//! Each member that is read is taken out; what is left at the end is unknown and a fault too.

use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::material::MaterialType;
use crate::domain::order::{Address, Resolution};
use crate::domain::principal::Role;
use crate::domain::refusal::Faults;
use crate::domain::sku::{Dimensions, MachineType};
use crate::domain::time::Timestamp;
use crate::http::error::ApiError;
use serde_json::{Map, Value};

/// The members of one JSON object that were not read yet, and the faults found so far.
#[derive(Debug, Default)]
pub struct Fields {
    members: Map<String, Value>,
    prefix: String,
    faults: Faults,
}

/// A value that can be read from JSON.
pub trait Take: Sized {
    /// Reads it, or notes why not.
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self>;
}

impl Fields {
    /// The object that these bytes are.
    pub fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        let document = bounded_json::document(bytes, bounded_json::REQUEST)
            .map_err(|error| ApiError::bad_request("malformed_json", format!("the body is not JSON: {error}")))?;
        let Value::Object(members) = document.value else {
            return Err(ApiError::bad_request("malformed_json", "the body must be a JSON object"));
        };
        let mut faults = Faults::default();
        document.repeated.iter().for_each(|path| faults.note(path, "is there more than once"));
        Ok(Self { members, faults, ..Self::default() })
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Whether the member is there and not read yet.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A member that may be absent, but not null.
    pub fn opt<T: Take>(&mut self, name: &str) -> Option<T> {
        let path = self.path(name);
        match self.members.remove(name)? {
            Value::Null => {
                self.faults.note(&path, "must not be null");
                None
            }
            value => T::take(value, &path, &mut self.faults),
        }
    }

    /// A member that may be absent, or null to clear it.
    pub fn nullable<T: Take>(&mut self, name: &str) -> Option<Option<T>> {
        if self.members.get(name)?.is_null() {
            self.members.remove(name);
            return Some(None);
        }
        self.opt(name).map(Some)
    }

    /// A member that must be there. `None` only after a fault was noted: [`Fields::finish`] refuses then.
    pub fn need<T: Take>(&mut self, name: &str) -> Option<T> {
        if !self.has(name) {
            let path = self.path(name);
            self.faults.note(&path, "is required");
        }
        self.opt(name)
    }

    /// A text that must be there and hold something; at most `most` characters.
    pub fn need_text(&mut self, name: &str, most: usize) -> Option<String> {
        let text: Option<String> = self.need(name);
        self.check(text.as_ref().is_none_or(|text| !text.trim().is_empty()), name, "must not be empty");
        self.short(name, text, most)
    }

    /// A text that may be absent; at most `most` characters.
    pub fn opt_text(&mut self, name: &str, most: usize) -> Option<String> {
        let text = self.opt(name);
        self.short(name, text, most)
    }

    /// A text that may be absent, or null to clear it; at most `most` characters.
    pub fn nullable_text(&mut self, name: &str, most: usize) -> Option<Option<String>> {
        let text: Option<Option<String>> = self.nullable(name);
        text.map(|text| self.short(name, text, most))
    }

    fn short(&mut self, name: &str, text: Option<String>, most: usize) -> Option<String> {
        let fits = text.as_ref().is_none_or(|text| text.chars().count() <= most);
        self.check(fits, name, format!("must have at most {most} characters"));
        text
    }

    /// Notes a fault of a member unless `ok`.
    pub fn check(&mut self, ok: bool, name: &str, message: impl Into<String>) {
        if !ok {
            let path = self.path(name);
            self.faults.note(&path, message);
        }
    }

    /// Notes what the rules say of a member.
    pub fn judge<T>(&mut self, name: &str, verdict: Result<T, impl std::fmt::Display>) -> Option<T> {
        verdict.map_err(|why| self.check(false, name, why.to_string())).ok()
    }

    /// A list of objects, each read by `read`.
    pub fn objects<T>(&mut self, name: &str, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let path = self.path(name);
        let Value::Array(items) = self.members.remove(name)? else {
            self.faults.note(&path, "must be a list");
            return None;
        };
        let mut all = Vec::with_capacity(items.len());
        for (at, item) in items.into_iter().enumerate() {
            let Value::Object(members) = item else {
                self.faults.note(&format!("{path}.{at}"), "must be an object");
                continue;
            };
            let mut one = Self { members, prefix: format!("{path}.{at}."), faults: Faults::default() };
            all.extend(read(&mut one));
            self.faults.append(one.into_faults());
        }
        Some(all)
    }

    fn into_faults(mut self) -> Faults {
        for name in std::mem::take(&mut self.members).keys() {
            let path = self.path(name);
            self.faults.note(&path, "is not known");
        }
        self.faults
    }

    /// Everything was read: refuses when there were faults or unknown members.
    pub fn finish(self) -> Result<(), ApiError> {
        Ok(self.into_faults().refuse()?)
    }
}

/// What [`Fields::need`] found, after [`Fields::finish`] agreed.
pub fn sure<T>(found: Option<T>) -> Result<T, ApiError> {
    found.ok_or_else(|| ApiError::bad_request("validation_failed", "a required member is missing"))
}

impl Take for String {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::String(text) if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) => {
                faults.note(path, "must not hold control characters");
                None
            }
            Value::String(text) => Some(text),
            _ => {
                faults.note(path, "must be a text");
                None
            }
        }
    }
}

impl Take for bool {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        value.as_bool().or_else(|| {
            faults.note(path, "must be true or false");
            None
        })
    }
}

impl Take for i64 {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        value.as_i64().or_else(|| {
            faults.note(path, "must be a whole number");
            None
        })
    }
}

/// Takes a whole number of a smaller type.
macro_rules! whole_number {
    ($($type:ty),*) => {$(
        impl Take for $type {
            fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
                value.as_i64().and_then(|number| number.try_into().ok()).or_else(|| {
                    faults.note(path, format!("must be a whole number from {} to {}", <$type>::MIN, <$type>::MAX));
                    None
                })
            }
        }
    )*};
}
whole_number!(u8, u32);

impl Take for Amount {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        let amount = match &value {
            Value::Number(number) => Self::from_number(number).map_err(|error| error.to_string()),
            _ => Err("must be a number".to_owned()),
        };
        amount.map_err(|why| faults.note(path, why)).ok()
    }
}

impl Take for Id {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        value.as_str().and_then(|text| text.parse().ok()).or_else(|| {
            faults.note(path, "must be an identifier");
            None
        })
    }
}

impl Take for Timestamp {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        value.as_str().and_then(|text| text.parse().ok()).or_else(|| {
            faults.note(path, "must be an RFC 3339 date and time");
            None
        })
    }
}

impl<T: Take> Take for Vec<T> {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        let Value::Array(items) = value else {
            faults.note(path, "must be a list");
            return None;
        };
        let mut all = Self::with_capacity(items.len());
        for (at, item) in items.into_iter().enumerate() {
            all.extend(T::take(item, &format!("{path}.{at}"), faults));
        }
        Some(all)
    }
}

/// Takes an object member by member.
fn object<T>(value: Value, path: &str, faults: &mut Faults, read: impl FnOnce(&mut Fields) -> Option<T>) -> Option<T> {
    let Value::Object(members) = value else {
        faults.note(path, "must be an object");
        return None;
    };
    let mut fields = Fields { members, prefix: format!("{path}."), faults: Faults::default() };
    let found = read(&mut fields);
    faults.append(fields.into_faults());
    found
}

/// A length along one axis, millimetres.
struct Length(f64);

impl Take for Length {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        value.as_f64().filter(|mm| mm.is_finite() && *mm > 0.0 && *mm <= 100_000.0).map(Self).or_else(|| {
            faults.note(path, "must be a number of millimetres above 0");
            None
        })
    }
}

impl Take for Dimensions {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        object(value, path, faults, |fields| {
            let axes: [Option<Length>; 3] = ["x", "y", "z"].map(|axis| fields.need(axis));
            let [Some(x), Some(y), Some(z)] = axes else { return None };
            Some(Self { x: x.0, y: y.0, z: z.0 })
        })
    }
}

impl Take for Address {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        object(value, path, faults, |fields| {
            let line1 = fields.need_text("line1", 200);
            let line2 = fields.nullable_text("line2", 200).flatten();
            let city = fields.need_text("city", 100);
            let region = fields.nullable_text("region", 100).flatten();
            let postal_code = fields.need_text("postalCode", 20);
            let country: Option<String> = fields.need("country");
            let alpha2 = |code: &String| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
            fields.check(country.as_ref().is_none_or(alpha2), "country", "must be a country code of two letters");
            let country = country?.to_uppercase();
            Some(Self { line1: line1?, line2, city: city?, region, postal_code: postal_code?, country })
        })
    }
}

/// Takes one of an enumeration's words.
macro_rules! word {
    ($($type:ty: $($word:literal),+;)*) => {$(
        impl Take for $type {
            fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
                serde_json::from_value(value).ok().or_else(|| {
                    faults.note(path, concat!("must be one of", $(" ", $word,)+));
                    None
                })
            }
        }
    )*};
}
word! {
    MaterialType: "filament", "resin", "laser_sheet", "laser_consumable";
    MachineType: "fdm_standard", "fdm_large", "resin_standard", "resin_large", "laser_cutter", "laser_engraver";
    Role: "customer", "operator", "admin";
    Resolution: "not_started", "finished", "failed";
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use serde_json::json;

    fn fields(value: Value) -> Fields {
        Fields::parse(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn all_faults_of_a_body_are_told_at_once_with_their_paths() {
        let mut body = fields(json!({
            "lines": [{"skuId": "no", "quantity": 0.5}, 7, {"skuId": "01890000-0000-7000-8000-000000000000", "extra": 1}],
            "amount": 0.1234, "none": null, "surprise": 1,
        }));
        body.objects("lines", |line| {
            let id: Option<Id> = line.need("skuId");
            let quantity: Option<u32> = line.need("quantity");
            id.zip(quantity)
        });
        let _: Option<Amount> = body.need("amount");
        let _: Option<bool> = body.opt("none");
        body.need_text("name", 5);
        let error = body.finish().unwrap_err();
        assert_eq!(error.status(), 400);
        let paths: Vec<String> =
            error.body()["errors"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap().to_owned()).collect();
        assert_eq!(
            paths,
            [
                "lines.0.skuId",
                "lines.0.quantity",
                "lines.1",
                "lines.2.quantity",
                "lines.2.extra",
                "amount",
                "none",
                "name",
                "surprise"
            ]
        );
    }

    #[test]
    fn absent_and_null_differ() {
        let mut body = fields(json!({"a": null, "b": "text"}));
        assert_eq!(body.nullable::<String>("a"), Some(None));
        assert_eq!(body.nullable::<String>("b"), Some(Some("text".to_owned())));
        assert_eq!(body.nullable::<String>("c"), None);
        body.finish().unwrap();
    }

    #[test]
    fn what_is_no_object_is_malformed() {
        for bytes in [&b"{"[..], b"[1]", b"\"a\"", b"", b"\xff"] {
            assert_eq!(Fields::parse(bytes).unwrap_err().code(), "malformed_json");
        }
    }

    #[test]
    fn dimensions_are_read_axis_by_axis() {
        let mut body = fields(json!({"size": {"x": 1, "y": 2.5}, "word": "lunar"}));
        let _: Option<Dimensions> = body.opt("size");
        let _: Option<MachineType> = body.opt("word");
        let errors = body.finish().unwrap_err().body()["errors"].clone();
        assert_eq!(errors[0], json!({"path": "size.z", "message": "is required"}));
        assert_eq!(errors[1]["path"], "word");
        assert!(errors[1]["message"].as_str().unwrap().starts_with("must be one of fdm_standard "));
    }
}
