//! How values of the API are read from JSON and described in OpenAPI, from one declaration each. What is answered is
//! described by the crate `api_schema`, which stands below the rules; reading is judged here.
//!
//! A request is a struct with `#[derive(Request)]`, an answer one with `#[derive(Response)]` (crate `api-derive`).
//! Checks of single members are [`Rule`]s: each judges a value and marks the schema, so that what the server refuses
//! and what the document says cannot part. A member that may be absent, but not null, is an [`Optional`]; an `Option`
//! may be absent or null. All faults of a request are collected and told at once, each with its dotted path.
//!
//! Bodies come from [`bounded_json::document`], never from `serde_json` directly.

mod accounts;
mod body;
mod borrowed;
mod free;
mod handler;
mod members;
mod optional;
mod query;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod values;

pub use api_schema::{Components, Flattened, ListItem, Member, Response, ToSchema, response_member, schema_of};

pub use accounts::{EmailAddress, NewPassword};
pub use body::{EmptyBody, OptionalBody, RequestBody, read_body};
pub use borrowed::{AsView, Viewed};
pub use free::{AnyJson, JsonObject};
pub use handler::{Argument, DescribedHandler, Reply};
pub use members::{FromJson, Members, Request, ValuePath, read_object, read_open_object};
pub use optional::Optional;
pub use query::{read_open_query, read_query, refuse_query};
pub(crate) use rules::like;
pub use rules::{
    AboveZero, CalendarDay, Filled, ItemsWithin, MaxChars, NotNegative, ONE_LINE, OneOrMoreDistinct, Pattern, Rule,
    SecretText, TextList, Within, Worded,
};
pub use schema::{open_request_schema, request_member, request_schema};
pub use values::read_word;
pub(crate) use values::{enumeration, readable};
