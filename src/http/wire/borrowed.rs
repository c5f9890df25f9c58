//! Borrowed responses: a handler returns a view of data that it owns.

use api_schema::shape::Shape;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Components, ListItem, Response, ToSchema};

/// Value whose response is a borrowed view, serialised directly and without copying.
pub trait Viewed: 'static {
    /// View that borrows from the value.
    type View<'a>: Response;

    /// Returns the view; `None` if there is nothing to show, which is an internal error.
    fn view(&self) -> Option<Self::View<'_>>;
}

/// Response that is serialised as the view of the value it owns.
pub struct AsView<T>(pub T);

impl<T: Viewed> Serialize for AsView<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.view().ok_or_else(|| S::Error::custom("there is nothing to show"))?.serialize(to)
    }
}

impl<T: Viewed> ToSchema for AsView<T> {
    const NAME: Option<&'static str> = T::View::<'static>::NAME;
    fn schema() -> Shape {
        T::View::<'static>::schema()
    }
    fn components(components: &mut Components) {
        T::View::<'static>::components(components);
    }
    fn example() -> Value {
        T::View::<'static>::example()
    }
}

impl<T: Viewed> Response for AsView<T> {}

impl<T: Viewed> ListItem for AsView<T>
where
    T::View<'static>: ListItem,
{
    const MEMBER: &'static str = T::View::<'static>::MEMBER;
    const PAGE_NAME: &'static str = T::View::<'static>::PAGE_NAME;
}
