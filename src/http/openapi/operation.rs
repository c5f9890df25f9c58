//! What an operation is, beyond what its route says already: its words, parameters, bodies, and its own errors.
//!
//! Roles, path parameters, identifiers' 404, body faults, idempotency and the like are derived ([`super::derive`]).

use std::borrow::Cow;

use axum::http::Method;
use serde_json::Value;

use super::shape::Shape;
use crate::http::error::ApiError;

/// A resource of the API: its operations and the shapes that they share.
pub struct DescribedResource {
    /// The heading under which the document lists its operations.
    pub tag: &'static str,
    /// The sentences under that heading.
    pub about: &'static str,
    /// What the `{id}` of its paths names, such as `order`; makes the code of the 404, `order_not_found`.
    pub kind: &'static str,
    /// Shapes that the document names.
    pub shapes: Vec<NamedSchema>,
    /// Its operations, in the order of the document.
    pub operations: Vec<DescribedOperation>,
}

/// A shape with a name and an example.
pub struct NamedSchema {
    /// As it stands among the components of the document.
    pub name: &'static str,
    /// What values of it look like.
    pub shape: Shape,
    /// A valid value of it.
    pub example: Value,
}

/// A query parameter or header of a request.
pub struct Parameter {
    /// As it stands in the query or among the headers.
    pub name: String,
    /// In the query; else a header.
    pub in_query: bool,
    /// Which values it may have.
    pub shape: Shape,
    /// What it does, in a sentence.
    pub about: &'static str,
}

/// What a request carries, and in which media type.
pub struct DescribedBody {
    /// Its media type: `application/json`, `multipart/form-data`.
    pub media: &'static str,
    /// What the body looks like.
    pub shape: Shape,
    /// A valid body, which the documentation shows.
    pub example: Option<Value>,
    /// It may be left out.
    pub optional: bool,
}

/// What is answered when all is well.
pub enum DescribedContent {
    /// 204: there is no body.
    Nothing,
    /// A shape that the document names.
    Named(&'static str),
    /// A page of a list, whose shape the document names.
    NamedPage(&'static str),
    /// A shape of this operation alone, with an example.
    Json(Shape, Value),
    /// No JSON: a media type, with an example where it is text.
    Other(&'static str, Option<&'static str>),
    /// Bytes in one of several media types.
    Binary(&'static [&'static str]),
    /// A shape that the document names, or text in another media type with an example: `Accept` chooses.
    NamedOrText(&'static str, &'static str, &'static str),
    /// Text in one of several forms, of which `Accept` chooses: their media types with examples.
    Texts(&'static [(&'static str, &'static str)]),
}

/// An error: its status, its code, and when it happens.
pub type DescribedError = (u16, &'static str, &'static str);

/// Reads a body and forgets what was read.
pub type ReadBody = fn(&[u8]) -> Result<(), ApiError>;

/// What can be done with one method at one path.
pub struct DescribedOperation {
    /// The method of its route.
    pub method: Method,
    /// The path of its route, with the parameters in braces.
    pub path: &'static str,
    /// Its name for programs.
    pub id: Cow<'static, str>,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// What else there is to know, in sentences; may be empty.
    pub about: &'static str,
    /// Query parameters and headers.
    pub parameters: Vec<Parameter>,
    /// What the request carries.
    pub body: Option<DescribedBody>,
    /// Status and content of the answer when all is well.
    pub answer: (u16, DescribedContent),
    /// Errors that only this operation has.
    pub errors: Vec<DescribedError>,
    /// It goes past the aggregates, to a printer or to other programs: no answer is kept for an `Idempotency-Key`.
    pub unkeyed: bool,
    /// Anybody may ask, and an answer is kept for an `Idempotency-Key` all the same.
    pub keyed: bool,
    /// What its `{id}` names, when that is not what the other paths of its resource name.
    pub kind: Option<&'static str>,
    /// The answer sets or removes the staff cookie.
    pub sets_cookie: bool,
    /// The answer says where the new resource is.
    pub located: bool,
    /// Further answers of shapes of their own: status, when, shape, example.
    pub others: Vec<(u16, &'static str, Shape, Value)>,
    /// It takes the agent gateway's token, instead of keys and sessions.
    pub by_token: bool,
    /// The handler takes the body as it comes, such as an upload.
    pub streamed: bool,
    /// Reads a body as the handler does; of operations whose body is a `Request`. A test holds
    /// it against the schema of the body.
    pub read_body: Option<ReadBody>,
}

/// An operation that says nothing yet beyond its route and its words.
pub fn operation(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> DescribedOperation {
    DescribedOperation {
        method,
        path,
        id: id.into(),
        summary,
        about: "",
        parameters: Vec::new(),
        body: None,
        answer: (204, DescribedContent::Nothing),
        errors: Vec::new(),
        unkeyed: false,
        keyed: false,
        kind: None,
        sets_cookie: false,
        located: false,
        others: Vec::new(),
        by_token: false,
        streamed: false,
        read_body: None,
    }
}

/// Begins the description of a route for reading.
pub fn get(path: &'static str, id: &'static str, summary: &'static str) -> DescribedOperation {
    operation(Method::GET, path, id, summary)
}

impl DescribedOperation {
    /// Its name for programs, and what it does in a few words.
    pub fn named(mut self, id: &'static str, summary: &'static str) -> Self {
        (self.id, self.summary) = (id.into(), summary);
        self
    }
    /// What else there is to know, in sentences.
    pub fn about(mut self, words: &'static str) -> Self {
        self.about = words;
        self
    }
    /// Takes a header, which may be left out.
    pub fn header(mut self, name: &str, shape: Shape, about: &'static str) -> Self {
        self.add_header(name, shape, about);
        self
    }
    /// Takes a header, which may be left out.
    pub fn add_header(&mut self, name: &str, shape: Shape, about: &'static str) {
        self.parameters.push(Parameter { name: name.to_owned(), in_query: false, shape, about });
    }
    /// Takes a multipart form.
    pub fn takes_form(mut self, shape: Shape) -> Self {
        self.body = Some(DescribedBody { media: "multipart/form-data", shape, example: None, optional: false });
        self
    }
    /// Answers 200 with something that is no JSON.
    pub fn sends(mut self, media: &'static str, example: Option<&'static str>) -> Self {
        self.answer = (200, DescribedContent::Other(media, example));
        self
    }
    /// May answer this error.
    pub fn error(mut self, status: u16, code: &'static str, when: &'static str) -> Self {
        self.errors.push((status, code, when));
        self
    }
    /// May answer these errors.
    pub fn errors(mut self, errors: &[DescribedError]) -> Self {
        self.errors.extend_from_slice(errors);
        self
    }
    /// An answer is kept for an `Idempotency-Key`, whoever asks.
    pub fn keyed(mut self) -> Self {
        self.keyed = true;
        self
    }
    /// No answer is kept for an `Idempotency-Key`.
    pub fn unkeyed(mut self) -> Self {
        self.unkeyed = true;
        self
    }
    /// Its `{id}` names this.
    pub fn of(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }
    /// It takes the agent gateway's token, instead of keys and sessions.
    pub fn by_token(mut self) -> Self {
        self.by_token = true;
        self
    }
}
