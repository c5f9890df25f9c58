//! Several hosts of one PostgreSQL database: finds the one that accepts writes, and directs the read pools to it.
//!
//! After a failover, a former primary that has not been stopped still claims to accept writes. PostgreSQL gives the
//! history that begins with each promotion a number that is higher than all before it, the timeline. All hosts are
//! therefore asked at once, the highest timeline wins, and this process never goes back to a lower one. That a former
//! primary accepts no changes of other programs is not for this module: whoever promotes a host has to stop the former
//! one.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use sea_orm::{ConnectOptions, DatabaseConnection};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _, PgPool, Postgres, query_scalar};
use tokio::time::{timeout, timeout_at};

use super::error::driver_words;
use super::{CONNECT_TIMEOUT, DatabaseSettings, OpenError, dial, host_and_port, reader_session};
use domain::database_address::addresses_of_hosts;

/// Maximum time for a host to say whether it writes.
const ANSWER_TIME: Duration = Duration::from_secs(3);
/// Time for the other hosts to answer once one claims to accept writes.
const SETTLING_TIME: Duration = Duration::from_millis(200);
/// Maximum time to close a connection.
const CLOSE_TIME: Duration = Duration::from_millis(500);

/// Query for the reason that a host cannot be written; empty if it can.
const OBSTACLE: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN 'it is a standby' \
                        WHEN current_setting('transaction_read_only') = 'on' THEN 'it only reads' ELSE '' END";
/// Query for the timeline, which is the beginning of each log file's name.
const TIMELINE: &str = "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)";

/// Timeline of a host, as eight hexadecimal digits; `None` if the host does not say.
type Timeline = Option<String>;

/// Answer from a host: its timeline if it accepts writes, else the reason why it does not.
type HostAnswer = Result<Timeline, String>;

/// Host that writes, as last determined.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Primary {
    timeline: Timeline,
    /// Place of the host in the address.
    index: usize,
}

/// Read pool that is led to the host that writes.
#[derive(Debug)]
struct ReadPool {
    pool: PgPool,
    statement_timeout: Duration,
}

#[derive(Debug, Default)]
struct HostState {
    primary: Option<Primary>,
    /// Time at which another host became the primary; `None` if none did. The pools share it.
    moved_at: Arc<Mutex<Option<Instant>>>,
    pools: Vec<ReadPool>,
}

/// Writing host of a database, shared by all users of the same settings. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct WritingHost(Arc<Mutex<HostState>>);

/// Returns the address of the database on the host that writes. An address with one host is that host's.
///
/// # Errors
///
/// Fails if no host can be written, or if the address cannot be read.
pub(crate) async fn writing_address(settings: &DatabaseSettings) -> Result<String, OpenError> {
    let mut addresses = addresses_of(&settings.url)?;
    if addresses.len() == 1 {
        return Ok(addresses.remove(0));
    }
    let answers = ask_all(&addresses).await;
    if let Some(index) = settings.hosts.decide(&addresses, &answers) {
        return Ok(addresses.swap_remove(index));
    }
    let reasons = addresses.iter().zip(answers).map(|(address, answer)| {
        let reason = answer.err().unwrap_or_else(|| "it was replaced by another host".to_owned());
        format!("{} ({reason})", name_of(address))
    });
    Err(OpenError::NoWritingHost(reasons.collect::<Vec<_>>().join(", ")))
}

/// Returns the address of each host; the address itself if it is none of PostgreSQL.
fn addresses_of(url: &str) -> Result<Vec<String>, OpenError> {
    if url.starts_with("postgres") { Ok(addresses_of_hosts(url)?) } else { Ok(vec![url.to_owned()]) }
}

fn has_several_hosts(url: &str) -> bool {
    addresses_of(url).is_ok_and(|addresses| addresses.len() > 1)
}

fn name_of(address: &str) -> String {
    address.parse::<PgConnectOptions>().map_or_else(|_| "a host".to_owned(), |options| host_and_port(&options))
}

/// Asks all hosts at the same time. Once one claims to accept writes, the others get a moment longer.
async fn ask_all(addresses: &[String]) -> Vec<HostAnswer> {
    let silence = format!("no answer within {} s", ANSWER_TIME.as_secs());
    let mut answers: Vec<HostAnswer> = vec![Err(silence); addresses.len()];
    let hosts = addresses.iter().cloned().enumerate();
    let mut pending: FuturesUnordered<_> =
        hosts.map(|(index, address)| async move { (index, ask(&address).await) }).collect();
    let mut end = tokio::time::Instant::now() + ANSWER_TIME;
    while let Ok(Some((index, answer))) = timeout_at(end, pending.next()).await {
        if answer.is_ok() {
            end = end.min(tokio::time::Instant::now() + SETTLING_TIME);
        }
        answers[index] = answer;
    }
    answers
}

async fn ask(address: &str) -> HostAnswer {
    let options = address.parse::<PgConnectOptions>().map_err(|error| driver_words(&error))?;
    // The driver does not know which addresses must not be contacted.
    dial(&options).await?;
    let mut session = options.disable_statement_logging().connect().await.map_err(|error| driver_words(&error))?;
    let answer = ask_session(&mut session).await;
    let _ = timeout(CLOSE_TIME, session.close()).await;
    answer
}

