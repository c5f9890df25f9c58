//! OpenAPI schemas of requests.

use api_schema::shape::{Shape, closed_object, object};

use super::{FromJson, Member, Rule, schema_of};

/// Describes a field of a request: its rules, whether it can be null or absent, and its default.
pub fn request_member<T: FromJson>(
    name: &'static str,
    description: &'static str,
    rules: &[&dyn Rule<T::Inner>],
    default: Option<T>,
) -> Member {
    let schema = rules.iter().fold(schema_of::<T::Inner>(), |schema, rule| rule.mark(schema));
    let schema = if T::NULLABLE { schema.or_null() } else { schema };
    let required = default.is_none() && T::absent().is_none();
    let schema = match default.as_ref().and_then(T::to_json) {
        Some(value) => schema.by_default(value),
        None => schema,
    };
    Member { name, schema, required, description }
}

/// Returns the schema of a request object that rejects unknown fields.
pub fn request_schema(members: Vec<Member>, description: &str) -> Shape {
    closed_object(members.into_iter().map(Into::into)).described(description)
}

/// Returns the schema of a request object that ignores unknown fields.
pub fn open_request_schema(members: Vec<Member>, description: &str) -> Shape {
    object(members.into_iter().map(Into::into)).with_unknown_members().described(description)
}
