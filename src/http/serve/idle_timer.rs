//! Timer that the HTTP library uses to close idle connections.
//!
//! The library makes a timer when it begins to wait for a request, and drops it when the request has arrived. With the
//! runtime's own timers, each of them takes the lock of all timers twice for every request. This one keeps a single
//! timer of the runtime for a connection: when it fires, it is set again for the remaining time.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use tokio::time;

/// Timer of a connection, for which only one sleep is used at a time.
#[derive(Clone, Default)]
pub struct IdleTimer(Arc<Mutex<Option<Pin<Box<time::Sleep>>>>>);

impl Timer for IdleTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(IdleSleep { timer: self.clone(), deadline })
    }
}

/// Wait until a point in time.
struct IdleSleep {
    timer: IdleTimer,
    deadline: Instant,
}

impl Sleep for IdleSleep {}

impl Future for IdleSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = time::Instant::from_std(self.deadline);
        let mut timer = self.timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sleep = timer.get_or_insert_with(|| Box::pin(time::sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        loop {
            ready!(sleep.as_mut().poll(cx));
            if sleep.deadline() >= deadline {
                return Poll::Ready(());
            }
            // It was set for an earlier wait.
            sleep.as_mut().reset(deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    const SHORT: Duration = Duration::from_millis(5);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_wait_lasts_until_its_own_deadline_and_not_that_of_an_earlier_one() {
        let timer = IdleTimer::default();
        assert!(timer.sleep(SHORT).now_or_never().is_none(), "a request arrives in time");
        let deadline = Instant::now() + 4 * SHORT;
        timer.sleep_until(deadline).await;
        assert!(Instant::now() >= deadline);
        assert!(timer.sleep(LONG).now_or_never().is_none(), "the next wait is another one");
    }

    #[tokio::test]
    async fn a_wait_may_be_shorter_than_an_earlier_one() {
        let timer = IdleTimer::default();
        assert!(timer.sleep(LONG).now_or_never().is_none());
        let begin = Instant::now();
        timer.sleep(SHORT).await;
        assert!(begin.elapsed() < LONG);
    }
}
