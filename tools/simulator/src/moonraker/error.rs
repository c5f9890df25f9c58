//! Errors in Moonraker's format: code, message and traceback in a JSON envelope.

use axum::{http::StatusCode, response::Response};
use serde_json::{Value, json};

use crate::printer::CommandError;

/// Error with an HTTP-like code and a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code} {message}")]
pub struct MoonrakerError {
    /// HTTP status of the response, which is also in its body.
    pub code: u16,
    /// Message visible to clients.
    pub message: String,
    /// Text that appears only in the traceback; errors from uploads and deletions have no other text.
    pub detail: Option<String>,
}

impl MoonrakerError {
    /// Builds an error with a message for clients.
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None }
    }

    /// Builds an error whose message is only the generic phrase for its status, like those from uploads and DELETE
    /// requests.
    pub fn generic(code: u16, detail: impl Into<String>) -> Self {
        let phrase = StatusCode::from_u16(code).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error");
        Self { code, message: phrase.to_owned(), detail: Some(detail.into()) }
    }

    /// Converts a printer command error.
    pub(super) fn of_command(error: &CommandError, state_message: &str) -> Self {
        Self::new(
            400,
            match error {
                CommandError::NotReady => state_message,
                CommandError::Busy => "SD busy",
                CommandError::NoFile => "Unable to open file",
                CommandError::Refused => "Must home axis first",
            },
        )
    }

    /// Converts the error to an HTTP response.
    pub(super) fn respond(&self) -> Response {
        let status = StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let raised = match &self.detail {
            Some(detail) => format!("tornado.web.HTTPError: HTTP {}: {} ({detail})", self.code, self.message),
            None => format!("moonraker.utils.exceptions.ServerError: {}", self.message),
        };
        let traceback = format!(
            "Traceback (most recent call last):\n\n  File \"/home/pi/moonraker/moonraker/components/application.py\", line 734, in _process_http_request\n\n{raised}\n"
        );
        // The message is the reason phrase of HTTP, which has one line.
        let message = if self.message.contains('\n') { "Unknown" } else { &self.message };
        super::answer(status, &json!({"error": {"code": self.code, "message": message, "traceback": traceback}}))
    }

    /// Converts the error to a JSON-RPC error object.
    pub(super) fn rpc(&self) -> Value {
        let (code, message) = match self.code {
            404 => (-32601, "Method not found"),
            401 => (-32602, self.message.as_str()),
            code => (i64::from(code), self.message.as_str()),
        };
        json!({"code": code, "message": message})
    }
}
