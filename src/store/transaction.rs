//! Writes submissions in one transaction, and determines which submission caused the problem if the transaction is
//! rejected.
//!
//! Usually, everything that is waiting is written in a single transaction with a few multi-row statements. Only if that
//! transaction is rejected is each submission attempted in its own transaction, and only a submission that violates a
//! constraint is attempted command by command, with savepoints, to determine which command is responsible.

use std::time::Duration;

use sea_orm::{DatabaseConnection, DatabaseTransaction, DbErr, TransactionTrait};

use crate::connect::{hold_epoch, unavailable};
use crate::requirements::check;
use crate::rows::{Batch, WriteError};
use crate::{CommandWrites, Settlement, Submission, Unavailable};
use domain::audit::chain::ChainHead;
use domain::event::NumberedEvent;
use domain::requirement::Requirement;

/// Timeout after which a database that does not respond is considered unavailable. It is shorter than the time for
/// which callers wait, so that they receive the reason.
pub(super) const DATABASE_TIMEOUT: Duration = Duration::from_secs(10);

/// Result of a transaction, with one settlement per submission, in the same order.
pub(super) enum TransactionEnd {
    /// All submissions are settled, and the connection can be used again.
    Settled(Vec<Settlement>),
    /// The database failed, and the connection must not be used again.
    Broken(Vec<Settlement>, DbErr),
    /// A different server has taken over the epoch, so this process must exit.
    Fenced(Vec<Settlement>),
}

/// Reason that an attempt at a transaction failed.
enum AttemptFailure {
    /// A version guard, a constraint or a requirement is violated. The transaction is rolled back, and the connection
    /// can be used again.
    Refused(WriteError),
    /// The database failed before the commit, so nothing is on disk.
    Before(DbErr),
    /// The database failed during the commit, so the transaction may or may not be on disk.
    During(DbErr),
    /// The epoch on disk is not the one that this process took.
    Fenced,
}

/// Writer's connection with the number of the last event and the head of the audit log.
///
/// Invariant: `seq`, `audit` and `published` change only once a transaction is known to be on disk. A failed
/// transaction therefore leaves no gap in the event numbers and in the audit log, and its events are never published.
/// If the outcome of a transaction is lost, the last number and the head are read from disk when the database is
/// reopened.
pub(super) struct TxWriter<'a> {
    pub db: &'a DatabaseConnection,
    pub epoch: i64,
    /// Number of the last event on disk.
    pub seq: i64,
    /// Head of the audit log on disk.
    pub audit: ChainHead,
    /// Events from the transactions on disk, in ascending order of event number.
    pub published: Vec<NumberedEvent>,
}

