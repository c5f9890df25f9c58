//! Answers: the resource itself, with `ETag`, `Location` and the mark of a repeated answer.

use std::marker::PhantomData;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::domain::id::Id;
use crate::http::command_request::CommandOutcome;
use crate::http::error::{ApiError, REPLAYED_HEADER};
use crate::http::page::Pagination;
use crate::http::wire::ListItem;
use crate::store::queries::Page;

/// Room that most answers fit in, in bytes.
const USUAL_BYTES: usize = 2048;

/// An answer in JSON. Written into one piece of memory, which costs half of what the framework's own way does.
pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    match serde_json::to_writer(&mut text, body) {
        Ok(()) => {
            let mut response = Response::new(Body::from(text));
            *response.status_mut() = status;
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Err(error) => ApiError::internal(error).into_response(),
    }
}

/// 200 with a resource and its version (`ETag`).
pub struct Resource<T> {
    version: Option<i64>,
    body: T,
    replayed: bool,
}

impl<T> Resource<T> {
    /// As it was read.
    pub fn new(version: i64, body: T) -> Self {
        Self { version: Some(version), body, replayed: false }
    }
    /// As a command left it.
    pub fn after<A>(done: &CommandOutcome<A>, body: T) -> Self {
        Self { version: Some(done.version), body, replayed: done.replayed }
    }
    /// What it tells, for a page.
    pub fn into_body(self) -> T {
        self.body
    }
}

impl<T: Serialize> IntoResponse for Resource<T> {
    fn into_response(self) -> Response {
        let response = json(StatusCode::OK, &self.body);
        let response = match self.version {
            Some(version) => tagged(version, response),
            None => response,
        };
        marked(self.replayed, response)
    }
}

/// 200 with a body that has no version.
pub struct Plain<T>(pub T);

impl<T: Serialize> IntoResponse for Plain<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

/// 201 with the new resource, its version and where it is (`Location`).
pub struct Created<T> {
    location: String,
    resource: Resource<T>,
}

impl<T> Created<T> {
    /// What a command made, under the path of its collection.
    pub fn under<A>(collection: &str, done: &CommandOutcome<A>, body: T) -> Self {
        Self { location: format!("{collection}/{}", done.id), resource: Resource::after(done, body) }
    }
    /// What a command made as a part of an aggregate: it has a path and a version of its own.
    pub fn part(location: String, version: i64, replayed: bool, body: T) -> Self {
        let mut resource = Resource::new(version, body);
        resource.replayed = replayed;
        Self { location, resource }
    }
    /// What a command made that has no version of its own, in the collection at `location`.
    pub fn unversioned<A>(location: String, done: &CommandOutcome<A>, body: T) -> Self {
        Self { location, resource: Resource { version: None, ..Resource::after(done, body) } }
    }
    /// What it tells, for a page.
    pub fn into_body(self) -> T {
        self.resource.body
    }
}

impl<T> Created<T> {
    /// The id of what was made, by which pages lead to it; `None` where its address does not end with one.
    pub(crate) fn made_id(&self) -> Option<Id> {
        self.location.rsplit('/').next()?.parse().ok()
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

/// A kind of answer that is no JSON.
pub trait MediaType {
    /// Its media type, as the description names it.
    const MEDIA: &'static str;
    /// How it may look, where it is text.
    const EXAMPLE: Option<&'static str>;
}

/// 200 with a body that is no JSON.
pub struct Media<M> {
    response: Response,
    kind: PhantomData<M>,
}

impl<M> Media<M> {
    /// This response, whose `Content-Type` is set.
    pub fn new(response: impl IntoResponse) -> Self {
        Self { response: response.into_response(), kind: PhantomData }
    }
}

impl<M> IntoResponse for Media<M> {
    fn into_response(self) -> Response {
        self.response
    }
}

/// 200 with a page of a list.
pub struct Listed<T> {
    /// Which part was asked for.
    pub page: Page,
    /// The items of that part.
    pub items: Vec<T>,
    /// How many there are in all.
    pub total: u64,
}

impl<T: ListItem> Serialize for Listed<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_map(Some(2))?;
        members.serialize_entry(T::MEMBER, &self.items)?;
        members.serialize_entry("pagination", &Pagination::of(self.page, self.items.len(), self.total))?;
        members.end()
    }
}

impl<T: ListItem> IntoResponse for Listed<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self)
    }
}

/// 204: done, and there is nothing to show.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// An answer that also sets or removes the staff cookie.
pub struct WithCookie<R> {
    /// The rest of the answer.
    pub reply: R,
    /// The value of `Set-Cookie`.
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
