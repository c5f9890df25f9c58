//! Scheduled backups that the server makes automatically, to the place named in the settings.
//!
//! Nothing about them is stored: when the next one is due follows from the newest one in the place, so that a restart
//! neither skips nor repeats any. Each is read back and verified before it gets its name. Operators are notified when
//! one fails, and again only if one has succeeded in the meantime.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::StreamExt as _;
use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt as _;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use uuid::Uuid;

use super::place::{BackupPlace, BackupPlaceError};
use super::reading::{BackupReadError, verify};
use super::{BackupError, Backups, FILE_MODE};
use crate::app::{App, ShopStartError};
use config::Config;
use domain::id::Id;
use domain::integration::{IntegrationCommand, SCHEDULED_BACKUP};
use domain::time::{HOUR_MS, Timestamp};
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;

/// Interval between two checks of the clock.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
/// Time after which a backup that failed is made again.
const RETRY_MS: i64 = HOUR_MS / 4;
/// Time to wait for another backup to end.
const BUSY_MS: i64 = 60_000;
/// Length of a second.
const SECOND_MS: i64 = 1_000;

/// Reason that a scheduled backup was not made.
#[derive(Debug, thiserror::Error)]
enum ScheduledBackupError {
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Read(#[from] BackupReadError),
    #[error(transparent)]
    Place(#[from] BackupPlaceError),
    #[error(transparent)]
    Disk(#[from] io::Error),
}

/// Place and times of the backups.
struct BackupPlan {
    place: BackupPlace,
    unfinished: PathBuf,
    interval_ms: i64,
    /// Number of backups to retain; `None` for all.
    keep: Option<usize>,
}

/// Progress of the scheduled backups.
#[derive(Clone, Debug, Default)]
pub struct ScheduleStatus {
    /// Time of the latest backup in the place; `None` if there is none, or the place has not been read yet.
    pub last: Option<Timestamp>,
    /// Reason that the last attempt failed; `None` if it succeeded.
    pub failure: Option<String>,
    /// Time of the next attempt.
    next: Option<Timestamp>,
}

/// Scheduled backups that the server makes automatically.
pub struct BackupSchedule {
    plan: Option<BackupPlan>,
    status: Mutex<ScheduleStatus>,
}

impl BackupSchedule {
    /// Creates the backup schedule from the settings. Contacts nothing.
    pub(in crate::app) fn new(config: &Config) -> Result<Self, ShopStartError> {
        let settings = &config.backup;
        let plan = if settings.every_hours.is_zero() {
            None
        } else {
            let place = BackupPlace::open(config, &settings.to)?;
            let keep = (settings.keep > 0).then_some(settings.keep as usize);
            let unfinished = place.unfinished(&config.server.data_dir);
            Some(BackupPlan { place, unfinished, interval_ms: settings.every_hours.millis(), keep })
        };
        Ok(Self { plan, status: Mutex::default() })
    }

    /// Returns whether the server makes scheduled backups.
    pub fn is_on(&self) -> bool {
        self.plan.is_some()
    }

    /// Returns the progress.
    pub fn status(&self) -> ScheduleStatus {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, ScheduleStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a backup if one is due.
    async fn look(&self, app: &App, plan: &BackupPlan) {
        let now = app.environment.now();
        if self.locked().next.is_some_and(|next| next > now) {
            return;
        }
        match plan.make_if_due(&app.backups, now).await {
            Ok(last) => {
                let next = Some(last.plus_ms(plan.interval_ms));
                *self.locked() = ScheduleStatus { last: Some(last), failure: None, next };
                tell(app, None).await;
            }
            Err(ScheduledBackupError::Backup(BackupError::UnderWay)) => {
                self.locked().next = Some(now.plus_ms(BUSY_MS));
            }
            Err(error) => {
                tracing::warn!(%error, "a scheduled backup failed; retrying in 15 minutes");
                let why = error.to_string();
                {
                    let mut status = self.locked();
                    (status.failure, status.next) = (Some(why.clone()), Some(now.plus_ms(RETRY_MS)));
                }
                tell(app, Some(&why)).await;
            }
        }
    }
}

impl BackupPlan {
    /// Makes a backup unless the latest one is recent enough. Returns the time of the latest one.
    async fn make_if_due(&self, backups: &Arc<Backups>, now: Timestamp) -> Result<Timestamp, ScheduledBackupError> {
        let mut times = self.place.times().await?;
        if let Some(last) = times.last()
            && last.plus_ms(self.interval_ms) > now
        {
            return Ok(*last);
        }
        // Names have no fractions of a second.
        let at = Timestamp(now.0 - now.0.rem_euclid(SECOND_MS));
        let outcome = self.make(backups, at).await;
        if outcome.is_err() {
            let _ = tokio::fs::remove_file(&self.unfinished).await;
        }
        outcome?;
        times.push(at);
        let superfluous = self.keep.map_or(0, |keep| times.len().saturating_sub(keep));
        for old in &times[..superfluous] {
            if let Err(error) = self.place.remove(*old).await {
                tracing::warn!(at = %old, %error, "cannot remove an old backup");
            }
        }
        Ok(at)
    }

    async fn make(&self, backups: &Arc<Backups>, at: Timestamp) -> Result<(), ScheduledBackupError> {
        write(backups, at, &self.unfinished).await?;
        let file = self.unfinished.clone();
        spawn_blocking(move || verify(&file, |_| {})).await.map_err(io::Error::other)??;
        Ok(self.place.store(&self.unfinished, at).await?)
    }
}

/// Writes a backup to a file.
async fn write(backups: &Arc<Backups>, now: Timestamp, file: &Path) -> Result<(), ScheduledBackupError> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(FILE_MODE).open(file).await?;
    let mut pieces = pin!(backups.begin(now).await?.pieces.into_stream());
    while let Some(piece) = pieces.next().await {
        file.write_all(&piece?).await?;
    }
    file.sync_all().await?;
    Ok(())
}

/// Records whether backups fail, which notifies the operators once.
async fn tell(app: &App, why: Option<&str>) {
    let id = Id(Uuid::new_v5(&Uuid::NAMESPACE_OID, SCHEDULED_BACKUP.as_bytes()));
    let command = match why {
        Some(why) => IntegrationCommand::NeedsPerson {
            name: SCHEDULED_BACKUP.to_owned(),
            title: SCHEDULED_BACKUP.to_owned(),
            why: why.to_owned(),
        },
        None => IntegrationCommand::Well,
    };
    let integrations = &app.directories.integrations;
    let recorded = match integrations.ask(id, CommandOrigin::system(), command.clone()).await {
        // Nothing is recorded yet.
        Err(AskError::Refused(_)) if why.is_some() => {
            integrations.create_as(id, CommandOrigin::system(), command).await.map(drop)
        }
        Ok(_) | Err(AskError::Refused(_)) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = recorded {
        tracing::debug!(%error, "cannot record whether scheduled backups fail");
    }
}

/// Makes the backups of the schedule, for as long as the app exists.
pub(in crate::app) async fn run(app: Weak<App>) {
    loop {
        sleep(LOOK_INTERVAL).await;
        let Some(app) = app.upgrade() else { return };
        let schedule = app.backup_schedule.clone();
        let Some(plan) = &schedule.plan else { return };
        schedule.look(&app, plan).await;
    }
}
