//! Lease of a PostgreSQL database, which decides which of the servers that use it leads while the others stand by.
//!
//! The lease is the only row of a table that belongs to no migration and is in no backup. The leader raises the row's
//! `beat` at short intervals, on a separate connection. A standby server reads the row: once the beat has not changed
//! for `LEASE_TIME` by its own clock, it takes the lease, ends the session in which the former leader writes, and
//! raises the epoch, in one transaction. No two clocks are ever compared, neither of machines nor of the database.
//!
//! The lease only decides which server tries to lead. The epoch ensures that a former leader writes nothing, and
//! [`Leadership`] ensures that it starts nothing.

mod leadership;
mod renewal;
mod session;

use std::mem;
use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, TransactionTrait};
use tokio::time::timeout;

use crate::connect::{self, ADVISORY_LOCK, DatabaseSettings, OpenError, refuse_newer};
use domain::time::Timestamp;
use leadership::since_boot;
use session::{flag, has_table, no_answer, open_session, read, read_or_make, reopen_session, statement};

pub use leadership::Leadership;
pub use renewal::{Lease, LeaseEnd};

/// Table with the lease.
pub(crate) const LEASE_TABLE: &str = "printfloor_leader";

/// Text in the table in place of the address of a server that announces none. A command has no text there.
const UNTOLD_ADDRESS: &str = "untold";

/// Key of the advisory lock that servers share which stand by and could take over.
const STANDBY_LOCK: i64 = ADVISORY_LOCK + 1;

/// Time without a beat after which another server takes the lease.
const LEASE_TIME: Duration = Duration::from_millis(2500);
/// Maximum time for the database to answer a beat or a look.
const ANSWER_TIME: Duration = Duration::from_secs(1);
/// Maximum time to take the lease, in which sessions of the former leader end.
const TAKING_TIME: Duration = Duration::from_secs(3);
/// Interval at which a standby server checks whether a newer version has changed the schema.
const VERSION_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum time to connect for the first time.
const CONNECT_TIME: Duration = Duration::from_secs(5);

const TAKE: &str = "UPDATE printfloor_leader SET holder = $1, address = $2, term = term + 1, beat = beat + 1, \
                    since = now(), mark = md5(random()::text || clock_timestamp()::text) \
                    WHERE id = 1 AND term = $3 AND beat = $4 RETURNING mark";

/// Server that wants the lease.
#[derive(Clone, Debug)]
pub struct LeaseHolder {
    /// Identification of the data directory and of the run of its machine: whoever has the same one has ended, because
    /// the directory is locked.
    pub id: String,
    /// `false` for a command that runs while no server does.
    pub is_server: bool,
    /// Address at which anyone may reach the server; empty if it has none. Other servers pass it on to strangers.
    pub address: String,
}

impl LeaseHolder {
    /// Returns the text in the place of the address in the table.
    fn address_text(&self) -> String {
        let is_untold = self.is_server && self.address.is_empty();
        if is_untold { UNTOLD_ADDRESS.to_owned() } else { self.address.clone() }
    }
}

/// Active server, as others see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CurrentLeader {
    /// `false` if a command uses the database, for example a restore.
    pub is_server: bool,
    /// Its address; empty if it announces none.
    pub address: String,
    /// Time since which it has been the leader, by the database's clock.
    pub since: Timestamp,
    /// Random text with which it marks its folders, so that others can determine whether they share them.
    pub mark: String,
}

/// Row of the lease's table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LeaseRow {
    mark: String,
    holder: String,
    address: String,
    since_ms: i64,
    term: i64,
    beat: i64,
}

impl LeaseRow {
    fn leader(self) -> CurrentLeader {
        let is_server = !self.address.is_empty();
        let address = if self.address == UNTOLD_ADDRESS { String::new() } else { self.address };
        CurrentLeader { is_server, address, since: Timestamp(self.since_ms), mark: self.mark }
    }
}

/// Reason that the lease can be taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeaseGround {
    /// It has no holder. It is taken only if no one else uses the database either.
    Vacant,
    /// Its holder does not renew it. The holder's session is ended.
    Lapsed,
}

/// Outcome of an attempt to take the lease.
pub enum LeaseAttempt {
    /// This server leads.
    Won(Box<Lease>),
    /// Another server is active, or uses the database without a lease.
    Held(CurrentLeader),
}

