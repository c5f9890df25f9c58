//! Concise builders for the shapes of JSON bodies and parameters, as `utoipa` schemas.

mod kind;

use std::ops::{Bound, RangeBounds};

use serde_json::{Value, json};
use utoipa::openapi::schema::{
    AdditionalProperties, Array, Object, OneOf, Ref, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{KnownFormat, RefOr};

pub use kind::{FieldShape, ValueKind};

/// Schema, or a reference to one.
type ShapeNode = RefOr<Schema>;

/// Shape of a JSON value.
#[derive(Clone, PartialEq)]
pub struct Shape(Box<ShapeNode>);

impl From<Shape> for RefOr<Schema> {
    fn from(shape: Shape) -> Self {
        *shape.0
    }
}

fn shape(of: impl Into<RefOr<Schema>>) -> Shape {
    Shape(Box::new(of.into()))
}

fn scalar(kind: Type, edit: impl FnOnce(&mut Object)) -> Shape {
    let mut object = Object::with_type(kind);
    edit(&mut object);
    shape(Schema::Object(object))
}

fn formatted(format: KnownFormat) -> Shape {
    scalar(Type::String, |text| text.format = Some(SchemaFormat::KnownFormat(format)))
}

/// Builds `type: string`, of any length.
pub fn text() -> Shape {
    scalar(Type::String, |_| ())
}

/// Builds a string whose length in characters is within the given bounds.
pub fn text_of(length: impl RangeBounds<usize>) -> Shape {
    let (least, most) = (whole_start(&length), whole_end(&length));
    scalar(Type::String, |text| (text.min_length, text.max_length) = (least.filter(|least| *least > 0), most))
}

/// Builds a string that matches a regular expression.
pub fn text_like(pattern: &str) -> Shape {
    scalar(Type::String, |text| text.pattern = Some(pattern.to_owned()))
}

/// Builds an identifier, which is a UUID.
pub fn id() -> Shape {
    scalar(Type::String, |text| text.format = Some(SchemaFormat::Custom("uuid".to_owned())))
}

/// Builds a point in time in RFC 3339 format.
pub fn time() -> Shape {
    formatted(KnownFormat::DateTime)
}

/// Builds a day in the form `YYYY-MM-DD`.
pub fn date() -> Shape {
    formatted(KnownFormat::Date)
}

/// Builds the URL of an endpoint to be called.
pub fn url() -> Shape {
    scalar(Type::String, |text| text.format = Some(SchemaFormat::Custom("uri".to_owned())))
}

/// Builds a string that is an email address.
pub fn email() -> Shape {
    scalar(Type::String, |text| {
        text.format = Some(SchemaFormat::Custom("email".to_owned()));
        text.max_length = Some(254);
    })
}

/// Builds a write-only secret, which responses never contain.
pub fn secret(length: impl RangeBounds<usize>) -> Shape {
    let (least, most) = (whole_start(&length), whole_end(&length));
    scalar(Type::String, |text| {
        text.format = Some(SchemaFormat::KnownFormat(KnownFormat::Password));
        (text.min_length, text.max_length, text.write_only) = (least, most, Some(true));
    })
}

/// Builds the binary contents of a file.
pub fn bytes() -> Shape {
    formatted(KnownFormat::Binary)
}

/// Builds an enumeration of the given names.
pub fn word<W: Into<Value>>(words: impl IntoIterator<Item = W>) -> Shape {
    scalar(Type::String, |text| text.enum_values = Some(words.into_iter().map(Into::into).collect()))
}

/// Builds `type: integer` within the given bounds.
pub fn whole(range: impl RangeBounds<i64>) -> Shape {
    let least = bound(range.start_bound(), 1);
    let most = bound(range.end_bound(), -1);
    scalar(Type::Integer, |number| {
        number.format = Some(SchemaFormat::KnownFormat(KnownFormat::Int64));
        number.minimum = least.map(|least| (least as isize).into());
        number.maximum = most.map(|most| (most as isize).into());
    })
}

/// Builds `type: number` within the given bounds.
pub fn number(range: impl RangeBounds<f64>) -> Shape {
    scalar(Type::Number, |number| {
        match range.start_bound() {
            Bound::Included(least) => number.minimum = Some((*least).into()),
            Bound::Excluded(least) => number.exclusive_minimum = Some((*least).into()),
            Bound::Unbounded => {}
        }
        if let Bound::Included(most) = range.end_bound() {
            number.maximum = Some((*most).into());
        }
    })
}

/// Builds a number above 0 and at most `most`.
pub fn above_zero(most: f64) -> Shape {
    number((Bound::Excluded(0.0), Bound::Included(most)))
}

/// Builds `type: boolean`.
pub fn yes_no() -> Shape {
    scalar(Type::Boolean, |_| ())
}

/// Builds a value of any JSON type.
pub fn anything() -> Shape {
    let mut object = Object::new();
    object.schema_type = SchemaType::AnyValue;
    shape(Schema::Object(object))
}

/// Builds an object whose keys are defined by another program.
pub fn open_object() -> Shape {
    map(anything())
}

/// Builds an object with arbitrary keys, and values of the given shape.
pub fn map(of: Shape) -> Shape {
    scalar(Type::Object, |object| {
        let free = of == anything();
        let values = if free { AdditionalProperties::FreeForm(true) } else { AdditionalProperties::RefOr(*of.0) };
        object.additional_properties = Some(Box::new(values));
    })
}

/// Builds `type: array` with items of the given shape.
pub fn list(of: Shape) -> Shape {
    shape(Schema::Array(Array::new(*of.0)))
}

/// Builds a list whose length is within the given bounds.
pub fn list_of(of: Shape, length: impl RangeBounds<usize>) -> Shape {
    let mut array = Array::new(*of.0);
    (array.min_items, array.max_items) = (whole_start(&length).filter(|least| *least > 0), whole_end(&length));
    shape(Schema::Array(array))
}

/// Builds a reference to a named component of the document.
pub fn named(name: &str) -> Shape {
    shape(Ref::from_schema_name(name))
}

/// Field of an object: its name, its shape, and whether it is required.
pub type ShapeMember = (&'static str, Shape, bool);

/// Builds a field that is always present.
pub fn required(name: &'static str, shape: Shape) -> ShapeMember {
    (name, shape, true)
}

/// Builds a field that may be absent.
pub fn optional(name: &'static str, shape: Shape) -> ShapeMember {
    (name, shape, false)
}

/// Builds an object in a response.
pub fn object(members: impl IntoIterator<Item = ShapeMember>) -> Shape {
    scalar(Type::Object, |object| {
        for (name, shape, must) in members {
            object.properties.insert(name.to_owned(), *shape.0);
            if must {
                object.required.push(name.to_owned());
            }
        }
    })
}

/// Builds an object in a request, in which unknown fields are rejected.
pub fn closed_object(members: impl IntoIterator<Item = ShapeMember>) -> Shape {
    let mut shape = object(members);
    if let RefOr::T(Schema::Object(object)) = &mut *shape.0 {
        object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
    }
    shape
}

impl Shape {
    /// Allows additional fields in the object.
    pub fn with_unknown_members(self) -> Self {
        self.edit(|object| object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(true))))
    }
}

