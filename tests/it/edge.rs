//! The edge: how often callers may ask, how much the server takes at a time, what it does with clients that stumble,
//! with Redis, and behind reverse proxies.

mod answers;
mod attacks;
mod bodies;
mod chaos;
mod front;
mod hostile;
mod hostile_answers;
mod limits;
mod load;
mod persistent;
mod proxies;
mod sharing;
mod swollen;

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::FutureExt as _;
use serde_json::json;

use crate::support::client::Answer;
use crate::support::{App, Db};

/// The longest that an emergency stop and a health check may take each beside any attack, on a machine that is busy
/// with tests.
const MAX_STOP: Duration = Duration::from_secs(5);

/// Settings of a server under test, for what this file is about: `SECTION__KEY` and value.
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

/// Returns the values of the two headers: the limit and what is left of it.
#[track_caller]
pub fn read_limits(answer: &Answer) -> (u32, u32) {
    let number = |name: &str| {
        let text = answer.header(name).unwrap_or_else(|| panic!("no {name}: {} {}", answer.status, answer.text));
        text.parse().unwrap_or_else(|_| panic!("{name}: {text}"))
    };
    (number("x-ratelimit-limit"), number("x-ratelimit-remaining"))
}

/// Returns the number of the current window of so many minutes. Windows follow the clock.
#[expect(clippy::disallowed_methods, reason = "windows follow the machine's clock")]
fn window(minutes: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 60 / minutes
}

/// Runs `act` until it ran within one window, whose number it is given: what it counts is then exact. It may fail where
/// the window ended meanwhile.
pub async fn in_one_window<T, F: Future<Output = T>>(minutes: u64, mut act: impl FnMut(u64) -> F) -> T {
    loop {
        let began = window(minutes);
        let result = AssertUnwindSafe(act(began)).catch_unwind().await;
        if window(minutes) == began {
            return result.unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}
