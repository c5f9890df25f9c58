//! Answers: the resource itself, with `ETag`, `Location` and the mark of a repeated answer.

use crate::http::call::Done;
use crate::http::error::{Answer, ApiError, REPLAYED};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;

/// What most answers have room in, in bytes.
const USUAL: usize = 2048;

/// An answer in JSON. Written into one piece of memory, which costs half of what the framework's own way does.
pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let mut text = Vec::with_capacity(USUAL);
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

/// 200 with a body.
pub fn ok(body: Value) -> Answer {
    Ok(json(StatusCode::OK, &body))
}

/// 200 with a resource and its version.
pub fn resource(version: i64, body: &impl Serialize) -> Answer {
    Ok(tagged(version, json(StatusCode::OK, body)))
}

/// Another status with a body.
pub fn with_status(status: StatusCode, body: Value) -> Answer {
    Ok(json(status, &body))
}

/// 204.
pub fn no_content() -> Answer {
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// 204, marked when it is a repeat.
pub fn gone<A>(done: &Done<A>) -> Answer {
    Ok(marked(done.replayed, StatusCode::NO_CONTENT.into_response()))
}

/// 200 with the resource after a change.
pub fn changed<A>(done: &Done<A>, body: Value) -> Answer {
    Ok(marked(done.replayed, tagged(done.version, json(StatusCode::OK, &body))))
}

/// 201 with the new resource, at this path.
pub fn created<A>(done: &Done<A>, location: &str, body: Value) -> Answer {
    made(done.replayed, location, body).map(|response| tagged(done.version, response))
}

fn tagged(version: i64, mut response: Response) -> Response {
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn marked(replayed: bool, mut response: Response) -> Response {
    if replayed {
        response.headers_mut().insert(HeaderName::from_static(REPLAYED), HeaderValue::from_static("true"));
    }
    response
}

/// 201 with a resource that has a version of its own, under a thing's.
pub fn created_part(replayed: bool, version: i64, location: &str, body: Value) -> Answer {
    made(replayed, location, body).map(|response| tagged(version, response))
}

/// 201 with what was made under another resource.
pub fn made(replayed: bool, location: &str, body: Value) -> Answer {
    let mut response = json(StatusCode::CREATED, &body);
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(marked(replayed, response))
}
