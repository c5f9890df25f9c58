//! Tasks that write a transaction for the writer, check the epoch, and reopen the database.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use sea_orm::DatabaseConnection;
use tokio::time::timeout;

use crate::connect::{self, OpenError, WriteConnection, unavailable};
use crate::event_filter::EventFilter;
use crate::meter::TransactionSize;
use crate::ordered_work::OrderedWork;
use crate::outbox::Outbox;
use crate::queries::Queries;
use crate::reader::Reader;
use crate::rows::LoadError;
use crate::transaction::{DATABASE_TIMEOUT, TransactionEnd, TxWriter};
use crate::writer::{ConnectionError, ConnectionGuard, WriterArgs, WriterCounters};
use crate::{CommitOwner, Settlement, Submission, Unavailable};

/// Timeout for closing a connection, after which the connection is dropped.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of events read at a time when committed events are published late.
const EVENTS_PER_QUERY: u64 = 1000;

/// Transaction with the owners of its submissions, and the ordered work to run after it.
pub(super) struct TransactionTask {
    pub guard: Box<ConnectionGuard>,
    pub outbox: Arc<Outbox>,
    pub counters: Arc<WriterCounters>,
    /// Owners, in the same order as the submissions.
    pub owners: Vec<CommitOwner>,
}

impl TransactionTask {
    /// Writes the submissions, publishes their events, notifies the owners, and runs the ordered work. Returns the
    /// connection if it can still be used.
    pub async fn run(
        mut self,
        submissions: Vec<Submission>,
        works: Vec<OrderedWork>,
    ) -> Result<Box<ConnectionGuard>, ConnectionError> {
        if !submissions.is_empty() {
            self = self.write(submissions).await?;
        }
        if works.is_empty() {
            return Ok(self.guard);
        }
        let reader = Reader::Database(self.guard.writing.db.clone());
        for work in works {
            if !timeout(DATABASE_TIMEOUT, work.run(&reader)).await.unwrap_or(false) {
                close(self.guard.writing.db).await;
                return Err(ConnectionError::Unavailable(Unavailable::Database));
            }
        }
        Ok(self.guard)
    }

    async fn write(mut self, submissions: Vec<Submission>) -> Result<Self, ConnectionError> {
        let writing = &mut self.guard.writing;
        let mut tx = TxWriter {
            db: &writing.db,
            epoch: writing.epoch,
            seq: writing.last_seq,
            audit: writing.audit.clone(),
            published: Vec::new(),
        };
        // A monotonic duration for the metrics: it is never compared with the clock of the environment.
        let (size, began) = (TransactionSize::of(&submissions), Instant::now());
        let ended = tx.write(submissions).await;
        let (seq, audit, published) = (tx.seq, tx.audit, tx.published);
        (writing.last_seq, writing.audit) = (seq, audit);
        self.outbox.publish(published);
        let (settled, failure) = match ended {
            TransactionEnd::Settled(settled) => (settled, None),
            TransactionEnd::Broken(settled, error) => {
                tracing::error!(%error, "transaction failed");
                (settled, Some(ConnectionError::Unavailable(unavailable(&error))))
            }
            TransactionEnd::Fenced(settled) => {
                tracing::error!("another server took over the database; exiting");
                (settled, Some(ConnectionError::Fenced))
            }
        };
        self.counters.meter.wrote(size, began.elapsed(), &settled);
        let durable = settled.iter().filter(|settlement| **settlement == Settlement::Durable).count();
        self.counters.commits.fetch_add(durable as u64, Relaxed);
        self.counters.transactions.fetch_add(u64::from(durable > 0), Relaxed);
        self.owners.drain(..).zip(settled).for_each(|(owner, settlement)| owner.tell(settlement));
        if let Some(failure) = failure {
            close(self.guard.writing.db).await;
            return Err(failure);
        }
        Ok(self)
    }
}

