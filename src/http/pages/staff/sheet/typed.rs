//! Submitted form, kept while its operation runs so that it can be shown again with its errors.

use std::collections::BTreeMap;

use axum::http::HeaderValue;
use axum::http::header::IF_MATCH;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::fields::{ADDRESS_FIELDS, member_of};
use crate::faults::{alert, amount_message};
use crate::form::PageForm;
use crate::staff::filled_form::{end_of_day, is_of_form, refused};
use domain::shop_clock::ShopClock;
use domain::typed_amount;
use http::command_request::CommandRequest;
use http::error::ApiError;

/// Form field that contains the version of the draft for which the form was rendered.
pub(in super::super) const VERSION_FIELD: &str = "version";

/// Submitted form, shown again if its operation is rejected.
pub(in super::super) struct TypedForm {
    /// Name of the form on its page.
    name: String,
    texts: BTreeMap<String, String>,
    /// Shop clock, in whose time zone dates are entered.
    clock: ShopClock,
    /// Error with which the form was rejected, if any.
    refusal: Option<ApiError>,
}

impl TypedForm {
    pub(in super::super) fn new(name: &str, sent: &PageForm) -> Self {
        let texts = sent.members().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        Self { name: name.to_owned(), texts, clock: sent.call.clock().clone(), refusal: None }
    }

    /// Creates a form that cannot be shown again, such as one with a file.
    pub(in super::super) fn nameless() -> Self {
        Self { name: String::new(), texts: BTreeMap::new(), clock: ShopClock::default(), refusal: None }
    }

    /// Returns whether this form has the given name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub(in super::super) fn text(&self, member: &str) -> &str {
        self.texts.get(member).map_or("", String::as_str)
    }

    pub(in super::super) fn some(&self, member: &str) -> Option<&str> {
        Some(self.text(member)).filter(|text| !text.is_empty())
    }

    /// Returns a field as an integer; null if empty. Text that is not an integer is passed on unchanged, so that the
    /// API reports the error.
    pub(in super::super) fn whole(&self, member: &str) -> Value {
        self.some(member).map_or(Value::Null, |text| text.parse::<i64>().map_or_else(|_| json!(text), |n| json!(n)))
    }

    /// Returns a field as an amount in minor units; null if empty. Invalid text is passed on unchanged, so that the API
    /// reports the error.
    pub(in super::super) fn amount(&self, member: &str, currency: &str) -> Value {
        self.some(member).map_or(Value::Null, |text| {
            typed_amount::parse(text, currency).map_or_else(|_| json!(text), |cents| json!(cents))
        })
    }

    /// Returns the end of the day entered in a field, in the shop's time zone; null if the field is empty.
    pub(in super::super) fn end_of_day(&self, member: &str) -> Value {
        self.some(member).map_or(Value::Null, |day| json!(end_of_day(day, &self.clock)))
    }

    /// Returns the end of the day entered in a field for an invoice, whose dates are in UTC; null if the field is
    /// empty.
    pub(in super::super) fn end_of_document_day(&self, member: &str) -> Value {
        self.some(member).map_or(Value::Null, |day| json!(end_of_day(day, &ShopClock::default())))
    }

    /// Returns the address in its fields; null if all of them are empty.
    pub(in super::super) fn address(&self) -> Value {
        if ADDRESS_FIELDS.iter().all(|(name, ..)| self.text(name).is_empty()) {
            return Value::Null;
        }
        json!({
            "line1": self.text("line1"), "line2": self.some("line2"), "postalCode": self.text("postalCode"),
            "city": self.text("city"), "region": self.some("region"), "country": self.text("country"),
        })
    }

    /// Attaches the error to the form if the user can correct it; returns any other error, which is shown on a page of
    /// its own.
    pub(in super::super) fn refused(mut self, error: ApiError) -> Result<Self, ApiError> {
        // A file that is too large, or is no file, is said beside its form too.
        if !is_of_form(&error) && !matches!(error.status().as_u16(), 413 | 415) {
            return Err(error);
        }
        let reworded = error.reword(|fault| {
            let member = fault.path.rsplit('.').next();
            let field = self.texts.iter().find(|(name, _)| member_of(name) == member);
            field.and_then(|(_, text)| amount_message(fault, text))
        });
        self.refusal = Some(reworded);
        Ok(self)
    }

    /// Turns the page that shows the form again into an error response with the status of the form's error.
    pub(in super::super) fn on(&self, page: Response) -> Response {
        match &self.refusal {
            Some(error) => refused(page, error.clone()),
            None => page,
        }
    }

    pub(super) fn render_faults(&self) -> Markup {
        html! { @if let Some(error) = &self.refusal { (alert(error)) } }
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

/// Removes null fields from a body, so that the API applies its defaults.
pub(in super::super) fn without_nulls(mut body: Value) -> Value {
    if let Value::Object(members) = &mut body {
        members.retain(|_, value| !value.is_null());
    }
    body
}
