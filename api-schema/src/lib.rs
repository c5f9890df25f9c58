//! How types that are written as JSON are described in an OpenAPI document.
//!
//! A type that a client sees implements [`ToSchema`]: structs by `#[derive(Response)]` (crate `api-derive`), plain
//! values by hand. The crate stands below the rules and the HTTP edge of the server and knows neither, so that the
//! rules can describe the data of their events without knowing who serves the description.
//!
//! Not for reading: what a request may hold is judged at the edge.

mod schema;
pub mod shape;
mod values;
pub mod words;

pub use schema::{
    Components, Flattened, ListItem, Member, Response, ToSchema, absent_response_member, page_example, response_member,
    response_schema, schema_of,
};
