//! `X-Request-Id`: accepted or generated, returned in the response, and part of every log line of the request.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::Response;

use kernel::environment::Environment;
use platform::observe::request::{LoggedRequest, logging};

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum accepted length of a client's request ID, in bytes.
const MAX_ID_BYTES: usize = 128;
/// Number of characters of a generated ID.
const ID_CHARS: usize = 36;

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
    line: Arc<RequestLine>,
    /// Header of the response.
    header: Option<HeaderValue>,
}

impl NamedRequest {
    /// Assigns an ID to the request: its own, or a new one.
    pub fn of(environment: &Environment, request: &mut Request) -> Self {
        let (id, header): (Arc<str>, _) = if let Some((id, header)) = from_client(request.headers()) {
            (id.into(), Some(header.clone()))
        } else {
            let mut buffer = [0; ID_CHARS];
            let id = &*environment.id().0.hyphenated().encode_lower(&mut buffer);
            (id.into(), HeaderValue::from_str(id).ok())
        };
        request.extensions_mut().insert(RequestId(id.clone()));
        let line = Arc::new(RequestLine { id, method: request.method().clone(), uri: request.uri().clone() });
        Self { line, header }
    }

    /// Adds the ID to the response, and to the log lines of the work that leads to it.
    pub async fn respond(self, work: impl Future<Output = Response>) -> Response {
        let work = async {
            let response = work.await;
            tracing::debug!(status = response.status().as_u16(), "answered");
            response
        };
        let mut response = logging(self.line, work).await;
        if let Some(header) = self.header {
            response.headers_mut().insert(HEADER, header);
        }
        response
    }
}

/// Request as shown in its log lines.
struct RequestLine {
    id: Arc<str>,
    method: Method,
    uri: Uri,
}

impl LoggedRequest for RequestLine {
    fn id(&self) -> &str {
        &self.id
    }
    fn method(&self) -> &str {
        self.method.as_str()
    }
    fn path(&self) -> &str {
        self.uri.path()
    }
}

/// Returns the ID sent by the client, if it is suitable for a log line, and its header.
fn from_client(headers: &HeaderMap) -> Option<(&str, &HeaderValue)> {
    let header = headers.get(HEADER)?;
    let text = header.to_str().ok()?;
    let fit = !text.is_empty() && text.len() <= MAX_ID_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    fit.then_some((text, header))
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
            from_client(&headers).map(|(id, _)| id.to_owned())
        };
        assert_eq!(with("abc-1"), Some("abc-1".to_owned()));
        assert_eq!(with(""), None);
        assert_eq!(with("two words"), None);
        assert_eq!(with(&"x".repeat(129)), None);
        assert_eq!(from_client(&HeaderMap::new()), None);
    }
}
