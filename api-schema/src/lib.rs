//! Describes types written as JSON in an OpenAPI document.
//!
//! A type visible to clients implements [`ToSchema`]: structs by `#[derive(Response)]` (crate `api-derive`), plain
//! values by hand. The crate is below the domain rules and the server's HTTP layer and knows neither, so that the rules
//! can describe the data of their events independently of the code that serves the description.
//!
//! Not for parsing: the HTTP layer validates requests.

mod schema;
pub mod shape;
mod values;
pub mod words;

pub use schema::{
    Components, Flattened, ListItem, Member, Response, ToSchema, absent_response_member, page_example, response_member,
    response_schema, schema_of,
};
