//! The server's log on standard error. Panics are also logged. A repeated error is logged only once a minute. Command
//! results go to standard output instead.

use std::any::Any;
use std::backtrace::Backtrace;
use std::io::{IsTerminal as _, stderr};
use std::panic;

use tracing::Subscriber;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

use super::repeats::RepeatFilter;
use super::request::RequestFormat;

/// Starts the log for a server: lines that pass the filter, as JSON or text. Further calls in the same process have no
/// effect.
pub fn start(filter: &str, json: bool) {
    install(EnvFilter::new(filter), json);
}

/// Starts the log for a short command: only warnings and errors, as text.
pub fn start_for_command() {
    install(EnvFilter::new("warn,sqlx=error,sea_orm=error"), false);
}

fn install(filter: EnvFilter, json: bool) {
    let lines = lines(stderr, json, stderr().is_terminal());
    let started = tracing_subscriber::registry().with(filter).with(RepeatFilter::default()).with(lines).try_init();
    if started.is_ok() {
        panic::set_hook(Box::new(|info| {
            let at = info.location().map(ToString::to_string).unwrap_or_default();
            // Empty unless RUST_BACKTRACE asks for a backtrace.
            let backtrace = Backtrace::capture();
            tracing::error!(%at, %backtrace, "panicked: {}", words(info.payload()));
        }));
    }
}

/// Builds the layer that writes lines, each with the request during which it is written.
fn lines<S, W>(writer: W, json: bool, ansi: bool) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // Whoever read standard error may have gone away: a line that cannot be written is lost, and nothing else.
    let layer = fmt::layer::<S>().with_writer(writer).log_internal_errors(false);
    if json {
        let layer = layer.json().flatten_event(true);
        layer.map_event_format(|lines| RequestFormat { lines, is_json: true }).boxed()
    } else {
        let layer = layer.with_ansi(ansi).with_target(false);
        layer.map_event_format(|lines| RequestFormat { lines: lines.with_ansi(ansi), is_json: false }).boxed()
    }
}

/// Returns a panic's message.
fn words(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use futures::FutureExt as _;
    use serde_json::{Value, json};

    use super::*;
    use crate::observe::request::{LoggedRequest, logging};

    #[test]
    fn a_panic_keeps_its_words() {
        assert_eq!(words(&"a"), "a");
        assert_eq!(words(&String::from("b")), "b");
        assert_eq!(words(&1), "(no message)");
    }

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Asked;

    impl LoggedRequest for Asked {
        fn id(&self) -> &'static str {
            "a\"1"
        }
        fn method(&self) -> &'static str {
            "POST"
        }
        fn path(&self) -> &'static str {
            "/api/orders"
        }
    }

    /// Returns the lines that some work logs.
    fn written_by(json: bool, work: impl FnOnce()) -> Vec<String> {
        let text = Lines::default();
        let writer = text.clone();
        let layer = lines(move || writer.clone(), json, false);
        let subscriber = tracing_subscriber::registry().with(RepeatFilter::default()).with(layer);
        tracing::subscriber::with_default(subscriber, work);
        let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the lines about one event before a request and two during it.
    fn written(json: bool) -> Vec<String> {
        written_by(json, || {
            tracing::info!("before");
            let work = async {
                tracing::error!(printer = 7, "a fault");
                tracing::error!(printer = 7, "a fault");
            };
            logging(Arc::new(Asked), work).now_or_never().unwrap();
        })
    }

    #[test]
    fn no_value_begins_a_line_of_its_own_in_json() {
        let forged = "vase\r\n{\"level\":\"ERROR\",\"message\":\"forged\"}";
        let text = written_by(true, || tracing::info!(file_name = forged, "stored {forged}"));
        assert_eq!(text.len(), 1, "{text:?}");
        let line: Value = serde_json::from_str(&text[0]).unwrap();
        assert_eq!(
            (&line["file_name"], &line["message"]),
            (&json!(forged), &json!(format!("stored {forged}"))),
            "{line}"
        );
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "in UTC: {line}");
    }

    #[test]
    fn lines_within_a_request_have_its_id() {
        let text = written(false);
        assert_eq!(text.len(), 3, "each fault of a request is written: {text:?}");
        assert!(text[0].ends_with("before"), "{text:?}");
        let end = "a fault printer=7 request{id=a\"1 method=POST path=/api/orders}";
        assert!(text[1].ends_with(end) && text[2].ends_with(end), "{text:?}");
    }

    #[test]
    fn json_lines_within_a_request_have_it_as_their_span() {
        let json: Vec<Value> = written(true).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(json.len(), 3);
        assert_eq!((&json[0]["message"], json[0].get("span")), (&json!("before"), None));
        let span = json!({"id": "a\"1", "method": "POST", "path": "/api/orders", "name": "request"});
        for line in &json[1..] {
            assert_eq!((&line["message"], &line["printer"]), (&json!("a fault"), &json!(7)), "{line}");
            assert_eq!((&line["span"], &line["spans"]), (&span, &json!([span])), "{line}");
        }
    }
}
