//! The place of a thing in the directory: outlives its actor, so a handle never goes stale.

use crate::actors::keeper::KeeperMsg;
use crate::actors::shell::Msg;
use crate::domain::durable::{Durable, Versioned};
use crate::domain::id::Id;
use crate::meters::Counter;
use arc_swap::ArcSwap;
use ractor::{ActorRef, MessagingErr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::{Semaphore, watch};

/// Where the actor of a thing is now.
pub enum Place<T: Durable> {
    /// Coming up.
    Starting,
    /// Up.
    Here(ActorRef<Msg<T>>),
    /// At rest, out of memory; asking wakes it.
    Resting,
    /// Fell too often: an operator has been told, it is probed slowly.
    Parked,
    /// The server leaves.
    Closed,
}

impl<T: Durable> Clone for Place<T> {
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

impl<T: Durable> Place<T> {
    /// For `/api/system/actors`.
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

/// The keeper of now; outlives it.
pub(super) struct KeeperRef<T: Durable>(Arc<Keeping<T>>);

struct Keeping<T: Durable> {
    now: OnceLock<ArcSwap<ActorRef<KeeperMsg<T>>>>,
    closed: AtomicBool,
    meter: KindMeter,
}

/// What is counted of all things of a kind.
#[derive(Debug, Default)]
pub struct KindMeter {
    /// Falls of shells.
    pub falls: Counter,
    /// Commands refused because too many waited.
    pub overloaded: Counter,
}

impl<T: Durable> Clone for KeeperRef<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Durable> Default for KeeperRef<T> {
    fn default() -> Self {
        Self(Arc::new(Keeping { now: OnceLock::new(), closed: AtomicBool::new(false), meter: KindMeter::default() }))
    }
}

impl<T: Durable> KeeperRef<T> {
    pub(super) fn set(&self, keeper: ActorRef<KeeperMsg<T>>) {
        let keeper = Arc::new(keeper);
        self.0.now.get_or_init(|| ArcSwap::new(keeper.clone())).store(keeper);
    }
    pub(super) fn get(&self) -> Option<Arc<ActorRef<KeeperMsg<T>>>> {
        self.0.now.get().map(ArcSwap::load_full)
    }
    pub(super) fn meter(&self) -> &KindMeter {
        &self.0.meter
    }
    /// The server leaves: there will be no other keeper.
    pub(super) fn close(&self) {
        self.0.closed.store(true, Relaxed);
    }
    pub(super) fn closed(&self) -> bool {
        self.0.closed.load(Relaxed)
    }
    pub(super) fn cast(&self, message: KeeperMsg<T>) -> Result<(), MessagingErr<KeeperMsg<T>>> {
        match self.get() {
            Some(keeper) => keeper.cast(message),
            None => Err(MessagingErr::ChannelClosed),
        }
    }
}

/// The place of one thing.
pub struct Slot<T: Durable> {
    /// Whose.
    pub id: Id,
    /// Its keeper.
    pub(super) keeper: KeeperRef<T>,
    /// (generation, place); written by the keeper only, but for [`Slot::wake`].
    pub(super) place: watch::Sender<(u64, Place<T>)>,
    /// The last committed state; written by the actor after the commit only.
    pub(super) published: ArcSwap<Versioned<T>>,
    /// Admission: one permit a waiting command, travelling in its envelope.
    pub(super) permits: Arc<Semaphore>,
    pub(super) most_waiting: usize,
    pub(super) restarts: AtomicU64,
    pub(super) last_error: Mutex<Option<String>>,
}

impl<T: Durable> Slot<T> {
    /// The place of a thing that is to be started.
    pub(super) fn new(id: Id, keeper: KeeperRef<T>, most_waiting: usize) -> Arc<Self> {
        let place = if keeper.closed() { Place::Closed } else { Place::Starting };
        Arc::new(Self {
            id,
            keeper,
            place: watch::Sender::new((0, place)),
            published: ArcSwap::from_pointee(Versioned::nothing()),
            permits: Arc::new(Semaphore::new(most_waiting)),
            most_waiting,
            restarts: AtomicU64::new(0),
            last_error: Mutex::new(None),
        })
    }

    /// Wakes it when it rests. The mark outlives the message: a keeper that falls before it reads it starts the thing
    /// when it comes back.
    pub(super) fn wake(self: &Arc<Self>) {
        let rested = self.place.send_if_modified(|place| {
            let rests = matches!(place.1, Place::Resting);
            if rests {
                place.1 = Place::Starting;
            }
            rests
        });
        if rested {
            let _ = self.keeper.cast(KeeperMsg::Start(self.id, self.clone()));
        }
    }

    /// Commands that wait or are under way.
    pub(super) fn waiting(&self) -> usize {
        self.most_waiting.saturating_sub(self.permits.available_permits())
    }

    /// What is shown of it.
    pub fn observe(&self) -> Observed {
        let place = self.place.borrow();
        Observed {
            kind: T::KIND,
            id: self.id,
            place: place.1.word(),
            generation: place.0,
            restarts: self.restarts.load(Relaxed),
            waiting: self.waiting(),
            last_error: self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// A line of `/api/system/actors`.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// Kind of thing.
    pub kind: &'static str,
    /// Which.
    pub id: Id,
    /// `starting`, `running`, `resting`, `parked`.
    pub place: &'static str,
    /// Counts its lives.
    pub generation: u64,
    /// How often it fell.
    pub restarts: u64,
    /// Commands that wait or are under way.
    pub waiting: usize,
    /// Why it fell last.
    pub last_error: Option<String>,
}
