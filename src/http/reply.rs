//! Responses: the resource itself, with `ETag`, `Location` and the marker of a replayed response.

use std::marker::PhantomData;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::command_request::CommandOutcome;
use crate::error::{ApiError, REPLAYED_HEADER};
use crate::json_text::to_json;
use crate::page::Pagination;
use crate::wire::ListItem;
use crate::written_answers::WrittenAnswer;
use store::queries::Page;

/// Buffer capacity, in bytes, for what surrounds the items of a list.
const ENVELOPE_BYTES: usize = 256;
/// Member of a list's page with its position in the list.
const PAGINATION: &str = "pagination";
/// Number of headers of most responses, with those that the edge adds.
const USUAL_HEADERS: usize = 10;

/// Builds a JSON response. The body is serialized into a single buffer, which costs half as much as the framework's own
/// implementation.
pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match to_json(body) {
        Ok(text) => of_json(status, text),
        Err(error) => error.into_response(),
    }
}

fn of_json(status: StatusCode, text: Bytes) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.reserve(USUAL_HEADERS);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Response with status 200: a resource and its version (`ETag`).
pub struct Resource<T> {
    version: Option<i64>,
    body: ResourceBody<T>,
    replayed: bool,
}

/// Resource in a response.
enum ResourceBody<T> {
    /// Resource serialized for this response.
    Fresh(T),
    /// Resource serialized for an earlier response ([`crate::written_answers`]).
    Written(Bytes),
}

impl<T> Resource<T> {
    /// Builds the response from a resource and the version read.
    pub fn new(version: i64, body: T) -> Self {
        Self { version: Some(version), body: ResourceBody::Fresh(body), replayed: false }
    }
    /// Builds the response from a resource previously serialized as JSON, and the version read.
    pub fn written(version: i64, body: WrittenAnswer<T>) -> Self {
        Self { version: Some(version), body: ResourceBody::Written(body.into_bytes()), replayed: false }
    }
    /// Builds the response from a resource and the version after a command.
    pub fn after<A>(done: &CommandOutcome<A>, body: T) -> Self {
        Self { version: Some(done.version), body: ResourceBody::Fresh(body), replayed: done.replayed }
    }
}

impl<T: Serialize> IntoResponse for Resource<T> {
    fn into_response(self) -> Response {
        let response = match self.body {
            ResourceBody::Fresh(body) => json(StatusCode::OK, &body),
            ResourceBody::Written(text) => of_json(StatusCode::OK, text),
        };
        let response = match self.version {
            Some(version) => tagged(version, response),
            None => response,
        };
        marked(self.replayed, response)
    }
}

/// Response with status 200 whose body has no version.
pub struct Plain<T>(pub T);

impl<T: Serialize> IntoResponse for Plain<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

/// Response with status 201: the new resource, its version and its URL (`Location`).
pub struct Created<T> {
    location: String,
    resource: Resource<T>,
}

impl<T> Created<T> {
    /// Builds the response for a newly created resource, whose location is below its collection's path.
    pub fn under<A>(collection: &str, done: &CommandOutcome<A>, body: T) -> Self {
        Self { location: format!("{collection}/{}", done.id), resource: Resource::after(done, body) }
    }
    /// Builds the response for a newly created part of an aggregate that has its own path and version.
    pub fn part(location: String, version: i64, replayed: bool, body: T) -> Self {
        let mut resource = Resource::new(version, body);
        resource.replayed = replayed;
        Self { location, resource }
    }
    /// Builds the response for a newly created resource without a version, in the collection at `location`.
    pub fn unversioned<A>(location: String, done: &CommandOutcome<A>, body: T) -> Self {
        Self { location, resource: Resource { version: None, ..Resource::after(done, body) } }
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let mut response = self.resource.into_response();
        *response.status_mut() = StatusCode::CREATED;
        if let Ok(location) = HeaderValue::from_str(&self.location) {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response
    }
}

/// Media type of a response that is not JSON.
pub trait MediaType {
    /// Name of the media type, for the API description.
    const MEDIA: &'static str;
    /// Example of the content, if it is text.
    const EXAMPLE: Option<&'static str>;
}

/// Response with status 200 whose body is not JSON.
pub struct Media<M> {
    response: Response,
    kind: PhantomData<M>,
}

impl<M> Media<M> {
    /// Creates the response from one whose `Content-Type` is already set.
    pub fn new(response: impl IntoResponse) -> Self {
        Self { response: response.into_response(), kind: PhantomData }
    }
}

impl<M> IntoResponse for Media<M> {
    fn into_response(self) -> Response {
        self.response
    }
}

/// Response with status 200: one page of a list.
pub struct ListPage<T> {
    items: ListItems<T>,
    pagination: Pagination,
}

/// Items of a list in a response.
enum ListItems<T> {
    /// Items serialized for this response.
    Fresh(Vec<T>),
    /// Items serialized for earlier responses ([`crate::written_answers`]).
    Written(Vec<WrittenAnswer<T>>),
}

impl<T> ListPage<T> {
    /// Builds the response with the items of the requested page, out of `total` items in the whole list.
    pub fn new(page: Page, items: impl IntoIterator<Item = T>, total: u64) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        let pagination = Pagination::of(page, items.len(), total);
        Self { items: ListItems::Fresh(items), pagination }
    }

