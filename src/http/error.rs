//! Common format of all errors, and the only place that maps rejections to status codes.
//!
//! Messages are for callers; internal details are logged and never sent.

mod at_processor;
mod keyed;
mod of_backup;
mod of_documents;
mod of_files;
mod of_peers;

use std::any::Any;
use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use domain::principal::Principal;
use domain::refusal::{Class, Fault, MAX_MESSAGE_CHARS, Refusal, shortened};
use kernel::handle::AskError;
use printers::adapter::PrinterError;
use store::Unavailable;
use store::rows::LoadError;

pub use of_peers::PROVIDER_UNAVAILABLE;

/// Header that marks a response as a replay of the first response for the same idempotency key.
pub const REPLAYED_HEADER: &str = "idempotency-replayed";

/// Error details for the middleware around a handler, carried in the response's extensions.
#[derive(Clone, Debug)]
pub struct ErrorMeta {
    /// Machine-readable error code, such as `rate_limited`.
    pub code: String,
    /// Human-readable error message.
    pub message: String,
    /// Validation errors in a body.
    pub faults: Vec<Fault>,
    /// Details for the audit log; never sent.
    pub facts: Option<Value>,
    /// Principal whose request was rejected, if the handler has identified it more precisely than the key or session
    /// does.
    pub by: Option<Arc<Principal>>,
}

/// Error as sent to the caller: status, code, message, and the validation errors in a body.
#[derive(Clone, PartialEq, Debug)]
pub struct ApiError(Box<ErrorParts>);

#[derive(Clone, PartialEq, Debug)]
struct ErrorParts {
    status: StatusCode,
    code: String,
    message: String,
    faults: Vec<Fault>,
    retry_after: Option<u32>,
    replayed: bool,
    facts: Option<Value>,
    by: Option<Arc<Principal>>,
}

/// Title and sentence for the page that a browser shows in place of the response; carried in the response's extensions,
/// and rendered in the common page frame. Both are in the language that the browser prefers.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Title of the page.
    pub title: String,
    /// Sentence that explains what to do next.
    pub text: String,
}

/// Result of a handler.
pub type ApiResult = Result<Response, ApiError>;

impl ApiError {
    /// Creates an error with the given status.
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), shortened(message.into(), MAX_MESSAGE_CHARS));
        let (faults, retry_after, replayed, facts, by) = (Vec::new(), None, false, None, None);
        Self(Box::new(ErrorParts { status, code, message, faults, retry_after, replayed, facts, by }))
    }
    /// Creates a 400 error: the request is malformed.
    pub fn bad_request(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }
    /// Creates a 401 error: the caller is not authenticated.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }
    /// Creates a 403 error: the caller is authenticated but not permitted.
    pub fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }
    /// Creates a 409 error: the current state does not allow the request.
    pub fn conflict(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }
    /// Creates a 413 error: the body is larger than `limit` bytes.
    pub fn too_large(limit: u64) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("the body must be at most {limit} bytes"))
    }
    /// Creates a 500 error; the reason is only logged.
    pub fn internal(reason: impl std::fmt::Display) -> Self {
        tracing::error!(%reason, "internal fault");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "an internal error occurred")
    }
    /// Creates a 503 error; the caller may retry after `seconds` (`Retry-After`).
    pub fn unavailable(code: &str, message: impl Into<String>, seconds: u32) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message).retry_after(seconds)
    }
    /// Sets `Retry-After`, in seconds.
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }
    /// Sets the rejected principal for the audit log.
    pub fn by(mut self, who: Arc<Principal>) -> Self {
        self.0.by = Some(who);
        self
    }

    /// Sets details for the audit log, which are not sent.
    pub fn facts(mut self, facts: Value) -> Self {
        self.0.facts = Some(facts);
        self
    }
    /// Marks the error as a replay of the first response for the same idempotency key.
    pub fn replayed(mut self) -> Self {
        self.0.replayed = true;
        self
    }
    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }
    /// Returns the machine-readable error code.
    pub fn code(&self) -> &str {
        &self.0.code
    }
    /// Returns the human-readable message.
    pub fn message(&self) -> &str {
        &self.0.message
    }
    /// Returns the validation errors in the body.
    pub fn faults(&self) -> &[Fault] {
        &self.0.faults
    }
    /// Replaces the messages of those validation errors for which `message` returns a new one.
    pub fn reword(mut self, message: impl Fn(&Fault) -> Option<String>) -> Self {
        for fault in &mut self.0.faults {
            fault.message = message(fault).unwrap_or_else(|| std::mem::take(&mut fault.message));
        }
        self
    }
    /// Builds the JSON body: `success`, `message`, `code`, and `errors` for validation errors.
    pub fn body(&self) -> Value {
        let mut body = json!({"success": false, "message": self.0.message, "code": self.0.code});
        if !self.0.faults.is_empty() {
            body["errors"] = json!(self.0.faults);
        }
        body
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.0.status, Json(self.body())).into_response();
        if let Some(seconds) = self.0.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if self.0.replayed {
            response.headers_mut().insert(REPLAYED_HEADER, HeaderValue::from_static("true"));
        }
        response.extensions_mut().insert(ErrorMeta {
            code: self.0.code,
            message: self.0.message,
            faults: self.0.faults,
            facts: self.0.facts,
            by: self.0.by,
        });
        response
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.class {
            Class::Invalid => StatusCode::BAD_REQUEST,
            Class::NotFound => StatusCode::NOT_FOUND,
            Class::Forbidden => StatusCode::FORBIDDEN,
            Class::Conflict => StatusCode::CONFLICT,
            Class::Stale => StatusCode::PRECONDITION_FAILED,
            Class::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
            Class::Gone => StatusCode::GONE,
        };
        let mut error = Self::new(status, &refusal.code, refusal.message);
        error.0.faults = refusal.faults;
        error
    }
}