/// Returns the active server; `None` if there is none. Changes nothing.
///
/// # Errors
///
/// Fails if the database cannot be queried.
pub async fn current_leader(settings: &DatabaseSettings) -> Result<Option<CurrentLeader>, OpenError> {
    let session = open_session(settings, CONNECT_TIME).await?;
    let row = if has_table(&session).await? { Some(read(&session).await?) } else { None };
    session.close().await?;
    Ok(row.map(LeaseRow::leader).filter(|leader| leader.is_server))
}

/// Returns whether a standby server exists that could take over and has recently read the lease.
///
/// # Errors
///
/// Fails if the database cannot be queried.
pub async fn is_followed(settings: &DatabaseSettings) -> Result<bool, OpenError> {
    let session = open_session(settings, CONNECT_TIME).await?;
    let is_followed = format!(
        "SELECT EXISTS (SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) \
         WHERE locktype = 'advisory' AND granted AND datname = current_database() AND datid = pg_locks.database \
         AND ((classid::bigint << 32) | objid::bigint) = {STANDBY_LOCK} \
         AND query_start > clock_timestamp() - INTERVAL '2 seconds') AS is_so"
    );
    let is_followed = flag(&session, &is_followed).await?;
    session.close().await?;
    Ok(is_followed)
}

/// Reader of the lease that takes it when it may.
pub struct LeaseWatch {
    settings: DatabaseSettings,
    holder: LeaseHolder,
    session: Option<DatabaseConnection>,
    /// Row as last read, and the time since boot at which it was first read like that. Forgotten when the database does
    /// not answer, because the leader may not have reached it either.
    last: Option<(LeaseRow, Duration)>,
    /// This server could take over.
    is_ready: bool,
    /// The session has the lock from which the leader knows this.
    is_announced: bool,
    /// Time since boot at which this server last checked whether a newer version has changed the schema.
    version_checked: Option<Duration>,
}

impl LeaseWatch {
    /// Connects to a PostgreSQL database, and creates the lease if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be reached or written.
    pub async fn open(settings: DatabaseSettings, holder: LeaseHolder) -> Result<Self, OpenError> {
        connect::reach(&settings.url).await?;
        let session = open_session(&settings, CONNECT_TIME).await?;
        read_or_make(&session).await?;
        let (session, is_ready, is_announced) = (Some(session), false, false);
        Ok(Self { settings, holder, session, last: None, is_ready, is_announced, version_checked: None })
    }

    /// Lets the leader know, from the next attempt on, that this server could take over.
    pub fn announce(&mut self) {
        self.is_ready = true;
    }

    /// Takes the lease if no one uses the database, or if its holder has not renewed it for `LEASE_TIME`.
    ///
    /// # Errors
    ///
    /// Fails if the database does not answer; the next attempt reconnects. Fails if a newer version has changed the
    /// schema so that this one cannot use it: then it takes nothing.
    pub async fn attempt(&mut self) -> Result<LeaseAttempt, OpenError> {
        let took = timeout(ANSWER_TIME + TAKING_TIME, self.look(false)).await;
        self.end(took.unwrap_or_else(|_| Err(no_answer().into())))
    }

    /// Takes the lease at once, regardless of its holder, if no one uses the database. Fails like [`Self::attempt`].
    pub async fn attempt_at_once(&mut self) -> Result<LeaseAttempt, OpenError> {
        let took = timeout(CONNECT_TIME, self.look(true)).await;
        self.end(took.unwrap_or_else(|_| Err(no_answer().into())))
    }

    fn end(&mut self, attempt: Result<LeaseAttempt, OpenError>) -> Result<LeaseAttempt, OpenError> {
        if attempt.is_err() {
            (self.session, self.last, self.is_announced) = (None, None, false);
        }
        attempt
    }

