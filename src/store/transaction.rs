//! One transaction: everything that waits, in multi-row statements; alone and command by command only when that fails.

use crate::domain::event::Numbered;
use crate::store::connect::unavailable;
use crate::store::rows::{Batch, WriteError};
use crate::store::{Group, Settlement, Submission, Unavailable};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, Statement, TransactionTrait};
use std::time::Duration;

/// A database that does not answer for this long is away. Below what callers wait, so that they hear the truth.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// How a transaction ended for all of its submissions.
pub(super) enum Ended {
    /// Each its settlement; the connection is good.
    Settled(Vec<Settlement>),
    /// The connection is not to be used again; each its settlement.
    Broken(Vec<Settlement>, DbErr),
    /// Another server took the epoch: this process must leave; each its settlement.
    Fenced(Vec<Settlement>),
}

enum Failed {
    /// Affected rows differ, or a constraint said no: rolled back, the connection is good.
    Refused(WriteError),
    /// The database failed before the commit: certainly not on disk.
    Before(DbErr),
    /// The database failed during the commit.
    During(DbErr),
    Fenced,
}

/// The writer's connection and its place in the numbers.
pub(super) struct TxWriter<'a> {
    pub db: &'a DatabaseConnection,
    pub epoch: i64,
    /// Last number given; moves only when its transaction is on disk.
    pub seq: i64,
    /// Events of the transactions that are on disk.
    pub published: Vec<Numbered>,
}

impl TxWriter<'_> {
    /// Writes all; falls back to one by one when the whole is refused.
    pub async fn write(&mut self, submissions: Vec<Submission>) -> Ended {
        let count = submissions.len();
        match self.attempt(submissions.iter()).await {
            Ok(()) => Ended::Settled(vec![Settlement::Durable; count]),
            Err(Failed::Fenced) => Ended::Fenced(vec![Settlement::NotDurable(Unavailable::Database); count]),
            Err(Failed::Before(e)) => Ended::Broken(vec![Settlement::NotDurable(unavailable(&e)); count], e),
            Err(Failed::During(e)) => Ended::Broken(vec![Settlement::Lost; count], e),
            Err(Failed::Refused(refused)) => {
                tracing::debug!(%refused, submissions = count, "a transaction was refused: one by one");
                self.one_by_one(submissions).await
            }
        }
    }

    async fn one_by_one(&mut self, submissions: Vec<Submission>) -> Ended {
        let count = submissions.len();
        let mut settled = Vec::with_capacity(count);
        for submission in &submissions {
            let settlement = match self.attempt(std::iter::once(submission)).await {
                Ok(()) => Settlement::Durable,
                Err(Failed::Refused(WriteError::Constraint(_))) => match self.guilty(submission).await {
                    Ok(settlement) => settlement,
                    Err(e) => return broken(settled, count, e),
                },
                Err(Failed::Refused(_)) => Settlement::Superseded,
                Err(Failed::Fenced) => {
                    settled.resize(count, Settlement::NotDurable(Unavailable::Database));
                    return Ended::Fenced(settled);
                }
                Err(Failed::Before(e)) => return broken(settled, count, e),
                Err(Failed::During(e)) => {
                    settled.push(Settlement::Lost);
                    return broken(settled, count, e);
                }
            };
            settled.push(settlement);
        }
        Ended::Settled(settled)
    }

    /// Command by command under savepoints: which one is it? Nothing of this is kept.
    async fn guilty(&self, submission: &Submission) -> Result<Settlement, DbErr> {
        limited(self.search(submission)).await
    }

    async fn search(&self, submission: &Submission) -> Result<Settlement, DbErr> {
        let tx = self.db.begin().await?;
        let (mut verdict, mut seq) = (Settlement::Superseded, self.seq);
        for (at, group) in submission.groups.iter().enumerate() {
            let savepoint = tx.begin().await?;
            let mut batch = Batch::default();
            let pushed = push_group(&mut batch, group, &mut seq, &mut Vec::new());
            let written = match pushed {
                Ok(()) => batch.write(&savepoint).await,
                Err(e) => Err(e),
            };
            match written {
                Ok(()) => savepoint.commit().await?,
                Err(WriteError::Constraint(constraint)) => {
                    savepoint.rollback().await?;
                    verdict = Settlement::Clash { at: Some(at), constraint };
                    break;
                }
                Err(WriteError::Guard(_) | WriteError::Doc(_)) => {
                    savepoint.rollback().await?;
                    break;
                }
                Err(WriteError::Db(e)) => return Err(e),
            }
        }
        // Not in the rows of any command: the head itself (a taken code). Which of several shaped it so, nobody can tell.
        if verdict == Settlement::Superseded
            && let Some(snapshot) = &submission.snapshot
        {
            let mut batch = Batch::default();
            batch.push_snapshot(snapshot.clone());
            let savepoint = tx.begin().await?;
            match batch.write(&savepoint).await {
                Err(WriteError::Constraint(constraint)) => {
                    verdict = Settlement::Clash { at: (submission.groups.len() < 2).then_some(0), constraint };
                    savepoint.rollback().await?;
                }
                Ok(()) | Err(WriteError::Guard(_) | WriteError::Doc(_)) => savepoint.rollback().await?,
                Err(WriteError::Db(e)) => return Err(e),
            }
        }
        tx.rollback().await?;
        Ok(verdict)
    }

    async fn attempt<'s>(&mut self, submissions: impl Iterator<Item = &'s Submission>) -> Result<(), Failed> {
        let mut batch = Batch::default();
        let (mut seq, mut events) = (self.seq, Vec::new());
        for submission in submissions {
            if let Some(snapshot) = &submission.snapshot {
                batch.push_snapshot(snapshot.clone());
            }
            for group in &submission.groups {
                push_group(&mut batch, group, &mut seq, &mut events).map_err(Failed::Refused)?;
            }
        }
        let tx = limited(self.db.begin()).await.map_err(Failed::Before)?;
        let filled = tokio::time::timeout(LIMIT, self.fill(&tx, batch)).await;
        match filled.unwrap_or_else(|_| Err(Failed::Before(no_answer()))) {
            Ok(()) => {
                limited(tx.commit()).await.map_err(commit_failed)?;
                self.seq = seq;
                self.published.extend(events);
                Ok(())
            }
            // The connection is given up, and the transaction with it: what failed first says why.
            Err(failed @ Failed::Before(_)) => Err(failed),
            Err(failed) => match limited(tx.rollback()).await {
                Ok(()) => Err(failed),
                Err(e) => Err(Failed::Before(e)),
            },
        }
    }

    async fn fill(&self, tx: &DatabaseTransaction, batch: Batch) -> Result<(), Failed> {
        let guard = Statement::from_sql_and_values(
            tx.get_database_backend(),
            "UPDATE writer SET epoch = $1 WHERE id = 1 AND epoch = $1",
            [self.epoch.into()],
        );
        let held = tx.execute_raw(guard).await.map_err(Failed::Before)?;
        if held.rows_affected() != 1 {
            return Err(Failed::Fenced);
        }
        batch.write(tx).await.map_err(|e| match e {
            WriteError::Db(e) => Failed::Before(e),
            refused => Failed::Refused(refused),
        })
    }
}

