//! What the OpenAPI document says of a type.

use serde_json::{Value, json};

use crate::shape::{self, Shape, list, named, object, optional, required};

/// A type that the document describes.
pub trait ToSchema {
    /// Its name among the document's components; `None` for what is written out wherever it is used.
    const NAME: Option<&'static str> = None;

    /// Its schema, written out.
    fn schema() -> Shape;

    /// Adds the named types that its schema refers to.
    fn components(_: &mut Components) {}

    /// A valid value, for the document.
    fn example() -> Value {
        Value::Null
    }
}

/// A type that is answered. `serde` writes it.
pub trait Response: ToSchema + serde::Serialize {}

/// Members that stand in an answer among those of another struct, which has them with `#[serde(flatten)]`.
pub trait Flattened {
    /// Described one by one, in the order of the struct.
    fn members() -> Vec<Member>;
    /// Adds the named types that they refer to.
    fn components(components: &mut Components);
}

/// A type that lists hold.
pub trait ListItem: Response {
    /// The member of a page that holds the items: `skus`.
    const MEMBER: &'static str;
    /// The name of a page in the document: `SkuPage`.
    const PAGE_NAME: &'static str;
}

/// The named schemas of a resource, each once, with an example.
#[derive(Default)]
pub struct Components(pub Vec<(&'static str, Shape, Value)>);

impl Components {
    fn insert(&mut self, name: &'static str, schema: fn() -> Shape, example: fn() -> Value) -> bool {
        let new = !self.0.iter().any(|(known, ..)| *known == name);
        if new {
            self.0.push((name, schema(), example()));
        }
        new
    }

    /// Adds a type, and those that it refers to.
    pub fn add<T: ToSchema + ?Sized>(&mut self) {
        // A type that is there already has brought its parts along; so one that holds itself comes to an end.
        if T::NAME.is_none_or(|name| self.insert(name, T::schema, T::example)) {
            T::components(self);
        }
    }

    /// Adds the page of a list of these.
    pub fn add_page<T: ListItem>(&mut self) {
        self.add::<T>();
        self.insert(T::PAGE_NAME, page_schema::<T>, page_of_one::<T>);
    }
}

fn page_schema<T: ListItem>() -> Shape {
    object([required(T::MEMBER, list(schema_of::<T>())), required("pagination", named("Pagination"))])
        .about("One page of a list; `pagination` says where it stands in the whole.")
}

fn page_of_one<T: ListItem>() -> Value {
    json!({T::MEMBER: [T::example()], "pagination": page_example()})
}

/// The page that examples of lists show.
pub fn page_example() -> Value {
    json!({"limit": 50, "offset": 0, "total": 1, "hasMore": false})
}

/// A reference to the type's component, or its schema when it has no name.
pub fn schema_of<T: ToSchema + ?Sized>() -> Shape {
    T::NAME.map_or_else(T::schema, named)
}

/// A member of an object, as it is described.
pub struct Member {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its schema, without its description.
    pub schema: Shape,
    /// Whether it may not be absent.
    pub required: bool,
    /// Its description; may be empty.
    pub description: &'static str,
}

impl From<Member> for shape::Member {
    fn from(member: Member) -> Self {
        let schema = member.schema.described(member.description);
        if member.required { required(member.name, schema) } else { optional(member.name, schema) }
    }
}

/// A member of an answer, which is always there. Rules of requests are not promised of it: what was kept may be older
/// than a rule.
pub fn response_member<T: ToSchema>(name: &'static str, description: &'static str) -> Member {
    Member { name, schema: schema_of::<T>(), required: true, description }
}

/// A member that an answer may leave out, and that is not null when it is there.
pub fn absent_response_member<T: ToSchema>(name: &'static str, description: &'static str) -> Member {
    Member { name, schema: schema_of::<T>().without_null(), required: false, description }
}

/// The schema of an answered object.
pub fn response_schema(members: Vec<Member>, description: &str) -> Shape {
    object(members.into_iter().map(Into::into)).described(description)
}
