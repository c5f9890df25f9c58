//! Channel for the last of several values, whose waiters wake in the order in which they began to wait.
//!
//! It has the names and the meaning of `tokio::sync::watch`, which spreads its waiters over several queues and draws
//! the queue of each by chance. Where several tasks wait for one value, that chance decides which of them acts first,
//! so a simulation could not be repeated. Here they wake in order of arrival.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::Notify;

/// Error of a receiver whose senders are all gone: the value will not change again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the channel is closed")]
pub struct WatchClosed;

/// Side of the channel that sets the value. The channel is closed when its last sender is dropped.
pub struct WatchSender<T>(Arc<WatchChannel<T>>);

/// Side of the channel that waits for changes. It remembers the last version of the value that it has seen.
pub struct WatchReceiver<T> {
    channel: Arc<WatchChannel<T>>,
    version: u64,
}

/// Borrowed value. Senders wait until it is dropped, so it must not be held while waiting for anything.
pub struct WatchedValue<'a, T>(RwLockReadGuard<'a, WatchState<T>>);

struct WatchChannel<T> {
    state: RwLock<WatchState<T>>,
    senders: AtomicUsize,
    /// Wakes all waiters, in the order in which they began to wait.
    changes: Notify,
}

struct WatchState<T> {
    value: T,
    /// Number of changes so far.
    version: u64,
    is_closed: bool,
}

impl<T> WatchChannel<T> {
    fn read(&self) -> RwLockReadGuard<'_, WatchState<T>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, WatchState<T>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> WatchSender<T> {
    /// Creates a channel that contains a value, and has no receivers yet.
    pub fn new(value: T) -> Self {
        let state = RwLock::new(WatchState { value, version: 0, is_closed: false });
        Self(Arc::new(WatchChannel { state, senders: AtomicUsize::new(1), changes: Notify::new() }))
    }

    /// Creates a receiver, which has seen the present value.
    pub fn subscribe(&self) -> WatchReceiver<T> {
        let version = self.0.read().version;
        WatchReceiver { channel: self.0.clone(), version }
    }

    /// Returns the present value.
    pub fn borrow(&self) -> WatchedValue<'_, T> {
        WatchedValue(self.0.read())
    }

    /// Sets the value, and returns the one before it. Wakes all waiters.
    pub fn send_replace(&self, value: T) -> T {
        let mut other = value;
        self.send_modify(|current| std::mem::swap(current, &mut other));
        other
    }

    /// Changes the value in place. Wakes all waiters.
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value in place, and wakes all waiters if `modify` returns `true`. Returns what it returned.
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        let mut state = self.0.write();
        if !modify(&mut state.value) {
            return false;
        }
        state.version += 1;
        drop(state);
        self.0.changes.notify_waiters();
        true
    }
}

impl<T> WatchReceiver<T> {
    /// Returns the present value, without marking it as seen.
    pub fn borrow(&self) -> WatchedValue<'_, T> {
        WatchedValue(self.channel.read())
    }

    /// Returns the present value, and marks it as seen.
    pub fn borrow_and_update(&mut self) -> WatchedValue<'_, T> {
        let state = self.channel.read();
        self.version = state.version;
        WatchedValue(state)
    }

    /// Returns whether there is a value that this receiver has not seen.
    ///
    /// # Errors
    ///
    /// Fails if the channel is closed.
    pub fn has_changed(&self) -> Result<bool, WatchClosed> {
        let state = self.channel.read();
        if state.is_closed { Err(WatchClosed) } else { Ok(state.version != self.version) }
    }

    /// Marks the present value as not seen, so that the next wait for a change ends at once.
    pub fn mark_changed(&mut self) {
        self.version = self.channel.read().version.wrapping_sub(1);
    }

    /// Marks the present value as seen.
    pub fn mark_unchanged(&mut self) {
        self.version = self.channel.read().version;
    }

    /// Waits until there is a value that this receiver has not seen, and marks it as seen. Dropping the future loses no
    /// change.
    ///
    /// # Errors
    ///
    /// Fails if the channel is closed and its last value was seen.
    pub async fn changed(&mut self) -> Result<(), WatchClosed> {
        loop {
            // Hears of every change from its creation on, so none is missed between the look and the wait.
            let change = self.channel.changes.notified();
            {
                let state = self.channel.read();
                if state.version != self.version {
                    self.version = state.version;
                    return Ok(());
                }
                if state.is_closed {
                    return Err(WatchClosed);
                }
            }
            change.await;
        }
    }

    /// Waits until the value meets a condition, and marks it as seen. Ends at once if the present one does.
    ///
    /// # Errors
    ///
    /// Fails if the channel is closed and its last value does not meet the condition.
    pub async fn wait_for(&mut self, mut is_met: impl FnMut(&T) -> bool) -> Result<WatchedValue<'_, T>, WatchClosed> {
        loop {
            let change = self.channel.changes.notified();
            {
                let state = self.channel.read();
                self.version = state.version;
                if is_met(&state.value) {
                    return Ok(WatchedValue(state));
                }
                if state.is_closed {
                    return Err(WatchClosed);
                }
            }
            change.await;
        }
    }
}

impl<T> Clone for WatchSender<T> {
    fn clone(&self) -> Self {
        self.0.senders.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone())
    }
}

impl<T: Default> Default for WatchSender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Clone for WatchReceiver<T> {
    /// Creates a receiver that has seen the same version of the value.
    fn clone(&self) -> Self {
        Self { channel: self.channel.clone(), version: self.version }
    }
}

impl<T> Drop for WatchSender<T> {
    fn drop(&mut self) {
        if self.0.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.write().is_closed = true;
            self.0.changes.notify_waiters();
        }
    }
}

impl<T> Deref for WatchedValue<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: fmt::Debug> fmt::Debug for WatchSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WatchSender").field(&*self.borrow()).finish()
    }
}

impl<T: fmt::Debug> fmt::Debug for WatchReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WatchReceiver").field(&*self.borrow()).finish()
    }
}

#[cfg(test)]
mod tests;