async fn limited<T>(work: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
    tokio::time::timeout(LIMIT, work).await.unwrap_or_else(|_| Err(no_answer()))
}

fn no_answer() -> DbErr {
    DbErr::Custom("no answer in time".to_owned())
}

/// A commit for which there was no room, or that may not be written, is certainly not on disk; of others only the disk
/// can tell.
fn commit_failed(error: DbErr) -> Failed {
    match unavailable(&error) {
        Unavailable::DiskFull | Unavailable::ReadOnly => Failed::Before(error),
        Unavailable::Database => Failed::During(error),
    }
}

/// What is left after the connection broke is certainly not on disk.
fn broken(mut settled: Vec<Settlement>, count: usize, error: DbErr) -> Ended {
    settled.resize(count, Settlement::NotDurable(unavailable(&error)));
    Ended::Broken(settled, error)
}

fn push_group(batch: &mut Batch, group: &Group, seq: &mut i64, numbered: &mut Vec<Numbered>) -> Result<(), WriteError> {
    for row in &group.rows {
        batch.push_row(&**row)?;
    }
    for event in &group.events {
        *seq += 1;
        batch.push_event(*seq, event)?;
        numbered.push(Numbered { seq: *seq, event: event.clone() });
    }
    if let Some(audit) = &group.audit {
        batch.push_audit(audit.clone());
    }
    if let Some(kept) = &group.kept {
        batch.push_idempotency(kept.clone());
    }
    Ok(())
}