/// Builds a value that has one of the given shapes.
pub fn either(shapes: impl IntoIterator<Item = Shape>) -> Shape {
    let mut one_of = OneOf::new();
    one_of.items = shapes.into_iter().map(|shape| *shape.0).collect();
    shape(Schema::OneOf(one_of))
}

impl Shape {
    /// Sets the description.
    pub fn about(mut self, words: &str) -> Self {
        let words = words.to_owned();
        match &mut *self.0 {
            RefOr::T(Schema::Object(object)) => object.description = Some(words),
            RefOr::T(Schema::Array(array)) => array.description = Some(words),
            RefOr::T(Schema::OneOf(one_of)) => one_of.description = Some(words),
            RefOr::Ref(reference) => reference.description = words,
            RefOr::T(_) => {}
        }
        self
    }

    /// Sets the description, unless it is empty.
    pub fn described(self, words: &str) -> Self {
        if words.is_empty() { self } else { self.about(words) }
    }

    /// Sets the default, which is used for an absent value.
    pub fn by_default(mut self, value: impl Into<Value>) -> Self {
        match &mut *self.0 {
            RefOr::T(Schema::Object(object)) => object.default = Some(value.into()),
            RefOr::T(Schema::Array(array)) => array.default = Some(value.into()),
            _ => {}
        }
        self
    }