/// Checks that the connection works and the epoch is unchanged, so that even a server that writes nothing notices when
/// a different server has taken over.
pub(super) async fn check_epoch(guard: Box<ConnectionGuard>) -> Result<Box<ConnectionGuard>, ConnectionError> {
    let failure = match timeout(DATABASE_TIMEOUT, guard.writing.holds()).await {
        Ok(Ok(true)) => return Ok(guard),
        Ok(Ok(false)) => {
            tracing::error!("another server took over the database; exiting");
            ConnectionError::Fenced
        }
        Ok(Err(OpenError::Database(error))) => {
            tracing::warn!(%error, "the writer's connection failed");
            ConnectionError::Unavailable(unavailable(&error))
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "the store cannot write");
            ConnectionError::Unavailable(Unavailable::Database)
        }
        Err(_) => ConnectionError::Unavailable(Unavailable::Database),
    };
    close(guard.writing.db).await;
    Err(failure)
}

async fn close(db: DatabaseConnection) {
    let _ = timeout(CLOSE_TIMEOUT, db.close()).await;
}

/// Reopens the database once the transaction of a crashed predecessor has ended, and takes the next epoch; fails if a
/// different server has taken over in the meantime.
pub(super) async fn open(args: &WriterArgs) -> Result<Box<ConnectionGuard>, ConnectionError> {
    let counters = &args.counters;
    let write_lock = counters.write_lock.clone().lock_owned().await;
    let (epoch, uncertain) = (counters.epoch.load(Relaxed), counters.uncertain_epochs.load(Relaxed));
    let highest = if epoch == 0 { 0 } else { epoch + uncertain };
    let writing = match timeout(DATABASE_TIMEOUT, connect::reopen(&args.database, highest)).await {
        Ok(Ok(writing)) => writing,
        Ok(Err(OpenError::TakenOver)) => {
            tracing::error!("another server took over the database; exiting");
            return Err(ConnectionError::Fenced);
        }
        Ok(Err(OpenError::Database(error))) => return Err(ConnectionError::Unavailable(unavailable(&error))),
        Ok(Err(OpenError::EpochUncertain(error))) => {
            counters.uncertain_epochs.fetch_add(1, Relaxed);
            return Err(ConnectionError::Unavailable(unavailable(&error)));
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "the store cannot write");
            return Err(ConnectionError::Unavailable(Unavailable::Database));
        }
        Err(_) => {
            counters.uncertain_epochs.fetch_add(1, Relaxed);
            return Err(ConnectionError::Unavailable(Unavailable::Database));
        }
    };
    counters.uncertain_epochs.store(0, Relaxed);
    counters.epoch.store(writing.epoch, Relaxed);
    let last = *args.outbox.last().borrow();
    if writing.last_seq < last {
        tracing::error!(last, present = writing.last_seq, "the database has lost acknowledged changes; exiting");
        return Err(ConnectionError::Fenced);
    }
    // A commit whose outcome was lost may have written events: they are published before any later one.
    match publish_unpublished(&writing, last, &args.outbox).await {
        Ok(()) => Ok(Box::new(ConnectionGuard { writing, _write_lock: write_lock })),
        Err(LoadError::Db(error)) => Err(ConnectionError::Unavailable(unavailable(&error))),
        Err(error) => {
            tracing::error!(%error, "cannot read committed events");
            Err(ConnectionError::Unavailable(Unavailable::Database))
        }
    }
}

async fn publish_unpublished(writing: &WriteConnection, from: i64, outbox: &Outbox) -> Result<(), LoadError> {
    let queries = Queries::new(writing.db.clone());
    let mut seq = from;
    while seq < writing.last_seq {
        let events = queries.events_after(seq, &EventFilter::default(), EVENTS_PER_QUERY).await?;
        match events.last() {
            Some(last) => seq = last.seq,
            None => break,
        }
        outbox.publish(events);
    }
    Ok(())
}
