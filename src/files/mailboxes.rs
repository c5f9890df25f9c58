//! Bounds on the requests that each mailbox has in hand at a time: many files of one sender do not take the places of
//! all others.
//!
//! Not for the number of requests in a span of time, which `http/limits.rs` bounds.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// Bounds of what customers have in hand.
#[derive(Clone, Copy, Debug)]
pub struct MailboxLimits {
    /// Of all mailboxes together.
    pub of_all: usize,
    /// Of each mailbox.
    pub of_one: usize,
}

/// Bound that was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MailboxesFull {
    /// That of all customers together.
    All,
    /// That of this sender.
    One,
}

/// Requests of customers in hand, by their mailboxes.
#[derive(Debug)]
pub struct MailboxPermits {
    limits: MailboxLimits,
    counts: Arc<Mutex<HashMap<String, usize>>>,
}

/// One thing that a mailbox has in hand, until this is dropped.
#[derive(Debug)]
pub struct MailboxPermit {
    counts: Arc<Mutex<HashMap<String, usize>>>,
    mailbox: String,
}

impl MailboxPermits {
    /// Creates the places, all of them free.
    pub fn new(limits: MailboxLimits) -> Self {
        Self { limits, counts: Arc::default() }
    }

    /// Takes a place for a mailbox.
    ///
    /// # Errors
    ///
    /// When all are taken.
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

    /// Returns whether no mailbox has anything in hand.
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
