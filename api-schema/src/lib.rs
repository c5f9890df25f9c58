//! Describes types that are written as JSON in an OpenAPI document.
//!
//! A type that a client sees implements [`ToSchema`]: structs by `#[derive(Response)]` (crate `api-derive`), plain
//! values by hand. The crate is below the domain rules and the HTTP edge of the server and knows neither, so that the
//! rules can describe the data of their events independently of the code that serves the description.
//!
//! Not for parsing: the edge validates requests.

mod schema;
pub mod shape;
mod values;
pub mod words;

pub use schema::{
    Components, Flattened, ListItem, Member, Response, ToSchema, absent_response_member, page_example, response_member,
    response_schema, schema_of,
};
