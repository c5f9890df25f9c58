//! Checks the machine that the server runs on: free disk space and the permissions of files with secrets.
//! Writes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::report::CheckReport;
use crate::app::backups::needed_bytes;
use crate::app::own_secrets;
use crate::cli::progress::size;
use crate::config::{Config, DOTENV};
use crate::files::disk::DiskCapacity;
use crate::store::copy::DatabaseCopier;

/// Permissions of the group and of others.
const OTHERS_PERMISSIONS: u32 = 0o077;

/// Checks the machine. `has_database` is `true` if the database could be opened.
pub async fn check(report: &mut CheckReport, config: &Config, has_database: bool) {
    let backup_bytes = if has_database {
        DatabaseCopier::new(own_secrets::database_settings(config)).size().await.map_or(0, needed_bytes)
    } else {
        0
    };
    check_disks(report, config, backup_bytes).await;
    check_permissions(report, config);
}

/// Returns the folder, or its nearest ancestor that exists.
fn nearest_existing(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    folder.ancestors().find(|ancestor| ancestor.is_dir()).map(Path::to_owned)
}

/// Checks the disks of the data and of the files. `backup_bytes` is the free space that a backup needs in the data
/// directory.
async fn check_disks(report: &mut CheckReport, config: &Config, backup_bytes: u64) {
    let data = nearest_existing(&config.server.data_dir);
    let folders: BTreeSet<PathBuf> = data.iter().cloned().chain(nearest_existing(&config.files_dir())).collect();
    for folder in folders {
        let path = folder.clone();
        let Ok(Ok(disk)) = spawn_blocking(move || DiskCapacity::of(&path)).await else { continue };
        let needed_bytes = if data.as_ref() == Some(&folder) { backup_bytes } else { 0 };
        let words = format!("{} free in {}", size(disk.free_bytes), folder.display());
        match judge_disk(disk.free_bytes, needed_bytes, config.files.reserved_bytes) {
            DiskVerdict::Enough => report.fine("disk", words),
            DiskVerdict::Reserved => {
                let reserved = size(config.files.reserved_bytes);
                let words = format!("{words}: less than files.reserved_bytes ({reserved}), so customers cannot upload");
                report.note("disk", words);
            }
            DiskVerdict::NoBackup => {
                let words = format!("{words}: a backup needs {} for a copy of the database", size(needed_bytes));
                if backs_up(config.database_url().expose(), &config.backup.to) {
                    report.wrong("disk", words, "delete what is not needed there, or move the data to a larger disk");
                } else {
                    report.note("disk", words);
                }
            }
        }
    }
}

/// Verdict on the free space of a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DiskVerdict {
    Enough,
    /// Less than is reserved for the shop's own work.
    Reserved,
    /// Less than a backup needs.
    NoBackup,
}

/// Compares the free space on a disk with the space that a backup needs there, and with the reserved space.
fn judge_disk(free_bytes: u64, needed_bytes: u64, reserved_bytes: u64) -> DiskVerdict {
    if free_bytes < needed_bytes {
        DiskVerdict::NoBackup
    } else if free_bytes < reserved_bytes {
        DiskVerdict::Reserved
    } else {
        DiskVerdict::Enough
    }
}

/// Returns whether the server is expected to back up the database at this address. PostgreSQL may have backups of its
/// own: then it does if a place for them is configured, `to`.
fn backs_up(database_url: &str, to: &str) -> bool {
    !to.is_empty() || !database_url.starts_with("postgres")
}

/// Checks that no one else on the machine can read the data and the files with secrets.
fn check_permissions(report: &mut CheckReport, config: &Config) {
    let paths = [config.server.data_dir.clone(), config.secrets_file(), PathBuf::from(DOTENV)];
    for path in paths {
        let Ok(metadata) = fs::metadata(&path) else { continue };
        let mode = metadata.permissions().mode() & 0o777;
        if mode & OTHERS_PERMISSIONS != 0 {
            let closed = if metadata.is_dir() { "700" } else { "600" };
            let path = path.display();
            report.note(
                "access",
                format!("others on this machine may use {path} (mode {mode:o}): chmod {closed} {path}"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_needs_room_for_a_backup_and_for_the_shop() {
        assert_eq!(judge_disk(99, 100, 0), DiskVerdict::NoBackup);
        assert_eq!(judge_disk(100, 100, 101), DiskVerdict::Reserved);
        assert_eq!(judge_disk(101, 100, 101), DiskVerdict::Enough);
        assert_eq!(judge_disk(0, 0, 0), DiskVerdict::Enough);
        // A copy that just fits leaves the shop nothing to write on.
        assert_eq!(judge_disk(100, needed_bytes(100), 0), DiskVerdict::NoBackup);
    }

    #[test]
    fn a_server_may_leave_backups_to_postgres() {
        assert!(!backs_up("postgres://sam@db/shop", ""));
        assert!(backs_up("postgres://sam@db/shop", "s3://bucket/backups"));
        assert!(backs_up("sqlite://data/printfloor.db", ""));
    }

    #[test]
    fn a_folder_that_does_not_exist_yet_is_on_the_disk_of_its_parent() {
        assert_eq!(nearest_existing(Path::new("/no/such/folder")), Some(PathBuf::from("/")));
        assert_eq!(nearest_existing(Path::new("/")), Some(PathBuf::from("/")));
    }
}
