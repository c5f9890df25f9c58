//! Description of an operation beyond its route: texts, parameters, bodies, and its own errors.
//!
//! Roles, path parameters, the 404 for unknown identifiers, validation errors, idempotency and the like are derived
//! ([`mod@crate::openapi::derive`]).

use std::borrow::Cow;

use api_schema::shape::Shape;
use axum::http::Method;
use serde_json::Value;

use crate::error::ApiError;

/// Resource of the API: its operations and their common schemas.
pub struct DescribedResource {
    /// Heading under which the document lists its operations.
    pub tag: &'static str,
    /// Description shown below the heading.
    pub about: &'static str,
    /// Kind of resource identified by `{id}`, such as `order`; determines the error code for a 404, such as
    /// `order_not_found`.
    pub kind: &'static str,
    /// Named schemas of the document.
    pub shapes: Vec<NamedSchema>,
    /// Operations, in document order.
    pub operations: Vec<DescribedOperation>,
}

/// Schema with a name and an example.
pub struct NamedSchema {
    /// Name under which the document lists the schema.
    pub name: &'static str,
    /// Schema of its values.
    pub shape: Shape,
    /// Example of a valid value.
    pub example: Value,
}

/// Query parameter or header of a request.
pub struct Parameter {
    /// Name of the query parameter or header.
    pub name: String,
    /// `true` for a query parameter, `false` for a header.
    pub in_query: bool,
    /// Schema of its values.
    pub shape: Shape,
    /// One-sentence description.
    pub about: &'static str,
}

/// Request body and its media type.
pub struct DescribedBody {
    /// Media type, such as `application/json` or `multipart/form-data`.
    pub media: &'static str,
    /// Schema of the body.
    pub shape: Shape,
    /// Example of a valid body, shown in the documentation.
    pub example: Option<Value>,
    /// `true` if the body may be omitted.
    pub optional: bool,
}

/// Content of the success response.
pub enum DescribedContent {
    /// No body (204).
    Nothing,
    /// Named schema of the document.
    Named(&'static str),
    /// Page of a list whose items have a named schema.
    NamedPage(&'static str),
    /// Schema used only by a single operation, with an example.
    Json(Shape, Value),
    /// Content other than JSON: media type, with an example if it is text.
    Other(&'static str, Option<&'static str>),
    /// Binary content in one of several media types.
    Binary(&'static [&'static str]),
    /// Named schema, or text in another media type with an example, selected by `Accept`.
    NamedOrText(&'static str, &'static str, &'static str),
    /// Text in one of several media types, selected by `Accept`, each with an example.
    Texts(&'static [(&'static str, &'static str)]),
}

/// Error with its status, its code and the condition under which it is returned.
pub type DescribedError = (u16, &'static str, &'static str);

/// Function that parses a body and discards the result.
pub type ReadBody = fn(&[u8]) -> Result<(), ApiError>;

/// Operation with one method on one path.
pub struct DescribedOperation {
    /// HTTP method of the route.
    pub method: Method,
    /// Path of the route, with parameters in braces.
    pub path: &'static str,
    /// Operation ID for client generators.
    pub id: Cow<'static, str>,
    /// Short summary.
    pub summary: &'static str,
    /// Longer description; may be empty.
    pub about: &'static str,
    /// Query parameters and headers.
    pub parameters: Vec<Parameter>,
    /// Request body, if any.
    pub body: Option<DescribedBody>,
    /// Status and content of the success response.
    pub answer: (u16, DescribedContent),
    /// Errors specific to this operation.
    pub errors: Vec<DescribedError>,
    /// `true` if no response is stored for an `Idempotency-Key`, because the operation bypasses the aggregates and
    /// calls a printer or an external program.
    pub unkeyed: bool,
    /// `true` if a response is stored for an `Idempotency-Key` even though the operation requires no credentials.
    pub keyed: bool,
    /// Kind of resource identified by `{id}`, if it differs from that of the resource's other paths.
    pub kind: Option<&'static str>,
    /// `true` if the response sets or clears the staff cookie.
    pub sets_cookie: bool,
    /// `true` if the response contains the location of the new resource.
    pub located: bool,
    /// Additional responses with their own schemas: status, condition, schema, example.
    pub others: Vec<(u16, &'static str, Shape, Value)>,
    /// `true` if the operation requires the agent gateway's token instead of an API key or session.
    pub by_token: bool,
    /// `true` if the handler streams the body, such as an upload.
    pub streamed: bool,
    /// Parser of the body as the handler uses it; set if the body is a `Request`. A test compares it with the schema of
    /// the body.
    pub read_body: Option<ReadBody>,
}

/// Creates the description of an operation from its route and texts.
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

/// Creates the description of a GET route.
pub fn get(path: &'static str, id: &'static str, summary: &'static str) -> DescribedOperation {
    operation(Method::GET, path, id, summary)
}

impl DescribedOperation {
    /// Returns whether the operation has query parameters.
    pub fn has_query(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.in_query)
    }
    /// Sets the operation ID and the summary.
    pub fn named(mut self, id: &'static str, summary: &'static str) -> Self {
        (self.id, self.summary) = (id.into(), summary);
        self
    }
    /// Sets the longer description.
    pub fn about(mut self, words: &'static str) -> Self {
        self.about = words;
        self
    }
    /// Adds an optional header and returns the description.
    pub fn header(mut self, name: &str, shape: Shape, about: &'static str) -> Self {
        self.add_header(name, shape, about);
        self
    }
    /// Adds an optional header.
    pub fn add_header(&mut self, name: &str, shape: Shape, about: &'static str) {
        self.parameters.push(Parameter { name: name.to_owned(), in_query: false, shape, about });
    }
    /// Sets a multipart form as the body.
    pub fn takes_form(mut self, shape: Shape) -> Self {
        self.body = Some(DescribedBody { media: "multipart/form-data", shape, example: None, optional: false });
        self
    }
    /// Sets a 200 response whose content is not JSON.
    pub fn sends(mut self, media: &'static str, example: Option<&'static str>) -> Self {
        self.answer = (200, DescribedContent::Other(media, example));
        self
    }
    /// Adds an error that the operation may return.
    pub fn error(mut self, status: u16, code: &'static str, when: &'static str) -> Self {
        self.errors.push((status, code, when));
        self
    }
    /// Adds errors that the operation may return.
    pub fn errors(mut self, errors: &[DescribedError]) -> Self {
        self.errors.extend_from_slice(errors);
        self
    }
    /// Declares that a response is stored for an `Idempotency-Key`, even without credentials.
    pub fn keyed(mut self) -> Self {
        self.keyed = true;
        self
    }
    /// Declares that no response is stored for an `Idempotency-Key`.
    pub fn unkeyed(mut self) -> Self {
        self.unkeyed = true;
        self
    }
    /// Sets the kind of resource identified by `{id}`.
    pub fn of(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }
    /// Declares that the operation requires the agent gateway's token instead of an API key or session.
    pub fn by_token(mut self) -> Self {
        self.by_token = true;
        self
    }
}
