//! Descriptions of the standard library's types.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::shape::{Shape, list, map, number, text, whole, yes_no};
use crate::{Components, ToSchema, schema_of};

/// Implements [`ToSchema`] for types that always have the same schema.
macro_rules! always {
    ($($type:ty: $schema:expr;)*) => {$(
        impl ToSchema for $type {
            fn schema() -> Shape {
                $schema
            }
        }
    )*};
}
always! {
    bool: yes_no();
    i64: whole(..);
    u64: whole(0..);
    usize: whole(0..);
    u8: whole(0..=i64::from(u8::MAX));
    u16: whole(0..=i64::from(u16::MAX));
    u32: whole(0..=i64::from(u32::MAX));
    f64: number(..);
    str: text();
    String: text();
}

impl<T: ToSchema> ToSchema for [T] {
    fn schema() -> Shape {
        list(schema_of::<T>())
    }
    fn components(components: &mut Components) {
        components.add::<T>();
    }
}

impl<T: ToSchema> ToSchema for Vec<T> {
    fn schema() -> Shape {
        <[T]>::schema()
    }
    fn components(components: &mut Components) {
        components.add::<T>();
    }
}

/// Object with a value for each key.
impl<K, T: ToSchema> ToSchema for BTreeMap<K, T> {
    fn schema() -> Shape {
        map(schema_of::<T>())
    }
    fn components(components: &mut Components) {
        components.add::<T>();
    }
}

impl<T: ToSchema> ToSchema for Option<T> {
    fn schema() -> Shape {
        schema_of::<T>().or_null()
    }
    fn components(components: &mut Components) {
        components.add::<T>();
    }
}

impl<T: ToSchema + ?Sized> ToSchema for &T {
    const NAME: Option<&'static str> = T::NAME;
    fn schema() -> Shape {
        T::schema()
    }
    fn components(components: &mut Components) {
        T::components(components);
    }
    fn example() -> Value {
        T::example()
    }
}
