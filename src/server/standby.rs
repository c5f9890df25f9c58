//! Taking the lead: a server that finds another one on its PostgreSQL database stands by, and serves a page about it,
//! until it may lead.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;
use std::{io, mem, net};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::lead::Lead;
use super::{StartError, leader_check, refused};
use crate::app::own_secrets;
use crate::config::Config;
use crate::config::sections::StandbyMode;
use crate::http;
use crate::store::connect::OpenError;
use crate::store::lease::{CurrentLeader, Lease, LeaseAttempt, LeaseHolder, LeaseWatch};
use platform::secrets::random::secret_bytes;
use platform::watch::WatchSender;

/// Interval between two checks of the lease.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Identification of the machine's run on Linux.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Server that serves the page of a standby on the address of the server that it becomes.
pub(super) struct StandbyFront {
    leader: WatchSender<CurrentLeader>,
    leaving: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl StandbyFront {
    /// Starts to serve the page on a copy of the listener.
    pub(super) fn start(listener: &net::TcpListener, config: &Config, leader: CurrentLeader) -> io::Result<Self> {
        let listener = TcpListener::from_std(listener.try_clone()?)?;
        let leader = WatchSender::new(leader);
        let leaving = CancellationToken::new();
        let routes = http::pages::standby::router(config, leader.subscribe());
        let serving = tokio::spawn(http::serve_standby(listener, routes, &config.server, leaving.clone()));
        Ok(Self { leader, leaving, serving: Some(serving) })
    }

    /// Ends the page. Connections that wait to be accepted are those of the server that begins.
    pub(super) async fn end(mut self) {
        self.leaving.cancel();
        if let Some(serving) = self.serving.take() {
            let _ = serving.await;
        }
    }
}

impl Drop for StandbyFront {
    fn drop(&mut self) {
        self.leaving.cancel();
    }
}

/// Takes the lead for a command that runs while no server does.
pub(crate) async fn lead_alone(config: &Config, lock: &File) -> Result<Lead, StartError> {
    let Some(mut lease) = open_lease(config, lock, false).await? else { return Ok(Lead::undisputed()) };
    at_once(config, &mut lease).await
}

/// Waits until this server may lead. Meanwhile, it serves a page about the one that does, which is returned as well.
/// `stands_by` is set as soon as it waits for another server.
pub(super) async fn lead_or_wait(
    config: &Config,
    lock: &File,
    listener: &net::TcpListener,
    stands_by: &mut bool,
) -> Result<(Lead, Option<StandbyFront>), StartError> {
    let unusable = |source| StartError::Listen { address: config.server.listen.to_string(), source };
    let failed = |source| refused(config, source);
    let Some(mut lease) = open_lease(config, lock, true).await? else { return Ok((Lead::undisputed(), None)) };
    if config.database.standby == StandbyMode::Refuse {
        return Ok((at_once(config, &mut lease).await?, None));
    }
    let leader = match lease.attempt().await.map_err(failed)? {
        LeaseAttempt::Won(won) => return Ok((renew(*won)?, None)),
        LeaseAttempt::Held(leader) => leader,
    };
    *stands_by = true;
    tracing::info!(leader = leader.address, "another server is active; standing by");
    let front = StandbyFront::start(listener, config, leader).map_err(unusable)?;
    let won = win(config, &mut lease, &front.leader).await?;
    tracing::info!("this server takes over");
    Ok((renew(won)?, Some(front)))
}

/// Waits until this server has the lease, and checks in the meantime that it could take over the shop of the active
/// one. If a newer version has led and changed the schema, this one cannot.
async fn win(
    config: &Config,
    lease: &mut LeaseWatch,
    leaders: &WatchSender<CurrentLeader>,
) -> Result<Lease, StartError> {
    let mut check = Box::pin(leader_check::check(config, leaders.subscribe()));
    let mut later_fault = Box::pin(leader_check::later_fault(config, leaders.subscribe()));
    let (mut is_checked, mut is_failing) = (false, false);
    loop {
        tokio::select! {
            biased; // a server that could not go on does not try to
            checked = &mut check, if !is_checked => {
                checked?;
                is_checked = true;
                lease.announce();
            }
            fault = &mut later_fault, if is_checked => return Err(fault),
            () = sleep(LOOK_INTERVAL) => {}
        }
        match lease.attempt().await {
            Ok(LeaseAttempt::Won(won)) => return Ok(*won),
            Ok(LeaseAttempt::Held(leader)) => {
                leaders.send_if_modified(|last| {
                    let is_other = *last != leader;
                    *last = leader;
                    is_other
                });
                is_failing = false;
            }
            Err(error @ OpenError::NewerTables(_)) => return Err(refused(config, error)),
            Err(error) => {
                if !mem::replace(&mut is_failing, true) {
                    tracing::warn!(%error, "the standby cannot read the lease of the database");
                }
            }
        }
    }
}

/// Returns the lease of the database, for a server or for a command; `None` if the database needs none.
async fn open_lease(config: &Config, lock: &File, is_server: bool) -> Result<Option<LeaseWatch>, StartError> {
    let settings = own_secrets::database_settings(config);
    if !settings.url.starts_with("postgres") {
        return Ok(None);
    }
    // Strangers can see the address of the active server, so it must not be one inside the shop's network.
    let address = if is_server { config.server.public_url.clone() } else { String::new() };
    let holder = LeaseHolder { id: holder_id(lock), is_server, address };
    LeaseWatch::open(settings, holder).await.map(Some).map_err(|source| refused(config, source))
}

/// Identifies the data directory by its lock file, for as long as the machine runs. A former holder with the same ID
/// has ended, or it would have the lock.
fn holder_id(lock: &File) -> String {
    let boot = fs::read_to_string(BOOT_ID).unwrap_or_default();
    match lock.metadata() {
        Ok(place) if !boot.is_empty() => format!("{} {:x} {:x}", boot.trim(), place.dev(), place.ino()),
        _ => hex::encode(secret_bytes::<16>()),
    }
}

async fn at_once(config: &Config, lease: &mut LeaseWatch) -> Result<Lead, StartError> {
    match lease.attempt_at_once().await {
        Ok(LeaseAttempt::Won(won)) => renew(*won),
        Ok(LeaseAttempt::Held(_)) => Err(refused(config, OpenError::InUse)),
        Err(source) => Err(refused(config, source)),
    }
}

fn renew(won: Lease) -> Result<Lead, StartError> {
    Lead::renew(won).map_err(StartError::Thread)
}