/// Asks over an open session.
async fn ask_session(session: &mut PgConnection) -> HostAnswer {
    let obstacle = query_scalar::<Postgres, String>(OBSTACLE).fetch_one(&mut *session).await;
    let obstacle = obstacle.map_err(|error| driver_words(&error))?;
    if !obstacle.is_empty() {
        return Err(obstacle);
    }
    Ok(query_scalar::<Postgres, String>(TIMELINE).fetch_one(&mut *session).await.ok())
}

/// Chooses the host that writes: the one with the highest timeline and, among equals, the last chosen one. `None` if no
/// host writes, or if only hosts on an ended timeline do.
fn choose(last: Option<&Primary>, answers: &[HostAnswer]) -> Option<Primary> {
    let writing = answers.iter().enumerate().filter_map(|(index, answer)| {
        let timeline = answer.as_ref().ok()?.clone();
        Some(Primary { timeline, index })
    });
    let best = writing.max_by_key(|primary| {
        let is_last = last.is_some_and(|last| last.index == primary.index);
        (primary.timeline.clone(), is_last, Reverse(primary.index))
    })?;
    let Some(last) = last else { return Some(best) };
    let has_ended = best.timeline.is_some() && best.timeline < last.timeline;
    let timeline = best.timeline.or_else(|| last.timeline.clone());
    (!has_ended).then_some(Primary { timeline, index: best.index })
}

impl WritingHost {
    fn state(&self) -> MutexGuard<'_, HostState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides from the answers of all hosts which one writes, and directs the read pools to it. Returns its index.
    fn decide(&self, addresses: &[String], answers: &[HostAnswer]) -> Option<usize> {
        let mut state = self.state();
        let primary = choose(state.primary.as_ref(), answers)?;
        let index = primary.index;
        let last = state.primary.replace(primary.clone());
        if last.is_some_and(|last| last != primary) {
            tracing::info!(host = name_of(&addresses[index]), "another host of the database writes");
            state.pools.retain(|read| !read.pool.is_closed());
            state.pools.iter().for_each(|read| read.go_to(&addresses[index]));
            *state.moved_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        Some(index)
    }

    /// Makes a read pool that is about to be opened test each connection before it is used, and close those to a former
    /// host without a test, which may not answer.
    pub(super) fn renew_connections(&self, options: &mut ConnectOptions, url: &str) {
        if !has_several_hosts(url) {
            return;
        }
        let moved_at = self.state().moved_at.clone();
        options.test_before_acquire(false);
        options.map_sqlx_postgres_before_acquire(move |session, metadata| {
            let moved_at = *moved_at.lock().unwrap_or_else(PoisonError::into_inner);
            // A connection that was on its way when the host changed was opened a little later.
            let is_former = moved_at.is_some_and(|moved_at| metadata.age + CONNECT_TIMEOUT >= moved_at.elapsed());
            Box::pin(async move {
                if is_former {
                    return Ok(false);
                }
                session.ping().await?;
                Ok(true)
            })
        });
    }

    /// Leads an open read pool to the host that writes, from now on.
    pub(super) fn lead(&self, db: &DatabaseConnection, settings: &DatabaseSettings) {
        let Ok(addresses) = addresses_of(&settings.url) else { return };
        if addresses.len() < 2 {
            return;
        }
        let pool = db.get_postgres_connection_pool().clone();
        let read = ReadPool { pool, statement_timeout: settings.statement_timeout };
        let mut state = self.state();
        if let Some(address) = state.primary.as_ref().and_then(|primary| addresses.get(primary.index)) {
            read.go_to(address);
        }
        state.pools.retain(|read| !read.pool.is_closed());
        state.pools.push(read);
    }
}

impl ReadPool {
    fn go_to(&self, address: &str) {
        if let Ok(options) = address.parse::<PgConnectOptions>() {
            let options = options.disable_statement_logging();
            self.pool.set_connect_options(reader_session(options, self.statement_timeout));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(last: Option<&Primary>, answers: &[HostAnswer]) -> Option<usize> {
        choose(last, answers).map(|primary| primary.index)
    }

    #[test]
    fn the_host_with_the_highest_timeline_writes() {
        let no = || HostAnswer::Err("it is a standby".to_owned());
        let writes = |timeline: &str| HostAnswer::Ok(Some(timeline.to_owned()));
        assert_eq!(chosen(None, &[no(), no()]), None);
        assert_eq!(chosen(None, &[no(), writes("00000001")]), Some(1));
        assert_eq!(chosen(None, &[writes("0000000A"), writes("00000009")]), Some(0));
        assert_eq!(chosen(None, &[writes("00000001"), writes("00000001")]), Some(0), "in the order of the address");
        assert_eq!(chosen(None, &[Ok(None), writes("00000001")]), Some(1));
    }

    #[test]
    fn a_former_primary_is_never_written_again() {
        let no = || HostAnswer::Err("connection refused".to_owned());
        let writes = |timeline: &str| HostAnswer::Ok(Some(timeline.to_owned()));
        let last = Primary { timeline: Some("00000002".to_owned()), index: 1 };
        assert_eq!(chosen(Some(&last), &[writes("00000001"), no()]), None);
        assert_eq!(chosen(Some(&last), &[writes("00000001"), writes("00000002")]), Some(1));
        assert_eq!(chosen(Some(&last), &[writes("00000002"), writes("00000002")]), Some(1), "the last one first");
        assert_eq!(chosen(Some(&last), &[writes("00000003"), writes("00000002")]), Some(0));
        let silent = choose(Some(&last), &[no(), Ok(None)]);
        assert_eq!(silent, Some(last), "the timeline is remembered");
    }
}
