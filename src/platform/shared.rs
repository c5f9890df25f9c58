//! [`Shared`]: a reference-counted value whose fields the compiler does not have to inspect.
//!
//! A future that holds an `Arc<T>` can be moved between threads only if all fields of `T` can be. The compiler proves
//! this separately for every future, down to the last field, and thousands of futures hold the server's state, a
//! directory or the store. With a trait object, the property is declared instead, which halves the time that the
//! compiler takes to check this crate. The cost is one virtual call per access.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Reference-counted value that any thread can hold.
pub struct Shared<T: 'static>(Arc<dyn Holds<T> + Send + Sync>);

/// Access to a `T` without exposing its fields to the compiler.
trait Holds<T> {
    fn held(&self) -> &T;
}

impl<T> Holds<T> for T {
    fn held(&self) -> &T {
        self
    }
}

impl<T: Send + Sync + 'static> Shared<T> {
    /// Creates a shared reference to the value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        (*self.0).held()
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_value_and_show_it() {
        let one = Shared::new(vec![1, 2, 3]);
        let other = one.clone();
        assert!(std::ptr::eq(&raw const *one, &raw const *other));
        assert_eq!(other.len(), 3);
        assert_eq!(format!("{one:?}"), "[1, 2, 3]");
    }
}