impl TxWriter<'_> {
    /// Writes all submissions together, or one by one if they are rejected together.
    pub async fn write(&mut self, submissions: Vec<Submission>) -> TransactionEnd {
        let count = submissions.len();
        match self.attempt(submissions.iter()).await {
            Ok(()) => TransactionEnd::Settled(vec![Settlement::Durable; count]),
            Err(AttemptFailure::Fenced) => {
                TransactionEnd::Fenced(vec![Settlement::NotDurable(Unavailable::Database); count])
            }
            Err(AttemptFailure::Before(e)) => {
                TransactionEnd::Broken(vec![Settlement::NotDurable(unavailable(&e)); count], e)
            }
            Err(AttemptFailure::During(e)) => TransactionEnd::Broken(vec![Settlement::Lost; count], e),
            Err(AttemptFailure::Refused(refused)) => {
                tracing::debug!(%refused, submissions = count, "transaction rejected; retrying submissions one by one");
                self.one_by_one(submissions).await
            }
        }
    }

    async fn one_by_one(&mut self, submissions: Vec<Submission>) -> TransactionEnd {
        let count = submissions.len();
        let mut settled = Vec::with_capacity(count);
        for submission in &submissions {
            let settlement = match self.attempt(std::iter::once(submission)).await {
                Ok(()) => Settlement::Durable,
                Err(AttemptFailure::Refused(
                    WriteError::Constraint(_) | WriteError::Unmet(_) | WriteError::Value(_),
                )) => match self.find_clash(submission).await {
                    Ok(settlement) => settlement,
                    Err(e) => return broken(settled, count, e),
                },
                Err(AttemptFailure::Refused(_)) => Settlement::Superseded,
                Err(AttemptFailure::Fenced) => {
                    settled.resize(count, Settlement::NotDurable(Unavailable::Database));
                    return TransactionEnd::Fenced(settled);
                }
                Err(AttemptFailure::Before(e)) => return broken(settled, count, e),
                Err(AttemptFailure::During(e)) => {
                    settled.push(Settlement::Lost);
                    return broken(settled, count, e);
                }
            };
            settled.push(settlement);
        }
        TransactionEnd::Settled(settled)
    }

    /// Determines which command violates a constraint by writing one command at a time, with savepoints. Everything is
    /// rolled back at the end.
    async fn find_clash(&self, submission: &Submission) -> Result<Settlement, DbErr> {
        within_timeout(self.search(submission)).await
    }

    async fn search(&self, submission: &Submission) -> Result<Settlement, DbErr> {
        let tx = self.db.begin().await?;
        let mut settlement = Settlement::Superseded;
        let (mut seq, mut audit) = (self.seq, self.audit.clone());
        for (at, writes) in submission.commands.iter().enumerate() {
            let savepoint = tx.begin().await?;
            let mut batch = Batch::default();
            let pushed = push_command(&mut batch, writes, (&mut seq, &mut audit), &mut Vec::new());
            let written = match pushed {
                Ok(()) => batch.write(&savepoint).await,
                Err(e) => Err(e),
            };
            let written = match written {
                Ok(()) => check(&savepoint, writes.requirements.iter()).await,
                Err(e) => Err(e),
            };
            match written {
                Ok(()) => savepoint.commit().await?,
                Err(WriteError::Constraint(constraint)) => {
                    savepoint.rollback().await?;
                    settlement = Settlement::Clash { at: Some(at), constraint };
                    break;
                }
                Err(WriteError::Unmet(requirement)) => {
                    savepoint.rollback().await?;
                    settlement = Settlement::Unmet { at, requirement };
                    break;
                }
                Err(WriteError::Value(error)) => {
                    savepoint.rollback().await?;
                    tracing::warn!(kind = submission.key.0, id = %submission.key.1, %error, "the database rejected a value");
                    settlement = Settlement::BadValue { at: Some(at) };
                    break;
                }
                Err(WriteError::Guard(_) | WriteError::Doc(_)) => {
                    savepoint.rollback().await?;
                    break;
                }
                Err(WriteError::Db(e)) => return Err(e),
            }
        }
        // No command's rows are refused, so it is the snapshot row itself (a code that is taken, say). When several
        // commands shaped it, the one at fault cannot be told.
        if settlement == Settlement::Superseded
            && let Some(snapshot) = &submission.snapshot
        {
            let mut batch = Batch::default();
            batch.push_snapshot(snapshot.clone());
            let savepoint = tx.begin().await?;
            match batch.write(&savepoint).await {
                Err(WriteError::Constraint(constraint)) => {
                    settlement = Settlement::Clash { at: (submission.commands.len() < 2).then_some(0), constraint };
                    savepoint.rollback().await?;
                }
                Err(WriteError::Value(error)) => {
                    tracing::warn!(kind = submission.key.0, id = %submission.key.1, %error, "the database rejected a value");
                    settlement = Settlement::BadValue { at: (submission.commands.len() < 2).then_some(0) };
                    savepoint.rollback().await?;
                }
                Ok(()) | Err(WriteError::Guard(_) | WriteError::Unmet(_) | WriteError::Doc(_)) => {
                    savepoint.rollback().await?;
                }
                Err(WriteError::Db(e)) => return Err(e),
            }
        }
        tx.rollback().await?;
        Ok(settlement)
    }

    async fn attempt<'s>(
        &mut self,
        submissions: impl Iterator<Item = &'s Submission> + Clone,
    ) -> Result<(), AttemptFailure> {
        let mut batch = Batch::default();
        let (mut seq, mut audit, mut events) = (self.seq, self.audit.clone(), Vec::new());
        for submission in submissions.clone() {
            if let Some(snapshot) = &submission.snapshot {
                batch.push_snapshot(snapshot.clone());
            }
            for writes in &submission.commands {
                let pushed = push_command(&mut batch, writes, (&mut seq, &mut audit), &mut events);
                pushed.map_err(AttemptFailure::Refused)?;
            }
        }
        let commands = submissions.flat_map(|submission| &submission.commands);
        let requirements: Vec<&Requirement> = commands.flat_map(|writes| &writes.requirements).collect();
        let tx = within_timeout(self.db.begin()).await.map_err(AttemptFailure::Before)?;
        let filled = self.fill(&tx, batch, &audit, &requirements);
        let filled = tokio::time::timeout(DATABASE_TIMEOUT, filled).await;
        match filled.unwrap_or_else(|_| Err(AttemptFailure::Before(no_answer()))) {
            Ok(()) => {
                within_timeout(tx.commit()).await.map_err(commit_failed)?;
                (self.seq, self.audit) = (seq, audit);
                self.published.extend(events);
                Ok(())
            }
            // The connection is dropped, and the transaction with it. The first error says why.
            Err(failed @ AttemptFailure::Before(_)) => Err(failed),
            Err(failed) => match within_timeout(tx.rollback()).await {
                Ok(()) => Err(failed),
                Err(e) => Err(AttemptFailure::Before(e)),
            },
        }
    }

    async fn fill(
        &self,
        tx: &DatabaseTransaction,
        batch: Batch,
        audit: &ChainHead,
        requirements: &[&Requirement],
    ) -> Result<(), AttemptFailure> {
        if !hold_epoch(tx, self.epoch, audit).await.map_err(AttemptFailure::Before)? {
            return Err(AttemptFailure::Fenced);
        }
        let written = match batch.write(tx).await {
            // Of two commits that contradict each other both fail here, and the first succeeds when each is tried
            // alone.
            Ok(()) => check(tx, requirements.iter().copied()).await,
            refused => refused,
        };
        written.map_err(|e| match e {
            WriteError::Db(e) => AttemptFailure::Before(e),
            refused => AttemptFailure::Refused(refused),
        })
    }
}