    async fn look(&mut self, at_once: bool) -> Result<LeaseAttempt, OpenError> {
        let session = reopen_session(&mut self.session, &self.settings).await?;
        let row = timeout(ANSWER_TIME, read_or_make(&session)).await.unwrap_or_else(|_| Err(no_answer()))?;
        if self.is_ready && !mem::replace(&mut self.is_announced, true) {
            session.execute_unprepared(&format!("SELECT pg_try_advisory_lock_shared({STANDBY_LOCK})")).await?;
        }
        let now = since_boot();
        let first_read = match &self.last {
            Some((last, first_read)) if *last == row => *first_read,
            _ => now,
        };
        self.last = Some((row.clone(), first_read));
        let ground = if row.holder == self.holder.id {
            Some(LeaseGround::Lapsed)
        } else if at_once || row.holder.is_empty() {
            Some(LeaseGround::Vacant)
        } else {
            (now.saturating_sub(first_read) >= LEASE_TIME).then_some(LeaseGround::Lapsed)
        };
        if let Some(ground) = ground
            && let Some(mark) = take(&session, &self.holder, &row, ground).await?
        {
            // The lease is renewed on a thread of its own, with its own connection.
            let _ = timeout(ANSWER_TIME, session.close()).await;
            let place = (self.settings.clone(), self.holder.clone());
            return Ok(LeaseAttempt::Won(Box::new(Lease::new(place, (row.term + 1, mark), now))));
        }
        if self.check_version(&session, now).await? {
            self.session = Some(session);
        } else {
            // It is still waiting for the answer. What was read of the lease is true all the same.
            self.is_announced = false;
        }
        Ok(LeaseAttempt::Held(row.leader()))
    }

    /// Fails if a newer version leads, or has led, and has changed the schema. Looks from time to time; returns `false`
    /// if the database does not answer in time.
    async fn check_version(&mut self, session: &DatabaseConnection, now: Duration) -> Result<bool, OpenError> {
        if self.version_checked.is_some_and(|last| now.saturating_sub(last) < VERSION_INTERVAL) {
            return Ok(true);
        }
        let Ok(looked) = timeout(ANSWER_TIME, refuse_newer(session)).await else { return Ok(false) };
        looked?;
        self.version_checked = Some(now);
        Ok(true)
    }
}

/// Takes the lease if it is still as in `row`, and returns its mark; `None` if another server was quicker or uses the
/// database.
async fn take(
    session: &DatabaseConnection,
    holder: &LeaseHolder,
    row: &LeaseRow,
    ground: LeaseGround,
) -> Result<Option<String>, OpenError> {
    // Whoever had the lease may have migrated the tables.
    refuse_newer(session).await?;
    let tx = session.begin().await?;
    tx.execute_unprepared("SET LOCAL synchronous_commit = on").await?;
    tx.execute_unprepared("SET LOCAL lock_timeout = 2000").await?;
    let values = [holder.id.clone().into(), holder.address_text().into(), row.term.into(), row.beat.into()];
    let Some(row) = tx.query_one_raw(statement(TAKE, values)).await? else {
        tx.rollback().await?;
        return Ok(None);
    };
    if ground == LeaseGround::Lapsed {
        expel(&tx).await?;
    } else if !flag(&tx, &format!("SELECT pg_try_advisory_xact_lock({ADVISORY_LOCK}) AS is_so")).await? {
        tx.rollback().await?;
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(row.try_get("", "mark")?))
}

/// Ends the session in which the former leader writes, possibly in the middle of a transaction, and raises the epoch,
/// so that it writes nothing on any other session either. Until the transaction ends, no one else can hold the lock.
async fn expel(tx: &impl ConnectionTrait) -> Result<(), DbErr> {
    let end = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
         AND ((classid::bigint << 32) | objid::bigint) = {ADVISORY_LOCK} AND pid <> pg_backend_pid()"
    );
    tx.execute_unprepared(&end).await?;
    tx.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")).await?;
    if flag(tx, "SELECT to_regclass('writer') IS NOT NULL AS is_so").await? {
        tx.execute_unprepared("UPDATE writer SET epoch = epoch + 1 WHERE id = 1").await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_see_the_address_of_a_server_only_if_it_tells_one() {
        let leader_of = |is_server, address: &str| {
            let holder = LeaseHolder { id: "a".to_owned(), is_server, address: address.to_owned() };
            let (mark, address) = (String::new(), holder.address_text());
            let leader = LeaseRow { mark, holder: holder.id, address, since_ms: 0, term: 1, beat: 1 }.leader();
            (leader.is_server, leader.address)
        };
        assert_eq!(leader_of(true, "https://shop.example.com"), (true, "https://shop.example.com".to_owned()));
        assert_eq!(leader_of(true, ""), (true, String::new()));
        assert_eq!(leader_of(false, ""), (false, String::new()));
    }
}
