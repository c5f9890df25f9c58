//! Directory entry of an aggregate, with its actor's status and its last committed state. The entry outlives the actor,
//! so a handle, which refers to the entry, never becomes invalid.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;
use ractor::{ActorRef, MessagingErr, RpcReplyPort};
use tokio::sync::Semaphore;

use crate::message::Msg;
use domain::aggregate::{Aggregate, Versioned};
use domain::id::Id;
use platform::observe::meters::Counter;
use platform::watch::WatchSender;

/// Status of an aggregate's actor.
pub enum ActorStatus<T: Aggregate> {
    /// The actor is starting and loading its state.
    Starting,
    /// The actor is running and accepts commands.
    Here(ActorRef<Msg<T>>),
    /// The aggregate is not in memory; the next command activates it.
    Resting,
    /// The aggregate is out of service, after too many crashes or because a row cannot be read. Commands are not
    /// accepted; the actor is restarted from time to time to check whether the problem has been resolved.
    Parked,
    /// The server is shutting down.
    Closed,
}

impl<T: Aggregate> Clone for ActorStatus<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Starting => Self::Starting,
            Self::Here(actor) => Self::Here(actor.clone()),
            Self::Resting => Self::Resting,
            Self::Parked => Self::Parked,
            Self::Closed => Self::Closed,
        }
    }
}

impl<T: Aggregate> ActorStatus<T> {
    /// Returns the status as displayed by `/api/system/actors`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Here(_) => "running",
            Self::Resting => "resting",
            Self::Parked => "parked",
            Self::Closed => "closed",
        }
    }
}

/// Message to a supervisor.
pub enum SupervisorMsg<T: Aggregate> {
    /// Start the actor of an aggregate, unless it is running.
    Start(Id, Arc<DirectoryEntry<T>>),
    /// Start the actors of the given aggregates with their states, and reply when all are running (bulk start, new
    /// IDs).
    StartKnown(Vec<(Id, Arc<Versioned<T>>)>, RpcReplyPort<()>),
    /// The restart after a generation's crash is due.
    Restart(Id, u64),
    /// The aggregate is at rest and idle, and must be unloaded.
    Passivate(Id, u64),
    /// A row of the aggregate cannot be read, for the given reason. Take the aggregate out of service, and try again
    /// from time to time.
    Park(Id, u64, String),
    /// Remove the entries of aggregates at rest that have no handles left.
    Sweep,
    /// The server is shutting down: let all actors finish the accepted commands, and reply when they have stopped.
    Close(RpcReplyPort<()>),
    /// Crash the supervisor on purpose, for tests.
    #[cfg(any(test, debug_assertions))]
    Crash,
}

/// Reference to the current supervisor; it remains valid when the supervisor is replaced.
pub(super) struct SupervisorRef<T: Aggregate>(Arc<SupervisorLink<T>>);

struct SupervisorLink<T: Aggregate> {
    now: OnceLock<ArcSwap<ActorRef<SupervisorMsg<T>>>>,
    closed: AtomicBool,
    meter: KindMeter,
}

/// Counters for one aggregate kind since the process started.
#[derive(Debug, Default)]
pub struct KindMeter {
    /// Number of actor crashes.
    pub crashes: Counter,
    /// Number of commands rejected because too many were waiting.
    pub overloaded: Counter,
}

impl<T: Aggregate> Clone for SupervisorRef<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Aggregate> Default for SupervisorRef<T> {
    fn default() -> Self {
        Self(Arc::new(SupervisorLink {
            now: OnceLock::new(),
            closed: AtomicBool::new(false),
            meter: KindMeter::default(),
        }))
    }
}

impl<T: Aggregate> SupervisorRef<T> {
    pub(super) fn set(&self, supervisor: ActorRef<SupervisorMsg<T>>) {
        let supervisor = Arc::new(supervisor);
        self.0.now.get_or_init(|| ArcSwap::new(supervisor.clone())).store(supervisor);
    }
    pub(super) fn get(&self) -> Option<Arc<ActorRef<SupervisorMsg<T>>>> {
        self.0.now.get().map(ArcSwap::load_full)
    }
    pub(super) fn meter(&self) -> &KindMeter {
        &self.0.meter
    }
    /// Marks the kind as closed during shutdown; no new supervisor is started after that.
    pub(super) fn close(&self) {
        self.0.closed.store(true, Relaxed);
    }
    pub(super) fn closed(&self) -> bool {
        self.0.closed.load(Relaxed)
    }
    pub(super) fn cast(&self, message: SupervisorMsg<T>) -> Result<(), MessagingErr<SupervisorMsg<T>>> {
        match self.get() {
            Some(supervisor) => supervisor.cast(message),
            None => Err(MessagingErr::ChannelClosed),
        }
    }
}

