//! Kind of value that a shape describes, for readers of texts, such as those of forms.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayItems, Object, Schema, SchemaType, Type};

use super::{Shape, ShapeNode, shape};

/// Kind of value that a shape describes; null is not a kind of its own ([`Shape::accepts_null`]).
pub enum ValueKind {
    /// Text, including enumerations, identifiers and times.
    Text,
    /// Integer.
    Whole,
    /// Number that may have decimals.
    Number,
    /// Boolean.
    YesNo,
    /// List of items of the given shape.
    List(Shape),
    /// Object with the given fields.
    Object(Vec<FieldShape>),
    /// Component of the document with the given name.
    Named(String),
    /// Any other value, such as an object whose keys are defined by another program.
    Other,
}

/// Field of an object: its name, its shape, and whether it is required.
pub struct FieldShape {
    /// Name in JSON.
    pub name: String,
    /// Shape of the value.
    pub shape: Shape,
    /// `true` if the field must be present.
    pub required: bool,
}

impl Shape {
    /// Returns the kind of value, apart from null.
    pub fn kind(&self) -> ValueKind {
        match &*self.0 {
            RefOr::Ref(reference) => {
                ValueKind::Named(reference.ref_location.rsplit('/').next().unwrap_or_default().to_owned())
            }
            RefOr::T(Schema::Array(array)) => match &array.items {
                ArrayItems::RefOrSchema(item) => ValueKind::List(Self(item.clone())),
                ArrayItems::False => ValueKind::Other,
            },
            RefOr::T(Schema::Object(object)) => kind_of(object),
            RefOr::T(Schema::OneOf(one_of)) => {
                let mut others = one_of.items.iter().filter(|one| !is_null(one));
                match (others.next(), others.next()) {
                    (Some(one), None) => shape(one.clone()).kind(),
                    _ => ValueKind::Other,
                }
            }
            RefOr::T(_) => ValueKind::Other,
        }
    }

    /// Returns whether null is a valid value.
    pub fn accepts_null(&self) -> bool {
        match &*self.0 {
            RefOr::T(Schema::Object(object)) => includes(&object.schema_type, &Type::Null),
            RefOr::T(Schema::Array(array)) => includes(&array.schema_type, &Type::Null),
            RefOr::T(Schema::OneOf(one_of)) => one_of.items.iter().any(is_null),
            _ => false,
        }
    }
}

fn is_null(shape: &ShapeNode) -> bool {
    matches!(shape, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null))
}

fn includes(kinds: &SchemaType, kind: &Type) -> bool {
    match kinds {
        SchemaType::Type(single) => single == kind,
        SchemaType::Array(several) => several.contains(kind),
        SchemaType::AnyValue => false,
    }
}

fn kind_of(object: &Object) -> ValueKind {
    let is = |kind: &Type| includes(&object.schema_type, kind);
    if is(&Type::String) {
        ValueKind::Text
    } else if is(&Type::Integer) {
        ValueKind::Whole
    } else if is(&Type::Number) {
        ValueKind::Number
    } else if is(&Type::Boolean) {
        ValueKind::YesNo
    } else if object.properties.is_empty() {
        ValueKind::Other
    } else {
        let field = |(name, of): (&String, &ShapeNode)| FieldShape {
            name: name.clone(),
            shape: shape(of.clone()),
            required: object.required.contains(name),
        };
        ValueKind::Object(object.properties.iter().map(field).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{closed_object, either, id, list, map, named, number, optional, required, text, whole, yes_no};

    #[test]
    fn the_kind_of_a_shape_is_the_same_with_and_without_null() {
        type Is = fn(&ValueKind) -> bool;
        let cases: [(Shape, Is); 8] = [
            (text(), |kind| matches!(kind, ValueKind::Text)),
            (id(), |kind| matches!(kind, ValueKind::Text)),
            (whole(0..), |kind| matches!(kind, ValueKind::Whole)),
            (number(..), |kind| matches!(kind, ValueKind::Number)),
            (yes_no(), |kind| matches!(kind, ValueKind::YesNo)),
            (list(whole(..)), |kind| matches!(kind, ValueKind::List(item) if matches!(item.kind(), ValueKind::Whole))),
            (named("Sku"), |kind| matches!(kind, ValueKind::Named(name) if name == "Sku")),
            (map(text()), |kind| matches!(kind, ValueKind::Other)),
        ];
        for (shape, is) in cases {
            assert!(is(&shape.kind()) && !shape.accepts_null());
            let nullable = shape.or_null();
            assert!(is(&nullable.kind()) && nullable.accepts_null());
        }
        assert!(matches!(either([text(), whole(..)]).kind(), ValueKind::Other));
    }

    #[test]
    fn an_object_names_its_fields_in_order() {
        let shape = closed_object([required("b", text()), optional("a", whole(..))]);
        let ValueKind::Object(fields) = shape.kind() else { panic!("not an object") };
        let fields: Vec<(&str, bool)> = fields.iter().map(|field| (field.name.as_str(), field.required)).collect();
        assert_eq!(fields, [("b", true), ("a", false)]);
    }
}
