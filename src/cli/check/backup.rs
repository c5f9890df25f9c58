//! Checks the place of scheduled backups, and reports the latest one. Writes nothing.

use super::report::CheckReport;
use crate::actors::kernel::environment::machine_clock;
use crate::app::backups::place::BackupPlace;
use crate::config::Config;
use crate::config::values::Hours;
use crate::domain::time::Timestamp;

/// Checks scheduled backups.
pub async fn check(report: &mut CheckReport, config: &Config) {
    let settings = &config.backup;
    if settings.every_hours.is_zero() {
        return report.note("backup", "the server makes no backups by itself; backup.every_hours turns them on");
    }
    let times = match BackupPlace::open(config, &settings.to) {
        Ok(place) => place.times().await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match times {
        Ok(times) => match times.last() {
            Some(last) if is_overdue(*last, settings.every_hours) => report.wrong(
                "backup",
                format!("{} backups in {}, but the last is of {last}: one is due", times.len(), settings.to),
                "is a server running, and what does its log say? a failed backup is tried again after 15 minutes",
            ),
            Some(last) => {
                report.fine("backup", format!("{} backups in {}, the last of {last}", times.len(), settings.to));
            }
            None => report.fine("backup", format!("no backup in {} yet", settings.to)),
        },
        Err(words) => report.wrong(
            "backup",
            format!("{}: {words}", settings.to),
            "is backup.to a directory that exists, or a bucket that the keys in object_storage may list?",
        ),
    }
}

/// Returns whether the next backup should have been made long ago: twice the interval has passed since the last one.
fn is_overdue(last: Timestamp, every: Hours) -> bool {
    machine_clock().since(last) > every.millis().saturating_mul(2)
}
