//! Supervises an integration's work: restarts it after a pause, however it ended, without affecting anything else.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{IntegrationWork, SystemLine};
use domain::schedule::Delays;

/// Pauses before the work is restarted.
const RESTART_PAUSES: Delays = Delays { first: Duration::from_millis(100), longest: Duration::from_secs(30) };
/// Running time after which the work is considered healthy, which resets the pauses to the shortest one.
const HEALTHY_AFTER: Duration = Duration::from_secs(60);

/// Runs the work until `leaving` is cancelled.
pub(super) async fn keep(line: Arc<SystemLine>, work: Arc<dyn IntegrationWork>, leaving: CancellationToken) {
    tokio::select! {
        biased; // the end of the server before further work
        () = leaving.cancelled() => {}
        () = again_and_again(&line, &*work) => {}
    }
}

async fn again_and_again(line: &SystemLine, work: &dyn IntegrationWork) {
    let mut ends = 0;
    loop {
        let began = Instant::now();
        if AssertUnwindSafe(work.run(line)).catch_unwind().await.is_err() {
            line.meter.crashes.one();
            tracing::error!(integration = line.name, "the integration panicked; restarting");
        }
        ends = if began.elapsed() >= HEALTHY_AFTER { 0 } else { ends + 1 };
        sleep(RESTART_PAUSES.next(ends, 1.0)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use async_trait::async_trait;
    use tokio::sync::Notify;

    use super::*;
    use config::Config;
    use domain::aggregate::LastNumbers;
    use kernel::environment::Environment;

    #[derive(Default)]
    struct Brittle {
        runs: AtomicU32,
        goes_on: Notify,
    }

    #[async_trait]
    impl IntegrationWork for Brittle {
        async fn run(&self, _: &SystemLine) {
            match self.runs.fetch_add(1, Relaxed) {
                0 => {}
                1 => panic!("on purpose"),
                _ => {
                    self.goes_on.notify_one();
                    std::future::pending::<()>().await;
                }
            }
        }
    }

    #[tokio::test]
    async fn work_that_ends_or_panics_is_started_again_until_the_end() {
        let config = Config::default();
        let environment = Arc::new(Environment::of_the_machine(config.rules(), LastNumbers::default()));
        let line = Arc::new(SystemLine::new("workflow", &config.integrations, environment));
        let (work, leaving) = (Arc::new(Brittle::default()), CancellationToken::new());
        let task = tokio::spawn(keep(line.clone(), work.clone(), leaving.clone()));
        work.goes_on.notified().await;
        assert_eq!((work.runs.load(Relaxed), line.meter.crashes.get()), (3, 1));
        leaving.cancel();
        assert!(task.await.is_ok());
    }
}
