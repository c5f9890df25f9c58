//! Request during which a log line is written, so that the line carries the request's ID.
//!
//! A span would be built, entered and dropped for every request, although hardly any of them logs a line. Instead, the
//! request is remembered for the thread while its work runs, and is looked up only when a line is written.

use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::mem::swap;
use std::pin::pin;
use std::sync::Arc;

use serde_json::json;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Request as shown in its log lines.
pub trait LoggedRequest: Send + Sync {
    /// Returns the ID of the request, which the client receives too.
    fn id(&self) -> &str;
    /// Returns the HTTP method.
    fn method(&self) -> &str;
    /// Returns the path, without the query.
    fn path(&self) -> &str;
}

type CurrentRequest = Option<Arc<dyn LoggedRequest>>;

thread_local! {
    /// Request whose work runs on the thread.
    static CURRENT: RefCell<CurrentRequest> = const { RefCell::new(None) };
}

/// Runs the work of a request; the log lines that it writes carry the request. Tasks that it spawns are not part of it.
pub async fn logging<F: Future>(request: Arc<dyn LoggedRequest>, work: F) -> F::Output {
    let (mut work, mut request) = (pin!(work), Some(request));
    poll_fn(|cx| {
        let _entered = EnteredRequest::new(&mut request);
        work.as_mut().poll(cx)
    })
    .await
}

/// Returns whether the work of a request runs on the thread.
pub(super) fn is_current() -> bool {
    CURRENT.try_with(|current| current.borrow().is_some()).unwrap_or(false)
}

fn current() -> CurrentRequest {
    CURRENT.try_with(|current| current.borrow().clone()).unwrap_or_default()
}

/// Exchange of the thread's request with the one in `request`, until this value is dropped.
struct EnteredRequest<'a> {
    request: &'a mut CurrentRequest,
}

impl<'a> EnteredRequest<'a> {
    fn new(request: &'a mut CurrentRequest) -> Self {
        exchange(request);
        Self { request }
    }
}

impl Drop for EnteredRequest<'_> {
    fn drop(&mut self) {
        exchange(self.request);
    }
}

/// Exchanges the thread's request with the given one. Does nothing while the thread ends.
fn exchange(request: &mut CurrentRequest) {
    let _ = CURRENT.try_with(|current| swap(&mut *current.borrow_mut(), request));
}

/// Format of log lines that adds the current request to the lines of another format.
pub(super) struct RequestFormat<F> {
    /// Format of lines without a request.
    pub lines: F,
    /// `true` if lines are JSON objects.
    pub is_json: bool,
}

impl<S, N, F> FormatEvent<S, N> for RequestFormat<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let Some(request) = current() else { return self.lines.format_event(context, writer, event) };
        let mut line = String::new();
        self.lines.format_event(context, Writer::new(&mut line), event)?;
        let (line, [id, method, path]) = (line.trim_end(), [request.id(), request.method(), request.path()]);
        if !self.is_json {
            // A path may contain control characters, which a terminal would follow.
            let path = path.escape_debug();
            return writeln!(writer, "{line} request{{id={id} method={method} path={path}}}");
        }
        let members = line.strip_suffix('}').unwrap_or(line);
        let span = json!({"id": id, "method": method, "path": path, "name": "request"});
        if context.lookup_current().is_some() {
            // The line has the members of a span already.
            return writeln!(writer, "{members},\"request\":{span}}}");
        }
        writeln!(writer, "{members},\"span\":{span},\"spans\":[{span}]}}")
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures::FutureExt as _;

    use super::*;

    struct Asked(&'static str);

    impl LoggedRequest for Asked {
        fn id(&self) -> &str {
            self.0
        }
        fn method(&self) -> &'static str {
            "GET"
        }
        fn path(&self) -> &'static str {
            "/"
        }
    }

    fn current_id() -> Option<String> {
        current().map(|request| request.id().to_owned())
    }

    #[test]
    fn a_request_is_current_only_while_its_work_runs() {
        let (outer, inner) = (Arc::new(Asked("outer")), Arc::new(Asked("inner")));
        let nested = async {
            let before = current_id();
            let within = logging(inner, async { current_id() }).await;
            [before, within, current_id()]
        };
        let ids = logging(outer.clone(), nested).now_or_never();
        let expected = ["outer", "inner", "outer"].map(|id| Some(id.to_owned()));
        assert_eq!(ids, Some(expected));
        assert!(!is_current(), "its work has ended");
        let mut waiting = Box::pin(logging(outer, futures::future::pending::<()>()));
        assert!(waiting.as_mut().now_or_never().is_none() && !is_current(), "its work waits");
    }

    #[test]
    fn a_panic_ends_the_work() {
        let broken = logging(Arc::new(Asked("broken")), async { assert!(!is_current(), "panics") });
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| broken.now_or_never()));
        assert!(ended.is_err() && !is_current());
        assert_eq!(logging(Arc::new(Asked("next")), ready(7)).now_or_never(), Some(7));
    }
}
