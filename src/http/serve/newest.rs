//! A bounded number of tasks of which the newest go on: when there are too many, the oldest is ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::AbortHandle;

/// The tasks that run.
pub struct Newest {
    most: usize,
    running: Mutex<RunningConnection>,
}

#[derive(Default)]
struct RunningConnection {
    /// Counts the tasks that were started.
    last: u64,
    /// What ends each of those that run; `None` for one that is about to start.
    tasks: BTreeMap<u64, Option<AbortHandle>>,
}

/// Takes a task out when it is over, however it ends.
struct RunningTask {
    of: Arc<Newest>,
    number: u64,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.of.locked(|running| running.tasks.remove(&self.number));
    }
}

impl Newest {
    /// Runs at most `most` tasks at a time.
    pub fn new(most: usize) -> Self {
        Self { most, running: Mutex::default() }
    }

    fn locked<T>(&self, change: impl FnOnce(&mut RunningConnection) -> T) -> T {
        change(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts a task; ends the oldest when there are too many.
    pub fn run(self: &Arc<Self>, task: impl Future<Output = ()> + Send + 'static) {
        let (number, oldest) = self.locked(|running| {
            running.last += 1;
            running.tasks.insert(running.last, None);
            let oldest = if running.tasks.len() > self.most { running.tasks.pop_first() } else { None };
            (running.last, oldest)
        });
        if let Some((_, Some(oldest))) = oldest {
            oldest.abort();
        }
        let place = RunningTask { of: self.clone(), number };
        let started = tokio::spawn(async move {
            task.await;
            drop(place);
        });
        // It may be over already: then its place is gone.
        self.locked(|running| {
            if let Some(held) = running.tasks.get_mut(&number) {
                *held = Some(started.abort_handle());
            }
        });
    }

    /// Whether no task is running.
    pub fn is_empty(&self) -> bool {
        self.locked(|running| running.tasks.is_empty())
    }

    /// Ends all of them.
    pub fn end(&self) {
        let all = self.locked(|running| std::mem::take(&mut running.tasks));
        all.into_values().flatten().for_each(|task| task.abort());
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use tokio::sync::{mpsc, oneshot};

    use super::*;

    #[tokio::test]
    async fn the_oldest_is_ended_when_there_are_too_many_and_the_others_go_on() {
        let newest = Arc::new(Newest::new(2));
        let (done, mut finished) = mpsc::unbounded_channel();
        let mut releases = Vec::new();
        for number in 0..3 {
            let (release, released) = oneshot::channel::<()>();
            let done = done.clone();
            releases.push(release);
            newest.run(async move {
                released.await.unwrap();
                done.send(number).unwrap();
            });
        }
        // The receiver of the first is dropped with its task.
        releases[0].closed().await;
        releases.into_iter().skip(1).for_each(|release| release.send(()).unwrap());
        assert_eq!((finished.recv().await, finished.recv().await), (Some(1), Some(2)));
        while !newest.is_empty() {
            tokio::task::yield_now().await;
        }
    }
}