/// Directory entry for an aggregate.
pub struct DirectoryEntry<T: Aggregate> {
    /// ID of the aggregate.
    pub id: Id,
    /// Supervisor that starts the actor of this entry; it may crash and be replaced.
    pub(super) supervisor: SupervisorRef<T>,
    /// Generation and status; written only by the supervisor, except in [`DirectoryEntry::activate`].
    pub(super) status: WatchSender<(u64, ActorStatus<T>)>,
    /// Last committed state; written only by the actor, after the commit.
    pub(super) published: ArcSwap<Versioned<T>>,
    /// Generation of the actor that published the state; 0 before the first publication.
    publisher: WatchSender<u64>,
    /// Admission permits: each waiting command has one, held by its envelope.
    pub(super) permits: Arc<Semaphore>,
    pub(super) max_waiting: usize,
    pub(super) restarts: AtomicU64,
    pub(super) last_error: Mutex<Option<String>>,
}

impl<T: Aggregate> DirectoryEntry<T> {
    /// Creates the entry for an aggregate that is about to be started.
    pub(super) fn new(id: Id, supervisor: SupervisorRef<T>, max_waiting: usize) -> Arc<Self> {
        let status = if supervisor.closed() { ActorStatus::Closed } else { ActorStatus::Starting };
        Arc::new(Self {
            id,
            supervisor,
            status: WatchSender::new((0, status)),
            published: ArcSwap::from_pointee(Versioned::nothing()),
            publisher: WatchSender::new(0),
            permits: Arc::new(Semaphore::new(max_waiting)),
            max_waiting,
            restarts: AtomicU64::new(0),
            last_error: Mutex::new(None),
        })
    }

    /// Requests that the actor be started if the aggregate is not in memory. The status changes before the message is
    /// sent. If the supervisor crashes before it reads the message, it therefore starts the actor after its restart.
    pub(super) fn activate(self: &Arc<Self>) {
        let rested = self.status.send_if_modified(|status| {
            let rests = matches!(status.1, ActorStatus::Resting);
            if rests {
                status.1 = ActorStatus::Starting;
            }
            rests
        });
        if rested {
            let _ = self.supervisor.cast(SupervisorMsg::Start(self.id, self.clone()));
        }
    }

    /// Publishes the committed state on behalf of the actor with the given generation.
    pub(super) fn publish(&self, state: Arc<Versioned<T>>, generation: u64) {
        self.published.store(state);
        self.publisher.send_if_modified(|publisher| std::mem::replace(publisher, generation) != generation);
    }

    /// Waits until an actor of a later generation has published the state on disk, or until no further actor will be
    /// started.
    pub(super) async fn published_after(&self, generation: u64) {
        let (mut publisher, mut statuses) = (self.publisher.subscribe(), self.status.subscribe());
        tokio::select! {
            biased; // the state on disk before news of the actor
            _ = publisher.wait_for(|publisher| *publisher > generation) => {}
            _ = statuses.wait_for(|(_, status)| matches!(status, ActorStatus::Parked | ActorStatus::Closed)) => {}
        }
    }

    /// Returns the number of commands waiting or in progress.
    pub(super) fn waiting(&self) -> usize {
        self.max_waiting.saturating_sub(self.permits.available_permits())
    }

    /// Returns the aggregate's summary for `/api/system/actors`.
    pub fn observe(&self) -> ActorSummary {
        let status = self.status.borrow();
        ActorSummary {
            kind: T::KIND,
            id: self.id,
            status: status.1.word(),
            generation: status.0,
            restarts: self.restarts.load(Relaxed),
            waiting: self.waiting(),
            last_error: self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// Summary of an aggregate in memory, as listed by `/api/system/actors`.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActorSummary {
    /// Kind of the aggregate, such as `order` or `printer`.
    pub kind: &'static str,
    /// ID of the aggregate.
    pub id: Id,
    /// Status of the actor: `starting`, `running`, `resting` or `parked`.
    pub status: &'static str,
    /// Number of times that the actor has been started.
    pub generation: u64,
    /// Number of times that the actor has crashed.
    pub restarts: u64,
    /// Number of commands waiting or in progress.
    pub waiting: usize,
    /// Reason for the last crash, or for the last failure to read the aggregate.
    pub last_error: Option<String>,
}
