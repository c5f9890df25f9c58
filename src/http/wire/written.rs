//! Shapes as they are written, for tests that compare them.

use api_schema::shape::Shape;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};

/// Returns the JSON of a shape, as the description of the API has it.
pub fn written(shape: Shape) -> Value {
    json!(RefOr::<Schema>::from(shape))
}
