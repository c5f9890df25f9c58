//! Check that a standby server could take over the shop of the active server.
//!
//! It runs alongside the attempts to take the lead, and delays none. Failures caused by the network are retried: only a
//! setting that is certainly wrong ends the server. The secrets are checked repeatedly.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{StartError, refused, shared_folders};
use crate::app::ShopStartError;
use crate::app::own_secrets::{self, SecretsError};
use crate::config::Config;
use crate::store::connect::OpenError;
use crate::store::lease::CurrentLeader;
use platform::watch::WatchReceiver;

/// Maximum time for a server that has just begun to lead to mark its folders.
const MARKING_TIME: Duration = Duration::from_secs(3);
/// The same for the bucket, besides the time of one request that is not answered.
const BUCKET_MARKING_TIME: Duration = Duration::from_secs(10);
/// Interval between two checks of the folders.
const FOLDER_INTERVAL: Duration = Duration::from_millis(100);
/// Delay after a network failure, and between two checks of the secrets.
const NETWORK_PAUSE: Duration = Duration::from_secs(5);

/// Checks that this server could take over the shop of the active server, and ends as soon as that is certain. While a
/// command uses the database, nothing is checked.
pub(super) async fn check(config: &Config, mut leaders: WatchReceiver<CurrentLeader>) -> Result<(), StartError> {
    if leading_mark(&mut leaders).await.is_none() {
        return Ok(());
    }
    check_secrets(config).await?;
    check_folders(config, leaders).await?;
    check_bucket(config).await
}

/// Checks from time to time whether the shop still uses this server's secrets, and ends with the fault as soon as it
/// does not: the active server may have replaced the key.
pub(super) async fn later_fault(config: &Config, mut leaders: WatchReceiver<CurrentLeader>) -> StartError {
    loop {
        sleep(NETWORK_PAUSE).await;
        // A command may be restoring another shop.
        leading_mark(&mut leaders).await;
        if let Err(fault) = check_secrets(config).await {
            return fault;
        }
    }
}

/// Waits until a server leads; returns the text with which it marks its folders, or `None` if no more updates will
/// arrive.
async fn leading_mark(leaders: &mut WatchReceiver<CurrentLeader>) -> Option<String> {
    leaders.wait_for(|leader| leader.is_server).await.ok().map(|leader| leader.mark.clone())
}

async fn check_secrets(config: &Config) -> Result<(), StartError> {
    loop {
        match own_secrets::verify(config).await {
            Ok(()) => return Ok(()),
            Err(SecretsError::Open(
                OpenError::Database(_) | OpenError::Unreachable(_) | OpenError::NoWritingHost(_),
            )) => sleep(NETWORK_PAUSE).await,
            Err(SecretsError::Open(source)) => return Err(refused(config, source)),
            Err(error) => return Err(StartError::Secrets(error)),
        }
    }
}

async fn check_folders(config: &Config, mut leaders: WatchReceiver<CurrentLeader>) -> Result<(), StartError> {
    let mut failed: Option<(String, Instant)> = None;
    while let Some(mark) = leading_mark(&mut leaders).await {
        let Err(error) = shared_folders::check_marks(config, &mark).await else { break };
        if matches!(&error, StartError::App(error) if shared_folders::is_silent(error)) {
            tracing::warn!(%error, "the standby cannot reach the bucket for files; retrying");
            sleep(NETWORK_PAUSE).await;
            continue;
        }
        // Another leader has a mark of its own, and as much time.
        let same = failed.filter(|(last, _)| *last == mark);
        let (_, failed_at) = same.unwrap_or_else(|| (mark.clone(), Instant::now()));
        if failed_at.elapsed() >= marking_time(config) {
            return Err(error);
        }
        failed = Some((mark, failed_at));
        sleep(FOLDER_INTERVAL).await;
    }
    Ok(())
}

/// Returns the maximum time for a server that has just begun to lead to mark its shared folders.
fn marking_time(config: &Config) -> Duration {
    match config.files_bucket() {
        Some(_) => config.object_storage.timeout_seconds.duration() + BUCKET_MARKING_TIME,
        None => MARKING_TIME,
    }
}

async fn check_bucket(config: &Config) -> Result<(), StartError> {
    loop {
        match shared_folders::check_bucket(config).await {
            Err(StartError::App(ShopStartError::Storage(error))) if error.is_transient() => {
                tracing::warn!(%error, "the standby cannot reach the bucket for documents; retrying");
                sleep(NETWORK_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_may_try_twice_to_mark_its_bucket() {
        let mut config = Config::default();
        assert_eq!(marking_time(&config), MARKING_TIME);
        config.files.dir = "s3://shop/files".into();
        assert!(marking_time(&config) > config.object_storage.timeout_seconds.duration());
    }
}