impl From<Unavailable> for ApiError {
    fn from(why: Unavailable) -> Self {
        let code = match why {
            Unavailable::Database => "unavailable",
            Unavailable::DiskFull => "disk_full",
            Unavailable::ReadOnly => "read_only",
        };
        Self::unavailable(code, why.to_string(), 2)
    }
}

impl From<AskError> for ApiError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Refused(refusal) => refusal.into(),
            AskError::Unavailable(why) => why.into(),
            AskError::KeyTaken => Self::conflict("idempotency_key_in_use", error.to_string()).retry_after(1),
            AskError::Overloaded => Self::unavailable("overloaded", error.to_string(), 1),
            AskError::Parked => Self::unavailable("parked", error.to_string(), 30),
            AskError::Unknown => Self::unavailable("unknown_outcome", error.to_string(), 1),
            AskError::Timeout => Self::unavailable("timeout", error.to_string(), 2),
            AskError::Closed => Self::unavailable("shutting_down", error.to_string(), 5),
            AskError::Poison => Self::internal("the rules panicked while deciding this command"),
        }
    }
}

impl From<LoadError> for ApiError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Damaged(damaged) => Self::internal(damaged),
            error if error.is_bad_value() => {
                tracing::warn!(%error, "the database rejected a value in a query");
                Self::bad_request(
                    "validation_failed",
                    "a value contains characters that cannot be searched for; remove them",
                )
            }
            LoadError::Db(reason) => {
                tracing::warn!(%reason, "cannot read a list or page");
                Unavailable::Database.into()
            }
        }
    }
}

/// Builds the 500 response for a handler that panicked. The panic message is only logged.
pub fn panicked(reason: Box<dyn Any + Send>) -> Response {
    let words = reason.downcast_ref::<String>().map(String::as_str).or_else(|| reason.downcast_ref::<&str>().copied());
    ApiError::internal(format!("a handler panicked: {}", words.unwrap_or("no message"))).into_response()
}

/// Returns the 404 for an unknown path.
pub async fn no_such_path() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "not_found", "this path does not exist")
}

/// Returns the 405 for an unsupported method; the router adds the `Allow` header.
pub fn no_such_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "this path does not support this method")
}

