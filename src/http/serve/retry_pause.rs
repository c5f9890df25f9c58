//! Delay before the next request on a connection whose last request was rejected because of load.
//!
//! A client that honours `Retry-After` does not notice the delay. A client that retries its request immediately would
//! keep the server busy with rejections; instead, its request is delayed until `Retry-After` has elapsed, which costs
//! nothing, and may then be admitted.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::RETRY_AFTER;
use axum::response::Response;
use tokio::time::{Instant, sleep_until};

use crate::admission::RefusedForLoad;

/// Maximum delay, no matter how long `Retry-After` is.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Delay for requests on a connection.
pub struct RetryPause {
    /// `true` if the connection may carry requests from many clients.
    is_shared: bool,
    until: Mutex<Option<Instant>>,
}

impl RetryPause {
    /// Creates the state for a new connection, without a delay. `is_shared` means that the connection may carry
    /// requests from many clients; in that case, one client's limit must not hold up the others.
    pub const fn new(is_shared: bool) -> Self {
        Self { is_shared, until: Mutex::new(None) }
    }

    /// Records the delay that a response requires of its client.
    pub fn note(&self, answer: &Response) {
        let until = self.after(answer).map(|pause| Instant::now() + pause);
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// Returns the delay that a response requires; `None` unless the response rejects a request because of load.
    fn after(&self, answer: &Response) -> Option<Duration> {
        match answer.extensions().get::<RefusedForLoad>()? {
            RefusedForLoad::Client if self.is_shared => None,
            RefusedForLoad::Client | RefusedForLoad::Server => {
                let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
                Some(seconds.map_or(MAX_PAUSE, Duration::from_secs).min(MAX_PAUSE))
            }
        }
    }

    /// Waits until the delay is over, if there is one.
    pub async fn wait(&self) {
        let until = self.until.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(until) = until {
            sleep_until(until).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use futures::FutureExt as _;

    use super::*;
    use crate::limits::layer::overloaded;

    fn limited(seconds: u32) -> Response {
        let mut response = [(RETRY_AFTER, seconds.to_string())].into_response();
        response.extensions_mut().insert(RefusedForLoad::Client);
        response
    }

    #[test]
    fn who_repeats_at_once_waits_for_the_time_that_it_was_told_and_no_longer_than_a_second() {
        let (own, shared) = (RetryPause::new(false), RetryPause::new(true));
        let second = Some(Duration::from_secs(1));
        assert_eq!(own.after(&"served".into_response()), None);
        assert_eq!(own.after(&overloaded()), second);
        assert_eq!(shared.after(&overloaded()), second);
        assert_eq!(own.after(&limited(60)), second);
        assert_eq!(own.after(&limited(0)), Some(Duration::ZERO));
        assert_eq!(shared.after(&limited(60)), None, "others share the connection");
    }

    #[tokio::test]
    async fn a_request_waits_once_and_not_after_one_that_was_served() {
        let pause = RetryPause::new(false);
        pause.note(&overloaded());
        assert!(pause.wait().now_or_never().is_none(), "it waits");
        assert!(pause.wait().now_or_never().is_some(), "once");
        pause.note(&overloaded());
        pause.note(&"served".into_response());
        assert!(pause.wait().now_or_never().is_some());
    }
}
