//! Lease that this server holds: its renewal, and its end.

use std::pin::pin;
use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::leadership::{Leadership, since_boot};
use super::session::{has_table, make, no_answer, reopen_session, statement};
use super::{ANSWER_TIME, LeaseHolder};
use crate::connect::DatabaseSettings;

/// Interval between two beats: several may fail before the lease is lost.
const BEAT_INTERVAL: Duration = Duration::from_millis(400);

const BEAT: &str = "UPDATE printfloor_leader SET beat = beat + 1 WHERE id = 1 AND term = $1 AND holder = $2";
const RELEASE: &str = "UPDATE printfloor_leader SET holder = '', address = '', beat = beat + 1, since = now() \
                       WHERE id = 1 AND term = $1 AND holder = $2";
/// Takes a newly created lease, which has had no holder.
const ADOPT: &str = "UPDATE printfloor_leader SET holder = $1, address = $2, term = $3, mark = $4, beat = beat + 1, \
                     since = now() WHERE id = 1 AND holder = '' AND term = 0";

/// Reason why a lease is no longer renewed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseEnd {
    /// Another server is active.
    Lost,
    /// This server gave it back.
    Released,
}

/// Lease that this server holds.
pub struct Lease {
    settings: DatabaseSettings,
    holder: LeaseHolder,
    term: i64,
    mark: String,
    session: Option<DatabaseConnection>,
    leadership: Leadership,
}

impl Lease {
    /// Creates the lease of a server that took it at the given time since boot.
    pub(super) fn new(
        (settings, holder): (DatabaseSettings, LeaseHolder),
        (term, mark): (i64, String),
        taken_at: Duration,
    ) -> Self {
        Self { settings, holder, term, mark, session: None, leadership: Leadership::of_lease(taken_at) }
    }

    /// Returns the view of the lease for code that acts on the outside world.
    pub fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Returns the random text with which the server marks its folders.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Renews the lease until another server has it, or until `leave` is ready; then the next server can take it at
    /// once. While the database does not answer, nothing is renewed, and this server leads again as soon as it does,
    /// unless another one was quicker.
    pub async fn keep(mut self, leave: impl Future<Output = ()>) -> LeaseEnd {
        let mut leave = pin!(leave);
        let mut beats = interval(BEAT_INTERVAL);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut failing = false;
        loop {
            tokio::select! {
                biased; // the end comes before one more beat
                () = &mut leave => {
                    self.release().await;
                    return LeaseEnd::Released;
                }
                _ = beats.tick() => {}
            }
            match self.beat().await {
                Ok(true) if failing => {
                    tracing::info!(term = self.term, "the lease of the database is renewed again");
                    failing = false;
                }
                Ok(false) => {
                    tracing::error!(term = self.term, "another server holds the lease of the database; exiting");
                    return LeaseEnd::Lost;
                }
                Err(error) if !failing => {
                    tracing::warn!(%error, "cannot renew the lease of the database; starting nothing until then");
                    failing = true;
                }
                Ok(true) | Err(_) => {}
            }
        }
    }

    /// Raises the beat. Returns `false` if another server has the lease.
    async fn beat(&mut self) -> Result<bool, DbErr> {
        let session = reopen_session(&mut self.session, &self.settings).await?;
        let sent_at = since_boot();
        let is_held = timeout(ANSWER_TIME, self.hold(&session)).await.unwrap_or_else(|_| Err(no_answer()))?;
        self.session = Some(session);
        if is_held {
            self.leadership.renew(sent_at);
        }
        Ok(is_held)
    }

    /// Raises the beat on a session. If the lease has vanished, it is made again for the same holder, unless another
    /// server may have led since the last beat.
    async fn hold(&self, session: &DatabaseConnection) -> Result<bool, DbErr> {
        let beat = statement(BEAT, [self.term.into(), self.holder.id.clone().into()]);
        let raised = session.execute_raw(beat).await;
        if raised.as_ref().is_ok_and(|done| done.rows_affected() > 0) {
            return Ok(true);
        }
        if has_table(session).await? {
            // What the database did not do for another reason than that the row is missing.
            raised?;
        }
        if !self.leadership.is_confirmed() {
            return Ok(false);
        }
        make(session).await?;
        let (id, address) = (self.holder.id.clone(), self.holder.address_text());
        let values = [id.into(), address.into(), self.term.into(), self.mark.clone().into()];
        let is_held = session.execute_raw(statement(ADOPT, values)).await?.rows_affected() > 0;
        if is_held {
            tracing::warn!(term = self.term, "the lease of the database was missing; recreated it");
        }
        Ok(is_held)
    }

    /// Releases the lease. If the database does not answer, the lease expires by itself.
    async fn release(mut self) {
        let Ok(session) = reopen_session(&mut self.session, &self.settings).await else { return };
        let release = statement(RELEASE, [self.term.into(), self.holder.id.clone().into()]);
        if let Ok(Ok(_)) = timeout(ANSWER_TIME, session.execute_raw(release)).await {
            let _ = timeout(ANSWER_TIME, session.close()).await;
        }
    }
}
