//! Conversion of a draft's form, or of another one with a postal address, to the body of its API operation.

use axum::http::HeaderValue;
use axum::http::header::IF_MATCH;
use serde_json::{Value, json};

use crate::staff::address_fields::ADDRESS_PARTS;
use crate::staff::filled_form::end_of_day;
use crate::staff::form::Form;
use domain::shop_clock::ShopClock;
use domain::typed_amount;
use http::command_request::CommandRequest;

/// Form field that contains the version of the draft for which the form was rendered.
pub(in super::super) const VERSION_FIELD: &str = "version";

impl Form {
    /// Returns a field as an amount in minor units; null if empty. Invalid text is passed on unchanged, so that the API
    /// reports the error.
    pub(in super::super) fn amount(&self, member: &str, currency: &str) -> Value {
        self.some(member).map_or(Value::Null, |text| {
            typed_amount::parse(text, currency).map_or_else(|_| json!(text), |cents| json!(cents))
        })
    }

    /// Returns the end of the day entered in a field for an invoice, whose dates are in UTC; null if the field is
    /// empty.
    pub(in super::super) fn end_of_document_day(&self, member: &str) -> Value {
        self.some(member).map_or(Value::Null, |day| json!(end_of_day(day, &ShopClock::default())))
    }

    /// Returns the address in its fields; null if all of them are empty.
    pub(in super::super) fn address(&self) -> Value {
        if ADDRESS_PARTS.iter().all(|(name, ..)| self.text(name).is_empty()) {
            return Value::Null;
        }
        json!({
            "line1": self.text("line1"), "line2": self.some("line2"), "postalCode": self.text("postalCode"),
            "city": self.text("city"), "region": self.some("region"), "country": self.text("country"),
        })
    }
}

/// Makes a request conditional on the draft being unchanged since the form was rendered.
pub(in super::super) fn at_version(mut call: CommandRequest, form: &Form) -> CommandRequest {
    let tag = form.some(VERSION_FIELD).map(|version| HeaderValue::from_str(&format!("\"{version}\"")));
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
