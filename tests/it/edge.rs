//! The edge: rate limits, the amount of data that the server accepts at a time, misbehaving clients, Redis, and reverse
//! proxies.

mod answers;
mod attacks;
mod bodies;
mod chaos;
mod front;
mod hostile;
mod hostile_answers;
mod leakage;
mod limits;
mod load;
mod outgoing_tls;
mod persistent;
mod policies;
mod proxies;
mod safe_methods;
mod sharing;
mod swollen;

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::FutureExt as _;
use serde_json::json;

use crate::support::client::Answer;
use crate::support::{App, Db};

/// Maximum duration of an emergency stop, and of a health check, during any attack, on a machine that is busy with
/// tests.
const MAX_STOP: Duration = Duration::from_secs(5);

/// Starts a server with these settings, as pairs of `SECTION__KEY` and value.
pub async fn app(settings: &[(&str, &str)]) -> App {
    let app = App::on(Db::sqlite());
    let app = settings.iter().fold(app, |app, (name, value)| app.env(&format!("PRINTFLOOR_{name}"), value));
    app.start().await
}

/// Stops a printer and asks for health; each is answered in time.
async fn stops_in_time(app: &App, printer: &str) {
    let began = Instant::now();
    app.post(&format!("/api/printers/{printer}/emergency-stop"), &json!({})).await.expect(200);
    let stopped = began.elapsed();
    let began = Instant::now();
    app.get("/healthz").await.expect(200);
    let healthy = began.elapsed();
    assert!(stopped < MAX_STOP && healthy < MAX_STOP, "the stop took {stopped:?}, the health check {healthy:?}");
}

/// Returns the values of the rate limit headers: the limit and the remaining requests.
#[track_caller]
pub fn read_limits(answer: &Answer) -> (u32, u32) {
    let number = |name: &str| {
        let text = answer.header(name).unwrap_or_else(|| panic!("no {name}: {} {}", answer.status, answer.text));
        text.parse().unwrap_or_else(|_| panic!("{name}: {text}"))
    };
    (number("x-ratelimit-limit"), number("x-ratelimit-remaining"))
}

/// Returns the number of the current window of this many minutes. Windows follow the clock.
#[expect(clippy::disallowed_methods, reason = "windows follow the machine's clock")]
fn window(minutes: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 60 / minutes
}

/// Runs `act` until one run fits into a single window, so that its counts are exact; `act` receives the window's
/// number. A run that spans two windows may fail.
pub async fn in_one_window<T, F: Future<Output = T>>(minutes: u64, mut act: impl FnMut(u64) -> F) -> T {
    loop {
        let began = window(minutes);
        let result = AssertUnwindSafe(act(began)).catch_unwind().await;
        if window(minutes) == began {
            return result.unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}