impl From<PrinterError> for ApiError {
    fn from(error: PrinterError) -> Self {
        use PrinterError as P;
        let (status, code) = match &error {
            P::Unreachable(_) | P::Lost(_) | P::Timeout | P::Stalled(_) => {
                (StatusCode::GATEWAY_TIMEOUT, "printer_timeout")
            }
            P::Unsupported(_) => (StatusCode::CONFLICT, "unsupported_by_printer"),
            P::InUse(_) => (StatusCode::CONFLICT, "printer_in_use"),
            P::NotFound(_) => (StatusCode::NOT_FOUND, "printer_file_not_found"),
            P::Invalid(_) => (StatusCode::BAD_REQUEST, "validation_failed"),
            P::WrongKey(_)
            | P::FirmwareDisconnected(_)
            | P::Refused { .. }
            | P::BadAnswer(_)
            | P::Altered(_)
            | P::Stranger { .. }
            | P::WrongType { .. } => (StatusCode::BAD_GATEWAY, "printer_refused"),
        };
        Self::new(status, code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use printers::adapter::Operation;

    fn describe(error: impl Into<ApiError>) -> String {
        let error = error.into();
        let ErrorParts { status, code, message, retry_after, .. } = *error.0;
        let wait = retry_after.map(|seconds| format!(" after {seconds} s")).unwrap_or_default();
        format!("{} {code}{wait}: {message}", status.as_u16())
    }

    fn printer_errors() -> Vec<PrinterError> {
        vec![
            PrinterError::Unreachable("no route".to_owned()),
            PrinterError::Lost("reset".to_owned()),
            PrinterError::Timeout,
            PrinterError::Stalled(std::time::Duration::from_secs(15)),
            PrinterError::Altered("3 of 5 bytes".to_owned()),
            PrinterError::Stranger { program: "Printer", address: "http://a/".to_owned(), port: 80 },
            PrinterError::WrongKey("bad key".to_owned()),
            PrinterError::FirmwareDisconnected("klippy".to_owned()),
            PrinterError::Refused { status: 400, message: "must home first".to_owned() },
            PrinterError::NotFound("a.gcode".to_owned()),
            PrinterError::InUse("a.gcode".to_owned()),
            PrinterError::Unsupported(Operation::Home),
            PrinterError::BadAnswer("no json".to_owned()),
            PrinterError::Invalid("no name".to_owned()),
        ]
    }

    #[test]
    fn every_no_has_its_status_and_word() {
        let refusals = [
            Refusal::field("name", "is required"),
            Refusal::not_found("order"),
            Refusal::forbidden("forbidden", "not yours"),
            Refusal::transition("the order cannot be shipped", "draft"),
            Refusal::new(Class::Stale, "stale_version", "the record has changed since you read it"),
            Refusal::new(Class::Unprocessable, "no", "no"),
        ];
        let asks = [
            AskError::KeyTaken,
            AskError::Overloaded,
            AskError::Parked,
            AskError::Unavailable(Unavailable::Database),
            AskError::Unavailable(Unavailable::DiskFull),
            AskError::Unavailable(Unavailable::ReadOnly),
            AskError::Poison,
            AskError::Unknown,
            AskError::Timeout,
            AskError::Closed,
        ];
        let all = refusals
            .into_iter()
            .map(describe)
            .chain(asks.into_iter().map(describe))
            .chain(printer_errors().into_iter().map(describe));
        insta::assert_snapshot!(all.collect::<Vec<_>>().join("\n"), @r"
        400 validation_failed: name: is required
        404 order_not_found: no such order
        403 forbidden: not yours
        409 invalid_transition: the order cannot be shipped while its status is draft
        412 stale_version: the record has changed since you read it
        422 no: no
        409 idempotency_key_in_use after 1 s: another request used the idempotency key at the same time
        503 overloaded after 1 s: too many commands are queued; try again shortly
        503 parked after 30 s: out of service after repeated faults
        503 unavailable after 2 s: the database does not respond
        503 disk_full after 2 s: the disk is full
        503 read_only after 2 s: the database is read-only
        500 internal: an internal error occurred
        503 unknown_outcome after 1 s: the outcome is unknown; check whether the change was made before you retry
        503 timeout after 2 s: the request timed out
        503 shutting_down after 5 s: the server is shutting down
        504 printer_timeout: the printer cannot be reached: no route
        504 printer_timeout: the connection to the printer was lost: reset
        504 printer_timeout: the printer did not respond in time
        504 printer_timeout: the printer accepted no upload data for 15 s
        502 printer_refused: the file stored by the printer differs from the one sent: 3 of 5 bytes
        502 printer_refused: the program at http://a/ is not Printer; check the port (usually 80) and the printer type
        502 printer_refused: the printer rejected the API key: bad key
        502 printer_refused: the printer's firmware is not connected: klippy
        502 printer_refused: the printer rejected the request: must home first
        404 printer_file_not_found: the printer has no such file: a.gcode
        409 printer_in_use: in use by a print: a.gcode
        409 unsupported_by_printer: this type of printer does not support homing
        502 printer_refused: the printer's response is not valid: no json
        400 validation_failed: no name
        ");
    }

    #[test]
    fn errors_stand_in_the_body_only_for_validation() {
        assert_eq!(
            ApiError::from(Refusal::field("lines.0.quantity", "must be at least 1")).body(),
            json!({
                "success": false,
                "message": "lines.0.quantity: must be at least 1",
                "code": "validation_failed",
                "errors": [{"path": "lines.0.quantity", "message": "must be at least 1"}],
            })
        );
        assert!(ApiError::unauthorized("no key").body().get("errors").is_none());
    }

    #[test]
    fn internals_are_never_sent() {
        let body = ApiError::internal("SELECT * FROM secrets in /var/lib").body().to_string();
        assert!(!body.contains("SELECT") && !body.contains("/var"));
    }
}
