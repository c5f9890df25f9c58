//! Limits on concurrent requests per mailbox, so that one sender with many files does not use up everyone else's
//! capacity.
//!
//! The request rate is limited elsewhere, in `http/limits.rs`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// Limits on customers' concurrent requests.
#[derive(Clone, Copy, Debug)]
pub struct MailboxLimits {
    /// Limit for all mailboxes combined.
    pub of_all: usize,
    /// Limit for each mailbox.
    pub of_one: usize,
}

/// Limit reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MailboxesFull {
    /// Limit for all customers combined.
    All,
    /// Limit for the sender's mailbox.
    One,
}

/// Permits for customers' concurrent requests, counted per mailbox.
#[derive(Debug)]
pub struct MailboxPermits {
    limits: MailboxLimits,
    counts: Arc<Mutex<HashMap<String, usize>>>,
}

/// Permit for one request from a mailbox, returned when dropped.
#[derive(Debug)]
pub struct MailboxPermit {
    counts: Arc<Mutex<HashMap<String, usize>>>,
    mailbox: String,
}

impl MailboxPermits {
    /// Creates the permits, all of which are available.
    pub fn new(limits: MailboxLimits) -> Self {
        Self { limits, counts: Arc::default() }
    }

    /// Acquires a permit for a mailbox.
    ///
    /// # Errors
    ///
    /// Returns an error if no more permits are available.
    pub fn enter(&self, mailbox: &str) -> Result<MailboxPermit, MailboxesFull> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.values().sum::<usize>() >= self.limits.of_all {
            return Err(MailboxesFull::All);
        }
        let count = counts.entry(mailbox.to_owned()).or_default();
        if *count >= self.limits.of_one {
            return Err(MailboxesFull::One);
        }
        *count += 1;
        Ok(MailboxPermit { counts: self.counts.clone(), mailbox: mailbox.to_owned() })
    }

    /// Returns whether no permit is in use.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Drop for MailboxPermit {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut count) = counts.entry(std::mem::take(&mut self.mailbox)) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}
