//! JSON form of schemas, for tests that compare them.

use api_schema::shape::Shape;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};

/// Returns the JSON form of a schema, as it appears in the API description.
pub fn written(shape: Shape) -> Value {
    json!(RefOr::<Schema>::from(shape))
}
