//! Errors in the processor's format.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// Error response of the processor.
#[derive(Clone, Debug)]
pub(super) struct ErrorResponse {
    status: u16,
    kind: &'static str,
    code: Option<String>,
    message: String,
    param: Option<String>,
}

impl ErrorResponse {
    fn new(status: u16, kind: &'static str, message: String) -> Self {
        Self { status, kind, code: None, message, param: None }
    }

    /// Builds a 400 error for an invalid parameter; `param` is empty if the error is not about a single parameter.
    pub(super) fn invalid(message: String, param: &str) -> Self {
        let param = Some(param.to_owned()).filter(|param| !param.is_empty());
        Self { param, ..Self::new(400, "invalid_request_error", message) }
    }

    /// Builds a 400 error for an unknown parameter.
    pub(super) fn unknown(param: &str) -> Self {
        Self::invalid(format!("Received unknown parameter: {param}"), param).code("parameter_unknown")
    }

    /// Builds a 400 error for a missing required parameter.
    pub(super) fn missing(param: &str) -> Self {
        Self::invalid(format!("Missing required param: {param}."), param).code("parameter_missing")
    }

    /// Builds a 400 error for a parameter that refers to an object that does not exist.
    pub(super) fn no_such(what: &str, id: &str, param: &str) -> Self {
        Self::invalid(format!("No such {what}: '{id}'"), param).code("resource_missing")
    }

    /// Builds a 404 error for a path that refers to an object that does not exist.
    pub(super) fn not_found(what: &str, id: &str) -> Self {
        Self { status: 404, ..Self::no_such(what, id, "id") }
    }

    /// Builds a 404 error for a call that does not exist.
    pub(super) fn no_such_call(method: &str, path: &str) -> Self {
        let message = format!("Unrecognized request URL ({method}: {path}).");
        Self::new(404, "invalid_request_error", message)
    }

    /// Builds a 401 error for an unknown API key.
    pub(super) fn wrong_key(presented: Option<&str>) -> Self {
        let message = match presented {
            Some(key) => format!("Invalid API Key provided: {}****", key.chars().take(8).collect::<String>()),
            None => "You did not provide an API key.".to_owned(),
        };
        Self::new(401, "invalid_request_error", message)
    }

    /// Builds a 403 error for an API key that lacks the permission.
    pub(super) fn not_permitted() -> Self {
        let message = "The provided key does not have the required permissions for this endpoint.".to_owned();
        Self::new(403, "invalid_request_error", message)
    }

    /// Builds a 400 error for an idempotency key used with a different request.
    pub(super) fn other_request(key: &str) -> Self {
        let message = format!(
            "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a \
             key other than '{key}' if you meant to execute a different request."
        );
        Self::new(400, "idempotency_error", message)
    }

    /// Builds a generic error with the given status.
    pub(super) fn of_status(status: u16) -> Self {
        let kind = if status == 409 { "idempotency_error" } else { "api_error" };
        Self::new(status, kind, "simulated fault".to_owned())
    }

    /// Sets the machine-readable error code.
    pub(super) fn code(self, code: &str) -> Self {
        Self { code: Some(code.to_owned()), ..self }
    }

    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(super) fn body(&self) -> Value {
        let mut error = json!({"type": self.kind, "message": self.message});
        if let Some(code) = &self.code {
            error["code"] = json!(code);
            error["doc_url"] = json!(format!("https://stripe.com/docs/error-codes/{}", code.replace('_', "-")));
        }
        if let Some(param) = &self.param {
            error["param"] = json!(param);
        }
        json!({"error": error})
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        (self.status(), Json(self.body())).into_response()
    }
}
