//! Reads JSON bodies member by member and collects all faults of a body at once.
//!
//! Each member that is read is taken out; what is left at the end is unknown and a fault too.

use crate::domain::refusal::Faults;
use crate::http::error::ApiError;
use crate::http::wire::{self, FromJson, Place};
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
        let (members, faults) = wire::object(bytes)?;
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

/// What the wire layer reads.
impl<T: FromJson> Take for T {
    fn take(value: Value, path: &str, faults: &mut Faults) -> Option<Self> {
        T::from_json(value, &Place { path, in_query: false }, faults)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::domain::amount::Amount;
    use crate::domain::id::Id;
    use crate::domain::sku::{Dimensions, MachineType};
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
