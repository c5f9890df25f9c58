//! JSON form of shapes, for tests that compare them.

use api_schema::shape::Shape;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};

/// Returns the JSON of a shape, as it appears in the API description.
pub fn written(shape: Shape) -> Value {
    json!(RefOr::<Schema>::from(shape))
}
