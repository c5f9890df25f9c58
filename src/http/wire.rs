//! JSON parsing and OpenAPI descriptions, both derived from a single declaration of each type. Responses are described
//! by the crate `api_schema`, on which the domain rules depend; request parsing is in this module.
//!
//! A request is a struct with `#[derive(Request)]`, a response one with `#[derive(Response)]` (crate `api-derive`).
//! Checks of individual fields are [`Rule`]s: each validates a value and marks the schema, so that validation and
//! documentation cannot diverge. A field that may be absent, but not null, is an [`Optional`]; an `Option` may be
//! absent or null. All errors in a request are collected and reported together, each with its dotted path.
//!
//! Bodies are parsed by [`bounded_json::document`], never by `serde_json` directly. The fields of an HTML form are read
//! as the body of the same request ([`form_members`]).

mod accounts;
mod body;
mod borrowed;
mod form;
mod free;
mod members;
mod optional;
mod query;
mod records;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod values;
mod words;
#[cfg(test)]
pub mod written;

pub use api_schema::{Components, Flattened, ListItem, Member, Response, ToSchema, response_member, schema_of};

#[doc(hidden)]
pub use regex;

pub use domain::refusal::Faults;

pub use accounts::{EmailAddress, NewPassword};
pub use body::{EmptyBody, OptionalBody, RequestBody, read_body};
pub use borrowed::{AsView, Viewed};
pub use form::{EmptyField, FieldTexts, TICKED_WORD, form_members, typed_number, with_point};
pub use free::{AnyJson, JsonObject};
pub use members::{FromJson, Members, Request, ValuePath, read_object, read_open_object};
pub use optional::Optional;
pub use query::{read_open_query, read_query, refuse_query};
pub use rules::like;
pub use rules::{
    AboveZero, COUNTRY, CalendarDay, Filled, ItemsWithin, MaxChars, NotNegative, ONE_LINE, OneOrMoreDistinct, Pattern,
    Rule, SecretText, TextList, Within, Worded,
};
pub use schema::{open_request_schema, request_member, request_schema};
pub use values::read_word;
pub use values::{enumeration, readable};
