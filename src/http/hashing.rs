//! Password hashing on threads separate from those that serve requests. Only a few hashes run at a time, because each
//! occupies a core for tens of milliseconds and takes up 19 MiB.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::error::ApiError;

/// Maximum number of passwords waiting to be hashed; further requests are rejected immediately with 503.
const MAX_WAITING: usize = 64;

/// Limits on the number of concurrent and waiting password hashes.
#[derive(Clone, Debug)]
pub struct Hashing {
    turns: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

impl Default for Hashing {
    /// Allows half as many concurrent hashes as the machine has cores, but at least one.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new((cores / 2).max(1), MAX_WAITING)
    }
}

impl Hashing {
    fn new(turns: usize, waiting: usize) -> Self {
        Self { turns: Arc::new(Semaphore::new(turns)), places: Arc::new(Semaphore::new(turns + waiting)) }
    }

    /// Runs the work once a slot is free. The slot is released when the work ends, even if the caller has disconnected.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let full = |_| ApiError::unavailable("overloaded", "too many concurrent sign-ins", 1);
        let place = self.places.clone().try_acquire_owned().map_err(full)?;
        let turn = self.turns.clone().acquire_owned().await.map_err(ApiError::internal)?;
        let held = move || {
            let _held = (place, turn);
            work()
        };
        tokio::task::spawn_blocking(held).await.map_err(ApiError::internal)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn few_work_at_a_time_some_wait_the_rest_is_refused() {
        let hashing = Hashing::new(2, 3);
        let now = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let mut releases = Vec::new();
        let mut running = Vec::new();
        for _ in 0..5 {
            let (release, released) = mpsc::channel::<()>();
            let (hashing, now, most) = (hashing.clone(), now.clone(), most.clone());
            releases.push(release);
            running.push(tokio::spawn(async move {
                let work = move || {
                    most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                    let _ = released.recv();
                    now.fetch_sub(1, SeqCst);
                };
                hashing.run(work).await
            }));
        }
        while hashing.places.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(hashing.run(|| ()).await.unwrap_err().status(), 503);
        drop(releases);
        for one in running {
            one.await.unwrap().unwrap();
        }
        assert!(most.load(SeqCst) <= 2);
        hashing.run(|| ()).await.unwrap();
    }
}
