//! Disk of the world: the data that is durable, whichever server runs on it.
//!
//! A server works on a store in memory. When it crashes, the disk keeps exactly the tables that this store had
//! committed; what was queued, or decided and not submitted, is gone with the server.

use std::sync::{Arc, Mutex, PoisonError};

use crate::story::Story;
use domain::event::Event;
use store::memory::{MemoryStore, Tables};
use store::ordered_work::OrderedWork;
use store::outbox::Outbox;
use store::queries::Queries;
use store::reader::Reader;
use store::{AggregateKey, CommitLog, CommitOwner, Settlement, Store, Submission};

/// Durable data of the shop.
pub struct Disk {
    story: Arc<Story>,
    tables: Mutex<Tables>,
}

/// Store on the disk's data, as one server uses it.
pub struct OpenDisk {
    /// Store for actors and effects.
    pub store: Store,
    /// Lookups of the HTTP edge.
    pub queries: Queries,
    /// Committed events.
    pub outbox: Arc<Outbox>,
    /// Store behind the others, with its data.
    pub memory: MemoryStore,
}

impl Disk {
    /// Creates an empty disk.
    pub fn new(story: Arc<Story>) -> Self {
        Self { story, tables: Mutex::default() }
    }

    /// Opens the disk for a server. Must be called within the server's runtime.
    pub fn open(&self) -> OpenDisk {
        let tables = self.tables();
        let outbox = Outbox::new(tables.last_seq());
        let memory = MemoryStore::with_tables(tables, outbox.clone());
        let log = TracedLog { memory: memory.clone(), story: self.story.clone() };
        let store = Store::new(log, Reader::Memory(memory.clone()), memory.clone());
        OpenDisk { store, queries: Queries::of_memory(memory.clone()), outbox, memory }
    }

    /// Keeps what a server has committed so far. Nothing that it commits later is durable.
    pub fn keep(&self, open: &OpenDisk) {
        *self.tables.lock().unwrap_or_else(PoisonError::into_inner) = open.memory.tables();
    }

    /// Returns the durable data.
    pub fn tables(&self) -> Tables {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Commit log that tells in the story which events became durable.
struct TracedLog {
    memory: MemoryStore,
    story: Arc<Story>,
}

impl CommitLog for TracedLog {
    fn commit(&self, submission: Box<Submission>, owner: CommitOwner) {
        let events: Vec<Event> = submission.commands.iter().flat_map(|command| command.events.clone()).collect();
        let story = self.story.clone();
        let owner = CommitOwner::new(move |settlement| {
            if settlement == Settlement::Durable {
                for event in &events {
                    story.tell(format!("{}: {}", story.name_of(&event.subject_kind, event.subject_id), event.event));
                }
            } else {
                story.tell(format!("a commit was not made: {settlement:?}"));
            }
            owner.tell(settlement);
        });
        self.memory.commit(submission, owner);
    }

    fn run_in_order(&self, work: OrderedWork) {
        self.memory.run_in_order(work);
    }

    fn forget(&self, key: AggregateKey) {
        self.memory.forget(key);
    }
}
