//! The server's log on standard error. Panics are also logged. A repeated error is logged only once a minute. Command
//! results go to standard output instead.

use std::any::Any;
use std::backtrace::Backtrace;
use std::io::{IsTerminal as _, stderr};
use std::panic;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use super::repeats::RepeatFilter;

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
    // Whoever read standard error may have gone away: a line that cannot be written is lost, and nothing else.
    let lines = tracing_subscriber::fmt::layer().with_writer(stderr).log_internal_errors(false);
    let lines = if json {
        lines.json().flatten_event(true).boxed()
    } else {
        lines.with_ansi(stderr().is_terminal()).with_target(false).boxed()
    };
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

/// Returns a panic's message.
fn words(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_keeps_its_words() {
        assert_eq!(words(&"a"), "a");
        assert_eq!(words(&String::from("b")), "b");
        assert_eq!(words(&1), "(no message)");
    }
}