    /// Builds the response like [`Self::new`], with items previously serialized as JSON.
    pub fn written(page: Page, items: Vec<WrittenAnswer<T>>, total: u64) -> Self {
        let pagination = Pagination::of(page, items.len(), total);
        Self { items: ListItems::Written(items), pagination }
    }
}

impl<T: ListItem> IntoResponse for ListPage<T> {
    fn into_response(self) -> Response {
        let text = match self.items {
            ListItems::Fresh(items) => to_json(&FreshList { items: &items, pagination: &self.pagination }),
            ListItems::Written(items) => join_list(&items, &self.pagination),
        };
        match text {
            Ok(text) => of_json(StatusCode::OK, text),
            Err(error) => error.into_response(),
        }
    }
}

/// Page of a list whose items are written for the response.
struct FreshList<'a, T> {
    items: &'a [T],
    pagination: &'a Pagination,
}

impl<T: ListItem> Serialize for FreshList<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_map(Some(2))?;
        members.serialize_entry(T::MEMBER, self.items)?;
        members.serialize_entry(PAGINATION, self.pagination)?;
        members.end()
    }
}

/// Joins previously serialized items into the JSON of a page, which equals the JSON of a [`FreshList`] with the same
/// items.
fn join_list<T: ListItem>(items: &[WrittenAnswer<T>], pagination: &Pagination) -> Result<Bytes, ApiError> {
    let item_bytes: usize = items.iter().map(|item| item.text().len() + ",".len()).sum();
    let mut text = Vec::with_capacity(item_bytes + ENVELOPE_BYTES);
    text.push(b'{');
    serde_json::to_writer(&mut text, T::MEMBER).map_err(ApiError::internal)?;
    text.extend_from_slice(b":[");
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            text.push(b',');
        }
        text.extend_from_slice(item.text());
    }
    text.extend_from_slice(b"],");
    serde_json::to_writer(&mut text, PAGINATION).map_err(ApiError::internal)?;
    text.push(b':');
    serde_json::to_writer(&mut text, pagination).map_err(ApiError::internal)?;
    text.push(b'}');
    Ok(text.into())
}

/// Response with status 204: success without content.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// Response that also sets or clears the staff cookie.
pub struct WithCookie<R> {
    /// The rest of the response.
    pub reply: R,
    /// Value of `Set-Cookie`.
    pub cookie: HeaderValue,
}

impl<R: IntoResponse> IntoResponse for WithCookie<R> {
    fn into_response(self) -> Response {
        let mut response = self.reply.into_response();
        response.headers_mut().insert(header::SET_COOKIE, self.cookie);
        response
    }
}

fn tagged(version: i64, mut response: Response) -> Response {
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn marked(replayed: bool, mut response: Response) -> Response {
    if replayed {
        response.headers_mut().insert(HeaderName::from_static(REPLAYED_HEADER), HeaderValue::from_static("true"));
    }
    response
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::Arc;

    use axum::body::to_bytes;
    use futures::FutureExt as _;
    use proptest::prelude::*;

    use super::*;
    use crate::openapi::shape::{Shape, anything};
    use crate::wire::{Response as ResponseBody, ToSchema};
    use crate::written_answers::WrittenAnswers;
    use domain::aggregate::Versioned;
    use domain::id::Id;
    use domain::material::Material;

    #[derive(Clone, Serialize)]
    struct Part {
        name: String,
        weight: f64,
    }

    impl ToSchema for Part {
        fn schema() -> Shape {
            anything()
        }
    }

    impl ResponseBody for Part {}

    impl ListItem for Part {
        const MEMBER: &'static str = "parts";
        const PAGE_NAME: &'static str = "PartPage";
    }

    /// Returns the body of a response, and its headers as text.
    fn sent(response: impl IntoResponse) -> (Bytes, String) {
        let (parts, body) = response.into_response().into_parts();
        (to_bytes(body, usize::MAX).now_or_never().unwrap().unwrap(), format!("{:?} {:?}", parts.status, parts.headers))
    }

    fn write(part: &Part) -> WrittenAnswer<Part> {
        let state = Arc::new(Versioned::<Material>::nothing());
        WrittenAnswers::<Material, (), ()>::default().get((Id::ONLY, ()), &state, (), || part.clone()).unwrap()
    }

    proptest! {
        #[test]
        fn a_list_is_joined_to_the_very_bytes_that_it_would_be_written_as(
            parts in prop::collection::vec((".{0,8}", any::<f64>()), 0..4),
            limit in 1_u64..=200,
            offset: u64,
            total: u64,
        ) {
            let parts: Vec<Part> = parts.into_iter().map(|(name, weight)| Part { name, weight }).collect();
            let page = Page { limit, offset };
            let items = parts.iter().map(write).collect();
            let joined = sent(ListPage::written(page, items, total));
            prop_assert_eq!(joined, sent(ListPage::new(page, parts, total)));
        }
    }

    #[test]
    fn a_list_without_items_is_joined_as_well() {
        let (text, _) = sent(ListPage::<Part>::written(Page { limit: 50, offset: 0 }, Vec::new(), 0));
        let expected = r#"{"parts":[],"pagination":{"limit":50,"offset":0,"total":0,"hasMore":false}}"#;
        assert_eq!(text, expected);
    }
}
