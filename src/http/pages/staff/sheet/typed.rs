//! A submitted form, retained while its operation runs so that it can be shown again with its errors.

use std::collections::BTreeMap;

use axum::http::HeaderValue;
use axum::http::header::IF_MATCH;
use axum::response::Response;
use maud::Markup;
use serde_json::{Value, json};

use super::fields::ADDRESS_FIELDS;
use crate::form::PageForm;
use crate::setup::{faults_of, wrong};
use crate::staff::filled_form::{is_of_form, refused};
use domain::currency;
use http::command_request::CommandRequest;
use http::error::ApiError;

/// Form field with the version of the draft from which the form was rendered.
pub(in super::super) const VERSION_FIELD: &str = "version";

/// A submitted form, shown again if its operation is refused.
pub(in super::super) struct TypedForm {
    /// Name of the form on its page.
    name: String,
    texts: BTreeMap<String, String>,
    /// Reason the form was refused, if it was.
    refusal: Option<ApiError>,
}

impl TypedForm {
    pub(in super::super) fn new(name: &str, sent: &PageForm) -> Self {
        let texts = sent.members().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        Self { name: name.to_owned(), texts, refusal: None }
    }

    /// Creates a form that cannot be shown again, such as one with a file.
    pub(in super::super) fn nameless() -> Self {
        Self { name: String::new(), texts: BTreeMap::new(), refusal: None }
    }

    /// Returns whether this is the form of its page with this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub(in super::super) fn text(&self, member: &str) -> &str {
        self.texts.get(member).map_or("", String::as_str)
    }

    pub(in super::super) fn some(&self, member: &str) -> Option<&str> {
        Some(self.text(member)).filter(|text| !text.is_empty())
    }

    /// Returns a field as a whole number; null if empty. Other text is passed on unchanged, and the API's refusal
    /// explains it.
    pub(in super::super) fn whole(&self, member: &str) -> Value {
        self.some(member).map_or(Value::Null, |text| text.parse::<i64>().map_or_else(|_| json!(text), |n| json!(n)))
    }

    /// Returns a field as an amount in minor units; null if empty. Other text is passed on unchanged.
    pub(in super::super) fn amount(&self, member: &str, currency: &str) -> Value {
        self.some(member).map_or(Value::Null, |text| {
            currency::parse(text, currency).map_or_else(|| json!(text), |cents| json!(cents))
        })
    }

    /// Returns the last second of the day in a field; null if empty.
    pub(in super::super) fn end_of_day(&self, member: &str) -> Value {
        self.some(member).map_or(Value::Null, |day| json!(format!("{day}T23:59:59.000Z")))
    }

    /// Returns the address fields; null if all of them are empty.
    pub(in super::super) fn address(&self) -> Value {
        if ADDRESS_FIELDS.iter().all(|(name, ..)| self.text(name).is_empty()) {
            return Value::Null;
        }
        json!({
            "line1": self.text("line1"), "line2": self.some("line2"), "postalCode": self.text("postalCode"),
            "city": self.text("city"), "region": self.some("region"), "country": self.text("country"),
        })
    }

    /// Attaches the refusal to the form if the user can correct it; returns other errors, which get a page of their
    /// own.
    pub(in super::super) fn refused(mut self, error: ApiError) -> Result<Self, ApiError> {
        // A file that is too large, or is no file, is said beside its form too.
        if !is_of_form(&error) && !matches!(error.status().as_u16(), 413 | 415) {
            return Err(error);
        }
        self.refusal = Some(error);
        Ok(self)
    }

    /// Turns the page that shows the form again into the response to it, with the refusal's status.
    pub(in super::super) fn on(&self, page: Response) -> Response {
        match &self.refusal {
            Some(error) => refused(page, error.clone()),
            None => page,
        }
    }

    pub(super) fn render_faults(&self) -> Markup {
        wrong(&self.refusal.as_ref().map(faults_of).unwrap_or_default())
    }
}

/// Makes a request conditional on the draft being unchanged since the form was rendered.
pub(in super::super) fn at_version(mut call: CommandRequest, typed: &TypedForm) -> CommandRequest {
    let tag = typed.some(VERSION_FIELD).map(|version| HeaderValue::from_str(&format!("\"{version}\"")));
    if let Some(Ok(tag)) = tag {
        call.headers.insert(IF_MATCH, tag);
    }
    call
}

/// Removes null members from a body, so that the API applies its defaults.
pub(in super::super) fn without_nulls(mut body: Value) -> Value {
    if let Value::Object(members) = &mut body {
        members.retain(|_, value| !value.is_null());
    }
    body
}