    /// Requires the items of the list to be unique.
    pub fn unique_items(mut self) -> Self {
        if let RefOr::T(Schema::Array(array)) = &mut *self.0 {
            array.unique_items = true;
        }
        self
    }

    /// Removes null from the types, because query parameters are absent instead of null.
    pub fn without_null(mut self) -> Self {
        match &mut *self.0 {
            RefOr::T(Schema::Object(object)) => without_null(&mut object.schema_type),
            RefOr::T(Schema::Array(array)) => without_null(&mut array.schema_type),
            RefOr::T(Schema::OneOf(one_of)) => {
                let is_null = |one: &RefOr<Schema>| matches!(one, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null));
                one_of.items.retain(|one| !is_null(one));
                if let [one] = &one_of.items[..] {
                    return shape(one.clone());
                }
            }
            _ => {}
        }
        self
    }

    /// Applies an edit to a scalar, for the rules of requests.
    pub fn edit(mut self, edit: impl FnOnce(&mut Object)) -> Self {
        if let RefOr::T(Schema::Object(object)) = &mut *self.0 {
            edit(object);
        }
        self
    }

    /// Applies an edit to a list, for the rules of requests.
    pub fn edit_list(mut self, edit: impl FnOnce(&mut Array)) -> Self {
        if let RefOr::T(Schema::Array(array)) = &mut *self.0 {
            edit(array);
        }
        self
    }

    /// Allows null as well, which clears the value in requests and means that it is not set in responses.
    pub fn or_null(mut self) -> Self {
        match &mut *self.0 {
            RefOr::T(Schema::Object(object)) => {
                with_null(&mut object.schema_type);
                if let Some(words) = &mut object.enum_values {
                    words.push(json!(null));
                }
            }
            RefOr::T(Schema::Array(array)) => with_null(&mut array.schema_type),
            _ => return either([self, scalar(Type::Null, |_| ())]),
        }
        self
    }

    /// Returns whether the shape is an object with the given field.
    pub fn has_member(&self, name: &str) -> bool {
        matches!(&*self.0, RefOr::T(Schema::Object(object)) if object.properties.contains_key(name))
    }
}

fn with_null(kind: &mut SchemaType) {
    if let SchemaType::Type(single) = kind {
        *kind = SchemaType::from_iter([single.clone(), Type::Null]);
    }
}

fn without_null(kind: &mut SchemaType) {
    if let SchemaType::Array(kinds) = kind
        && let Some(remaining) = kinds.iter().find(|candidate| **candidate != Type::Null)
    {
        *kind = SchemaType::Type(remaining.clone());
    }
}

fn bound(bound: Bound<&i64>, step: i64) -> Option<i64> {
    match bound {
        Bound::Included(number) => Some(*number),
        Bound::Excluded(number) => Some(number.saturating_add(step)),
        Bound::Unbounded => None,
    }
}

fn whole_start(range: &impl RangeBounds<usize>) -> Option<usize> {
    match range.start_bound() {
        Bound::Included(number) => Some(*number),
        Bound::Excluded(number) => Some(number.saturating_add(1)),
        Bound::Unbounded => None,
    }
}

fn whole_end(range: &impl RangeBounds<usize>) -> Option<usize> {
    match range.end_bound() {
        Bound::Included(number) => Some(*number),
        Bound::Excluded(number) => Some(number.saturating_sub(1)),
        Bound::Unbounded => None,
    }
}
