//! Responses: the resource itself, with `ETag`, `Location` and the marker of a replayed response.

use std::marker::PhantomData;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::command_request::CommandOutcome;
use crate::error::{ApiError, REPLAYED_HEADER};
use crate::page::Pagination;
use crate::wire::ListItem;
use crate::written_answers::WrittenAnswer;
use store::queries::Page;

/// Initial buffer capacity, in bytes; enough for most responses.
const USUAL_BYTES: usize = 2048;
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

/// Serializes a body as JSON.
pub(crate) fn to_json(body: &impl Serialize) -> Result<Bytes, ApiError> {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut text, body).map_err(ApiError::internal)?;
    Ok(text.into())
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
    /// Resource that is written for the response.
    Fresh(T),
    /// Resource that was written for an earlier response ([`crate::written_answers`]).
    Written(Bytes),
}

impl<T> Resource<T> {
    /// Builds the response from a resource and the version that was read.
    pub fn new(version: i64, body: T) -> Self {
        Self { version: Some(version), body: ResourceBody::Fresh(body), replayed: false }
    }
    /// Builds the response from a resource that was written as JSON before, and the version that was read.
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
    page: Page,
    items: Vec<T>,
    total: u64,
}

impl<T> ListPage<T> {
    /// Builds the response with the items of the requested page, out of `total` items in the whole list.
    pub fn new(page: Page, items: impl IntoIterator<Item = T>, total: u64) -> Self {
        Self { page, items: items.into_iter().collect(), total }
    }
}

impl<T: ListItem> Serialize for ListPage<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_map(Some(2))?;
        members.serialize_entry(T::MEMBER, &self.items)?;
        members.serialize_entry("pagination", &Pagination::of(self.page, self.items.len(), self.total))?;
        members.end()
    }
}

impl<T: ListItem> IntoResponse for ListPage<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self)
    }
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
