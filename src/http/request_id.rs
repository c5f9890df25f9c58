//! `X-Request-Id`: accepted or generated, returned in the response, and part of every log line of the request.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::{Instrument as _, Span};

use kernel::environment::Environment;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum accepted length of a client's request ID, in bytes.
const MAX_ID_BYTES: usize = 128;

/// ID of a request, carried in its extensions.
#[derive(Clone, Debug)]
pub struct RequestId(pub Arc<str>);

/// Assigns an ID to the request.
pub async fn name(State(environment): State<Arc<Environment>>, mut request: Request, next: Next) -> Response {
    let named = NamedRequest::of(&environment, &mut request);
    named.respond(next.run(request)).await
}

/// Request with an ID.
pub struct NamedRequest {
    span: Span,
    /// Header of the response.
    header: Option<HeaderValue>,
}

impl NamedRequest {
    /// Assigns an ID to the request: its own, or a new one.
    pub fn of(environment: &Environment, request: &mut Request) -> Self {
        let id = from_client(request.headers()).unwrap_or_else(|| environment.id().to_string());
        let span = tracing::info_span!("request", id = %id, method = %request.method(), path = %request.uri().path());
        request.extensions_mut().insert(RequestId(id.as_str().into()));
        Self { span, header: HeaderValue::from_str(&id).ok() }
    }

    /// Adds the ID to the response, and to the log lines of the work that leads to it.
    pub async fn respond(self, work: impl Future<Output = Response>) -> Response {
        let mut response = work.instrument(self.span.clone()).await;
        self.span.in_scope(|| tracing::debug!(status = response.status().as_u16(), "answered"));
        if let Some(header) = self.header {
            response.headers_mut().insert(HEADER, header);
        }
        response
    }
}

/// Returns the ID sent by the client, if it is suitable for a log line.
fn from_client(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(HEADER)?.to_str().ok()?;
    let fit = !text.is_empty() && text.len() <= MAX_ID_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    fit.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn an_id_unfit_for_a_log_line_is_not_taken() {
        let with = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_str(text).unwrap());
            from_client(&headers)
        };
        assert_eq!(with("abc-1"), Some("abc-1".to_owned()));
        assert_eq!(with(""), None);
        assert_eq!(with("two words"), None);
        assert_eq!(with(&"x".repeat(129)), None);
        assert_eq!(from_client(&HeaderMap::new()), None);
    }
}
