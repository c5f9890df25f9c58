//! Fields that may be absent or null.

use api_schema::shape::Shape;
use serde_json::Value;

use super::{Components, FromJson, ToSchema, ValuePath, schema_of};
use domain::refusal::Faults;

/// Field that can be omitted, which is different from null: in a PATCH, an omitted field is left unchanged, while null
/// clears it (`Optional<Option<T>>`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optional<T> {
    /// Absent from the object.
    #[default]
    Absent,
    /// Present with the given value.
    Present(T),
}

impl<T> Optional<T> {
    /// Returns the field's value, or `other` if the field is absent.
    pub fn or(self, other: T) -> T {
        self.or_else(|| other)
    }

    /// Returns the field's value, or the result of `other` if the field is absent.
    pub fn or_else(self, other: impl FnOnce() -> T) -> T {
        match self {
            Self::Present(value) => value,
            Self::Absent => other(),
        }
    }

    /// Returns the field's value; `None` if the field is absent.
    pub fn present(self) -> Option<T> {
        match self {
            Self::Present(value) => Some(value),
            Self::Absent => None,
        }
    }

    /// Returns whether the field is present.
    pub const fn is_present(&self) -> bool {
        matches!(self, Self::Present(_))
    }
}

impl<T> From<Option<T>> for Optional<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Self::Present)
    }
}

impl<T: ToSchema> ToSchema for Optional<T> {
    fn schema() -> Shape {
        schema_of::<T>()
    }
    fn components(components: &mut Components) {
        components.add::<T>();
    }
}

impl<T: FromJson> FromJson for Optional<T> {
    type Inner = T::Inner;
    const NULLABLE: bool = T::NULLABLE;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        T::from_json(value, place, faults).map(Self::Present)
    }
    fn inner(&self) -> Option<&T::Inner> {
        match self {
            Self::Present(value) => value.inner(),
            Self::Absent => None,
        }
    }
    fn absent() -> Option<Self> {
        Some(Self::Absent)
    }
    fn from_text(text: String) -> Value {
        T::from_text(text)
    }
}

/// Treats an absent field and null as the same.
impl<T: FromJson> FromJson for Option<T> {
    type Inner = T::Inner;
    const NULLABLE: bool = true;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::from_json(value, place, faults).map(Some) }
    }
    fn inner(&self) -> Option<&T::Inner> {
        self.as_ref()?.inner()
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
    fn from_text(text: String) -> Value {
        T::from_text(text)
    }
}
