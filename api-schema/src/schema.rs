//! Type descriptions in the OpenAPI document.

use serde_json::{Value, json};

use crate::shape::{self, Shape, list, named, object, optional, required};

/// Type described in the document.
pub trait ToSchema {
    /// Component name in the document; `None` for a schema that is inlined wherever it is used.
    const NAME: Option<&'static str> = None;

    /// Returns the schema of the type, inlined.
    fn schema() -> Shape;

    /// Adds the named types that the schema refers to.
    fn components(_: &mut Components) {}

    /// Returns a valid example value for the document.
    fn example() -> Value {
        Value::Null
    }
}

/// Type of a response body, serialised by `serde`.
pub trait Response: ToSchema + serde::Serialize {}

/// Fields that a response includes from another struct, with `#[serde(flatten)]`.
pub trait Flattened {
    /// Returns the fields in the order of the struct.
    fn members() -> Vec<Member>;
    /// Adds the named types that the fields refer to.
    fn components(components: &mut Components);
}

/// Type of list items.
pub trait ListItem: Response {
    /// Name of the page field that contains the items, such as `skus`.
    const MEMBER: &'static str;
    /// Name of the page type in the document, such as `SkuPage`.
    const PAGE_NAME: &'static str;
}

/// Name of a type, with the functions that build its schema and its example.
type NamedType = (&'static str, fn() -> Shape, fn() -> Value);

/// Named types of a resource, each included once. Schemas and examples are built only for the document: a server
/// registers these types whenever it starts, and few servers are asked for their document.
#[derive(Default)]
pub struct Components(Vec<NamedType>);

impl Components {
    fn insert(&mut self, name: &'static str, schema: fn() -> Shape, example: fn() -> Value) -> bool {
        let new = !self.0.iter().any(|(existing, ..)| *existing == name);
        if new {
            self.0.push((name, schema, example));
        }
        new
    }

    /// Adds a type and the types that it refers to.
    pub fn add<T: ToSchema + ?Sized>(&mut self) {
        // A type that is there already has brought its parts along; so one that holds itself comes to an end.
        if T::NAME.is_none_or(|name| self.insert(name, T::schema, T::example)) {
            T::components(self);
        }
    }

    /// Adds the page type for a list of `T`.
    pub fn add_page<T: ListItem>(&mut self) {
        self.add::<T>();
        self.insert(T::PAGE_NAME, page_schema::<T>, page_of_one::<T>);
    }

    /// Builds the schema of the type with the given name; `None` if it was not added.
    pub fn schema_named(&self, name: &str) -> Option<Shape> {
        self.0.iter().find(|(added, ..)| *added == name).map(|(_, schema, _)| schema())
    }

    /// Builds the schema and the example of each type, in the order in which the types were added.
    pub fn into_schemas(self) -> impl Iterator<Item = (&'static str, Shape, Value)> {
        self.0.into_iter().map(|(name, schema, example)| (name, schema(), example()))
    }
}

fn page_schema<T: ListItem>() -> Shape {
    object([required(T::MEMBER, list(schema_of::<T>())), required("pagination", named("Pagination"))])
        .about("One page of a list, with its position in `pagination`.")
}

fn page_of_one<T: ListItem>() -> Value {
    json!({T::MEMBER: [T::example()], "pagination": page_example()})
}

/// Returns the pagination in examples of lists.
pub fn page_example() -> Value {
    json!({"limit": 50, "offset": 0, "total": 1, "hasMore": false})
}

/// Returns a reference to the type's component, or its schema if it has no name.
pub fn schema_of<T: ToSchema + ?Sized>() -> Shape {
    T::NAME.map_or_else(T::schema, named)
}

/// Description of an object's field.
pub struct Member {
    /// Name in JSON.
    pub name: &'static str,
    /// Schema of the field, without its description.
    pub schema: Shape,
    /// `true` for a field that is always present.
    pub required: bool,
    /// Field description; may be empty.
    pub description: &'static str,
}

impl From<Member> for shape::ShapeMember {
    fn from(member: Member) -> Self {
        let schema = member.schema.described(member.description);
        if member.required { required(member.name, schema) } else { optional(member.name, schema) }
    }
}

/// Builds a field that is always present in a response. It is not guaranteed to satisfy the rules for requests, because
/// stored data may be older than a rule.
pub fn response_member<T: ToSchema>(name: &'static str, description: &'static str) -> Member {
    Member { name, schema: schema_of::<T>(), required: true, description }
}

/// Builds a field that a response may omit and that is not null when present.
pub fn absent_response_member<T: ToSchema>(name: &'static str, description: &'static str) -> Member {
    Member { name, schema: schema_of::<T>().without_null(), required: false, description }
}

/// Returns the schema of a response object.
pub fn response_schema(members: Vec<Member>, description: &str) -> Shape {
    object(members.into_iter().map(Into::into)).described(description)
}
