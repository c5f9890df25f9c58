//! Handle to the writer, which survives crashes of the writer.

use std::sync::Arc;

use arc_swap::ArcSwap;
use ractor::ActorRef;

use crate::ordered_work::{OrderedWork, QueueEntry};
use crate::port::CommitLog;
use crate::writer::StoreMsg;
use crate::{AggregateKey, CommitOwner, Submission};

/// Handle that sends messages to the current writer. After a crash, the restarted writer is installed with
/// [`Self::replace`].
///
/// A message to a crashed writer is dropped, and dropping it produces a response: `NotDurable` for a [`CommitOwner`],
/// and `Unavailable` for a load.
#[derive(Clone)]
pub struct WriterHandle(Arc<ArcSwap<ActorRef<StoreMsg>>>);

impl WriterHandle {
    /// Creates a handle to the given writer.
    pub fn new(writer: ActorRef<StoreMsg>) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(writer)))
    }

    /// Redirects the handle to the given writer, which replaces one that crashed.
    pub fn replace(&self, writer: ActorRef<StoreMsg>) {
        self.0.store(Arc::new(writer));
    }

    /// Makes the writer panic, to test crashes.
    #[cfg(any(test, debug_assertions))]
    pub fn crash(&self) {
        let _ = self.0.load().cast(StoreMsg::Crash);
    }
}

impl CommitLog for WriterHandle {
    fn commit(&self, submission: Box<Submission>, owner: CommitOwner) {
        let _ = self.0.load().cast(StoreMsg::Enqueue(QueueEntry::Commit(submission, owner)));
    }

    fn run_in_order(&self, work: OrderedWork) {
        let _ = self.0.load().cast(StoreMsg::Enqueue(QueueEntry::Work(work)));
    }

    fn forget(&self, key: AggregateKey) {
        let _ = self.0.load().cast(StoreMsg::Forget(key));
    }
}
