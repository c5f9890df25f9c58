//! Responses of the billing API: every success body contains `success: true` next to its own fields.

use api_derive::Response;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response as HttpResponse};
use serde::{Serialize, Serializer};
use serde_json::json;

use http::command_request::CommandOutcome;
use http::error::REPLAYED_HEADER;
use http::handler::Reply;
use http::openapi::shape::{Shape, yes_no};
use http::operation::{DescribedContent, DescribedOperation};
use http::reply::json;
use http::wire::{Components, Response, ToSchema};

/// `success` field of a success body: always `true`. It is the first field of every response struct.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Success;

impl Serialize for Success {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bool(true)
    }
}

impl ToSchema for Success {
    fn schema() -> Shape {
        yes_no().about("Always true.")
    }
}

/// Success response without further data.
#[derive(Response, Serialize)]
#[api(name = "SuccessResponse", example = json!({"success": true}))]
pub struct Done {
    /// Always `true`.
    pub success: Success,
}

/// Success response with a message: an operation has been completed or started.
#[derive(Response, Serialize)]
#[api(name = "SuccessMessageResponse", example = json!({"success": true, "message": "the export is being created"}))]
pub struct DoneWithWords {
    /// Always `true`.
    pub success: Success,
    /// Human-readable description of the next step.
    pub message: String,
}

/// Response with status 201 and the created resource.
pub struct CreatedReply<T> {
    body: T,
    replayed: bool,
}

impl<T> CreatedReply<T> {
    /// Builds the response to a command that created something, either now or in an earlier request with the same
    /// idempotency key.
    pub fn after<A>(done: &CommandOutcome<A>, body: T) -> Self {
        Self { body, replayed: done.replayed }
    }
}

impl<T: Serialize> IntoResponse for CreatedReply<T> {
    fn into_response(self) -> HttpResponse {
        let mut response = json(StatusCode::CREATED, &self.body);
        if self.replayed {
            let name = HeaderName::from_static(REPLAYED_HEADER);
            response.headers_mut().insert(name, HeaderValue::from_static("true"));
        }
        response
    }
}

impl<T: Response> Reply for CreatedReply<T> {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<T>();
        let named = T::NAME.map(DescribedContent::Named);
        operation.answer = (201, named.unwrap_or_else(|| DescribedContent::Json(T::schema(), T::example())));
    }
}