async fn within_timeout<T>(work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
    tokio::time::timeout(DATABASE_TIMEOUT, work).await.unwrap_or_else(|_| Err(no_answer()))
}

fn no_answer() -> DbErr {
    DbErr::Custom("the database did not respond in time".to_owned())
}

/// Classifies a failed commit. If the disk is full or read-only, the transaction is definitely not on disk; after any
/// other failure, only the disk shows whether it is.
fn commit_failed(error: DbErr) -> AttemptFailure {
    match unavailable(&error) {
        Unavailable::DiskFull | Unavailable::ReadOnly => AttemptFailure::Before(error),
        Unavailable::Database => AttemptFailure::During(error),
    }
}

/// Settles the submissions that had not yet been attempted when the connection failed, and are therefore not on disk.
fn broken(mut settled: Vec<Settlement>, count: usize, error: DbErr) -> TransactionEnd {
    settled.resize(count, Settlement::NotDurable(unavailable(&error)));
    TransactionEnd::Broken(settled, error)
}

/// Adds the rows of a command, and advances the number of the last event and the head of the audit log.
fn push_command(
    batch: &mut Batch,
    writes: &CommandWrites,
    (seq, audit): (&mut i64, &mut ChainHead),
    numbered: &mut Vec<NumberedEvent>,
) -> Result<(), WriteError> {
    for row in &writes.rows {
        batch.push_row(&**row)?;
    }
    for event in &writes.events {
        *seq += 1;
        batch.push_event(*seq, event)?;
        numbered.push(NumberedEvent { seq: *seq, event: event.clone() });
    }
    if let Some(line) = &writes.audit {
        batch.push_audit(line.clone(), audit);
    }
    if let Some(answer) = &writes.idempotent_answer {
        batch.push_idempotency(answer.clone());
    }
    Ok(())
}
