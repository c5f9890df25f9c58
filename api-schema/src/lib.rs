//! Describes types written as JSON in an OpenAPI document.
//!
//! Types visible to clients implement [`ToSchema`]: structs with `#[derive(Response)]` (crate `api-derive`), plain
//! values manually. The crate depends on neither the domain rules nor the server's HTTP layer, so that the rules can
//! describe the data of their events independently of the code that serves the description.
//!
//! It does not parse requests: the HTTP layer validates them.

mod schema;
pub mod shape;
mod values;
pub mod words;

pub use schema::{
    Components, Flattened, ListItem, Member, Response, ToSchema, absent_response_member, page_example, response_member,
    response_schema, schema_of,
};
