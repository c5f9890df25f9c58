//! Disk of the simulated world: the durable data, whichever server uses it.
//!
//! A server works on a store in memory. When the server crashes, the disk keeps exactly the tables that this store had
//! committed; queued commits and unsubmitted decisions are lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::yield_now;

use crate::plants::{Plant, Planter, has_acknowledged_command};
use crate::power::Power;
use crate::store_faults::{CommitFault, StoreFaults};
use crate::story::Story;
use store::memory::{MemoryStore, Tables};
use store::ordered_work::OrderedWork;
use store::outbox::Outbox;
use store::queries::Queries;
use store::reader::Reader;
use store::{AggregateKey, CommitLog, CommitOwner, Settlement, Store, Submission, Unavailable};

/// Durable data of the shop.
pub struct Disk {
    story: Arc<Story>,
    planter: Arc<Planter>,
    state: Mutex<DiskState>,
}

#[derive(Default)]
struct DiskState {
    /// Data while no server runs.
    tables: Tables,
    /// Data before the last commit with an acknowledged command, for the plant that goes back to it. Keeping old tables
    /// makes the store copy what it changes.
    previous: Tables,
    /// Store of the running server; `None` if none is running.
    open: Option<MemoryStore>,
    /// Number of the last event that has been written to the story.
    last_event: i64,
}

impl DiskState {
    fn tables(&self) -> Tables {
        self.open.as_ref().map_or_else(|| self.tables.clone(), MemoryStore::tables)
    }
}

/// Store on the disk's data, as opened by one server.
pub struct OpenDisk {
    /// Store for actors and effects.
    pub store: Store,
    /// Queries for the HTTP edge.
    pub queries: Queries,
    /// Committed events.
    pub outbox: Arc<Outbox>,
    /// Underlying store with its data.
    pub memory: MemoryStore,
}

impl Disk {
    /// Creates an empty disk.
    pub fn new(story: Arc<Story>, planter: Arc<Planter>) -> Self {
        Self { story, planter, state: Mutex::default() }
    }

    /// Opens the disk for a server. Must be called in the server's runtime.
    pub fn open(self: &Arc<Self>, power: &Arc<Power>, faults: &Arc<StoreFaults>) -> OpenDisk {
        let tables = self.tables();
        let outbox = Outbox::new(tables.last_seq());
        let memory = MemoryStore::with_tables(tables, outbox.clone());
        self.state().open = Some(memory.clone());
        let log =
            TracedLog { disk: self.clone(), memory: memory.clone(), power: power.clone(), faults: faults.clone() };
        let store = Store::new(log, Reader::Memory(memory.clone()), memory.clone());
        OpenDisk { store, queries: Queries::of_memory(memory.clone()), outbox, memory }
    }

    /// Keeps what the server has committed so far; later commits of that server are not durable.
    pub fn cut(&self) {
        self.tell_events();
        let mut state = self.state();
        let forgets = self.planter.strikes(Plant::ForgottenCommit);
        state.tables = if forgets { state.previous.clone() } else { state.tables() };
        state.open = None;
    }

    /// Makes the running server's store refuse all work; `None` makes it available again.
    pub fn set_unavailable(&self, reason: Option<Unavailable>) {
        if let Some(open) = &self.state().open {
            open.set_unavailable(reason);
        }
    }

    /// Returns the durable data.
    pub fn tables(&self) -> Tables {
        self.state().tables()
    }

    /// Writes the events that have become durable since the last call to the story.
    fn tell_events(&self) {
        let mut state = self.state();
        let tables = state.tables();
        for numbered in tables.events_after(state.last_event) {
            let event = &numbered.event;
            self.story.tell(format!("{}: {}", self.story.name_of(&event.subject_kind, event.subject_id), event.event));
            state.last_event = numbered.seq;
        }
    }

    fn state(&self) -> MutexGuard<'_, DiskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commit log of one server, which applies faults to commits and counts each commit as two steps.
struct TracedLog {
    disk: Arc<Disk>,
    memory: MemoryStore,
    power: Arc<Power>,
    faults: Arc<StoreFaults>,
}

impl TracedLog {
    /// Settles a commit that never reaches the store, after giving its owner time to await the settlement.
    fn settle(&self, owner: CommitOwner, settlement: Settlement) {
        let power = self.power.clone();
        tokio::spawn(async move {
            yield_now().await;
            power.pass().await;
            owner.tell(settlement);
        });
    }
}

impl CommitLog for TracedLog {
    fn commit(&self, mut submission: Box<Submission>, owner: CommitOwner) {
        if !self.power.step() {
            return;
        }
        match self.faults.draw() {
            Some(CommitFault::Settled(settlement)) => {
                self.disk.story.tell(format!("a commit is not made: {settlement:?}"));
                return self.settle(owner, settlement);
            }
            Some(CommitFault::Lost(outcome)) => {
                self.disk.story.tell(format!("the answer to a commit is lost: {outcome:?}"));
                self.memory.lose_next_transaction(outcome);
            }
            None => {}
        }
        if self.disk.planter.alter(&mut submission) {
            return self.settle(owner, Settlement::Durable);
        }
        self.disk.planter.alter_rows(&mut submission, &self.memory);
        if self.disk.planter.has(Plant::ForgottenCommit) && has_acknowledged_command(&submission) {
            self.disk.state().previous = self.memory.tables();
        }
        let (disk, power) = (self.disk.clone(), self.power.clone());
        let owner = CommitOwner::new(move |settlement| {
            disk.tell_events();
            if power.step() {
                owner.tell(settlement);
            }
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
