//! Slots for a bounded number of connections that the acceptor handles, each in its own task. A new connection always
//! receives a slot: if there are too many connections, the oldest one whose request has not been admitted yet is
//! closed, preferably one from the same client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::AbortHandle;

use crate::admission::AcceptSlot;

/// Maximum number of additional connections whose requests have been admitted; such requests are completed even if
/// further connections arrive.
const MAX_KEPT: usize = 256;

/// Connections in progress.
pub struct RunningConnectionSlots {
    most: usize,
    most_of_address: usize,
    running: Mutex<RunningConnections>,
}

#[derive(Default)]
struct RunningConnections {
    /// Number of tasks started so far.
    last: u64,
    tasks: BTreeMap<u64, RunningConnection>,
}

struct RunningConnection {
    /// Address whose connection limit applies; `None` if many clients share it.
    scope: Option<u128>,
    place: AcceptSlot,
    /// Handle for aborting the task; `None` if the task is about to start.
    abort: Option<AbortHandle>,
}

/// Guard that removes a task when it ends, for whatever reason.
struct RunningTask {
    of: Arc<RunningConnectionSlots>,
    number: u64,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.of.locked(|running| running.tasks.remove(&self.number));
    }
}

impl RunningConnectionSlots {
    /// Creates the given number of slots, of which connections from one address can take up at most `most_of_address`.
    pub fn new(most: usize, most_of_address: usize) -> Self {
        Self { most, most_of_address, running: Mutex::default() }
    }

    fn locked<T>(&self, change: impl FnOnce(&mut RunningConnections) -> T) -> T {
        change(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts a task for a connection from the given address, and aborts an existing task if there are too many.
    pub fn run<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        scope: Option<u128>,
        task: impl FnOnce(AcceptSlot) -> F,
    ) {
        let place = AcceptSlot::default();
        let (number, surplus) = self.locked(|running| {
            running.last += 1;
            let number = running.last;
            running.tasks.insert(number, RunningConnection { scope, place: place.clone(), abort: None });
            let surplus = running.surplus(scope, self.most, self.most_of_address);
            (number, surplus.and_then(|surplus| Some((surplus, running.tasks.remove(&surplus)?))))
        });
        match surplus {
            // All others are answered first.
            Some((surplus, _)) if surplus == number => return,
            Some((_, RunningConnection { abort: Some(abort), .. })) => abort.abort(),
            _ => {}
        }
        let (running, task) = (RunningTask { of: self.clone(), number }, task(place));
        let started = tokio::spawn(async move {
            task.await;
            drop(running);
        });
        // It may be over already: then its place is gone.
        self.locked(|running| {
            if let Some(task) = running.tasks.get_mut(&number) {
                task.abort = Some(started.abort_handle());
            }
        });
    }

    /// Returns whether no task is running.
    pub fn is_empty(&self) -> bool {
        self.locked(|running| running.tasks.is_empty())
    }

    /// Aborts all tasks.
    pub fn end(&self) {
        let all = self.locked(|running| std::mem::take(&mut running.tasks));
        all.into_values().filter_map(|task| task.abort).for_each(|task| task.abort());
    }
}

impl RunningConnections {
    /// Returns the task to abort because of a new connection from the given address, if any.
    fn surplus(&self, scope: Option<u128>, most: usize, most_of_address: usize) -> Option<u64> {
        let mut waiting = self.tasks.iter().filter(|(_, task)| !task.place.is_kept());
        let mut of_address = waiting.clone().filter(|(_, task)| scope.is_some() && task.scope == scope);
        let surplus = if of_address.clone().count() > most_of_address {
            of_address.next()
        } else if waiting.clone().count() > most || self.tasks.len() > most + MAX_KEPT {
            waiting.next()
        } else {
            None
        };
        surplus.map(|(number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use tokio::sync::oneshot;

    use super::*;

    /// Starts a waiting task; its sender is closed when the task is ended.
    fn start(places: &Arc<RunningConnectionSlots>, scope: Option<u128>, is_kept: bool) -> oneshot::Sender<()> {
        let (release, released) = oneshot::channel();
        places.run(scope, |place| async move {
            if is_kept {
                place.keep();
            }
            let _ = released.await;
        });
        release
    }

    async fn settled() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn the_oldest_is_ended_when_there_are_too_many_and_the_others_go_on() {
        let places = Arc::new(RunningConnectionSlots::new(2, 2));
        let mut all: Vec<_> = (0..3).map(|_| start(&places, None, false)).collect();
        all[0].closed().await;
        assert!(all[1..].iter().all(|one| !one.is_closed()));
        all.drain(1..).for_each(|one| one.send(()).unwrap());
        while !places.is_empty() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn who_was_admitted_is_never_ended() {
        let places = Arc::new(RunningConnectionSlots::new(2, 2));
        let admitted = start(&places, Some(1), true);
        settled().await;
        let storm: Vec<_> = (0..100).map(|n| start(&places, Some(1 + n % 3), false)).collect();
        settled().await;
        assert!(!admitted.is_closed());
        assert_eq!(storm.iter().filter(|one| !one.is_closed()).count(), 2);
        // Where all that can be kept are, nobody is ended for a newcomer.
        let mut admissions = Vec::new();
        for scope in 0..=MAX_KEPT as u128 {
            admissions.push(start(&places, Some(scope), true));
            settled().await;
        }
        let last = start(&places, None, false);
        settled().await;
        assert!(last.is_closed() && !admitted.is_closed() && admissions.iter().all(|one| !one.is_closed()));
    }

    #[tokio::test]
    async fn a_storm_of_one_address_ends_its_own_connections_alone() {
        let places = Arc::new(RunningConnectionSlots::new(8, 2));
        let others: Vec<_> = [Some(1), Some(2), None].into_iter().map(|scope| start(&places, scope, false)).collect();
        let storm: Vec<_> = (0..100).map(|_| start(&places, Some(3), false)).collect();
        settled().await;
        assert!(others.iter().all(|one| !one.is_closed()));
        let left: Vec<_> = storm.iter().map(|one| !one.is_closed()).collect();
        assert!(left[..98].iter().all(|left| !left) && left[98] && left[99]);
    }
}
