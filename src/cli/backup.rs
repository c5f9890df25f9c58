//! `printfloor backup FILE`: writes a full backup of the shop to one file, which is read back and verified before it
//! gets its final name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use api_requests::{RequestError, json_of};
use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use reqwest::Method;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tokio::task::spawn_blocking;

use super::api::ControlApi;
use super::api_client::{no_shop, shop_exists};
use super::bucket::BucketPlace;
use super::progress::{ProgressLine, size};
use super::temporary::TemporaryFolder;
use super::{CliError, GlobalOptions, output, settings};
use crate::actors::kernel::environment::machine_clock;
use crate::app::backups::Backups;
use crate::app::backups::place::backup_name;
use crate::app::backups::reading::{VerifiedBackup, verify};
use crate::app::storage::open_blobs;
use crate::app::{ShopStartError, own_secrets};
use crate::config::Config;
use crate::observe::log;
use crate::server::lock;
use crate::store::copy::DatabaseCopier;

/// Maximum duration of a backup.
const MAX_BACKUP_TIME: Duration = Duration::from_secs(24 * 3600);
/// File permissions: readable and writable by the owner only.
const FILE_MODE: u32 = 0o600;
/// Errors returned by file systems that do not support an operation: vfat and exFAT reject hard links with EPERM, CIFS
/// rejects them with EOPNOTSUPP, and NFS rejects the flags of `renameat2` with EINVAL.
const LACKING: [Errno; 5] = [Errno::PERM, Errno::ACCESS, Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL];

/// Creates a backup through the running server or, if there is none, directly from the data directory and the database.
pub async fn run(global: &GlobalOptions, file: &Path) -> Result<(), CliError> {
    log::start_for_command();
    let backup = Box::pin(write(global, file)).await?;
    report(&file.display().to_string(), &backup)
}

/// Creates a backup in a directory or a bucket, with a name that contains the time.
pub async fn run_to(global: &GlobalOptions, to: &str) -> Result<(), CliError> {
    log::start_for_command();
    let name = backup_name(machine_clock());
    let Some(place) = BucketPlace::parse(to)? else {
        let file = Path::new(to).join(name);
        let backup = Box::pin(write(global, &file)).await?;
        return report(&file.display().to_string(), &backup);
    };
    let (place, config) = (place.join(&name), settings::load(global, None)?.config);
    let folder = TemporaryFolder::create()?;
    let file = folder.file(&name);
    let backup = Box::pin(write(global, &file)).await?;
    place.send(&config, &file).await?;
    report(&place.address(), &backup)
}

/// Writes a backup to a file, and verifies it before it gets its name.
async fn write(global: &GlobalOptions, file: &Path) -> Result<VerifiedBackup, CliError> {
    if file.exists() {
        return Err(CliError::Failed(format!("{} already exists; choose another file", file.display())));
    }
    let part = UnfinishedFile::create(file)?;
    // The running server has loaded its settings; if --data names its directory, none need be loaded here.
    if let Some(data) = &global.data
        && let Some(api) = ControlApi::open(data).await?
    {
        download(&api, &part).await?;
    } else {
        let config = settings::load(global, None)?.config;
        match ControlApi::open(&config.server.data_dir).await? {
            Some(api) => download(&api, &part).await?,
            None => copy(&config, &part).await?,
        }
    }
    let backup = checked(part.path.clone(), "checking").await?;
    part.keep()?;
    Ok(backup)
}

/// Prints the location and contents of a backup.
fn report(place: &str, backup: &VerifiedBackup) -> Result<(), CliError> {
    output::line(&format!("{place}: {}", summary(backup)))?;
    output::note(
        "the backup does not contain the server's secrets (secrets.env, .env); store a copy of them separately",
    );
    Ok(())
}

/// Formats a summary of a backup: its size and time, and the number of tables, rows and files.
pub fn summary(backup: &VerifiedBackup) -> String {
    let rows = &backup.manifest.database.rows;
    format!(
        "{}, created at {}; {} tables with {} rows and {} files, all verified",
        size(backup.bytes),
        backup.manifest.made_at,
        rows.len(),
        rows.values().sum::<u64>(),
        backup.files
    )
}

/// Reads a whole backup and verifies it against its manifest; `what` labels the progress line.
pub async fn checked(path: PathBuf, what: &'static str) -> Result<VerifiedBackup, CliError> {
    let display_path = path.display().to_string();
    let total = fs::metadata(&path).map_err(CliError::io(format!("{display_path} cannot be read")))?.len();
    let read = spawn_blocking(move || {
        let mut progress = ProgressLine::new(what, Some(total));
        let backup = verify(&path, |bytes| progress.add(bytes))?;
        progress.end();
        Ok(backup)
    });
    let read = read.await.map_err(|error| CliError::Failed(error.to_string()))?;
    read.map_err(|error: crate::app::backups::reading::BackupReadError| {
        CliError::Failed(format!("{display_path}: {error}"))
    })
}

async fn download(api: &ControlApi, part: &UnfinishedFile) -> Result<(), CliError> {
    let request = api.request(Method::POST, "/api/backup").timeout(MAX_BACKUP_TIME);
    let answer = request.send().await.map_err(RequestError::from)?;
    if !answer.status().is_success() {
        return json_of(answer).await.map(drop).map_err(CliError::from);
    }
    let pieces =
        answer.bytes_stream().map_err(|error| CliError::Failed(format!("the download was interrupted: {error}")));
    part.write(pieces).await
}

/// Backs up the shop from the data directory and the database. No server may be running on them.
async fn copy(config: &Config, part: &UnfinishedFile) -> Result<(), CliError> {
    if !shop_exists(config).await? {
        return Err(CliError::NoShop { words: no_shop(config), new: false });
    }
    let _lock = lock(&config.server.data_dir, "backup")?;
    let unusable = |error: ShopStartError| CliError::Failed(error.to_string());
    let blobs = Arc::new(open_blobs(config).map_err(unusable)?);
    let copier = DatabaseCopier::new(own_secrets::database_settings(config));
    let backups = Backups::open(config, copier, blobs).map_err(unusable)?;
    let failed = |error| CliError::Failed(format!("{error}"));
    let begun = Arc::new(backups).begin(machine_clock()).await.map_err(|error| CliError::Failed(error.to_string()))?;
    part.write(begun.pieces.into_stream().map_err(failed)).await
}

/// Backup file being written; removed on drop unless [`keep`](Self::keep) is called.
struct UnfinishedFile {
    path: PathBuf,
    name: PathBuf,
}

impl UnfinishedFile {
    fn create(name: &Path) -> Result<Self, CliError> {
        let mut path = name.as_os_str().to_owned();
        path.push(".unfinished");
        let path = PathBuf::from(path);
        let cannot = || CliError::io(format!("{} cannot be written", name.display()));
        // A killed run may have left it, as a second name of a complete backup too, which must not be written over.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot()(error)),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(FILE_MODE).open(&path).map_err(cannot())?;
        Ok(Self { path, name: name.to_owned() })
    }

    async fn write(&self, pieces: impl Stream<Item = Result<Bytes, CliError>>) -> Result<(), CliError> {
        let cannot = || CliError::io(format!("{} cannot be written", self.path.display()));
        let mut file = OpenOptions::new().write(true).open(&self.path).map_err(cannot())?;
        let mut progress = ProgressLine::new("backup", None);
        let mut pieces = std::pin::pin!(pieces);
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            file.write_all(&piece).map_err(cannot())?;
            progress.add(piece.len() as u64);
        }
        progress.end();
        spawn_blocking(move || file.sync_all())
            .await
            .map_err(|error| CliError::Failed(error.to_string()))?
            .map_err(cannot())
    }

    /// Gives the finished file its final name without replacing an existing file.
    fn keep(self) -> Result<(), CliError> {
        let cannot = || CliError::io(format!("{} cannot be written", self.name.display()));
        give_name(&self.path, &self.name, link_new, rename_new).map_err(cannot())?;
        let folder = self.name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(cannot())
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Gives a complete file its final name without replacing an existing file, in the first way that the file system
/// supports: a hard link, a rename that fails if the name is already taken, or a check followed by an ordinary rename.
/// In the last case, another program may create a file with that name between the two steps.
fn give_name(
    path: &Path,
    name: &Path,
    link: impl FnOnce(&Path, &Path) -> io::Result<()>,
    rename: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    match link(path, name) {
        Err(error) if is_lacking(&error) => {}
        done => return done,
    }
    match rename(path, name) {
        Err(error) if is_lacking(&error) => {}
        done => return done,
    }
    // Also a dangling symbolic link is there.
    if name.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(path, name)
}

/// Creates a hard link to a file; fails if the new name is already taken.
fn link_new(path: &Path, name: &Path) -> io::Result<()> {
    fs::hard_link(path, name)
}

/// Renames a file; fails if the new name is already taken.
fn rename_new(path: &Path, name: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, path, CWD, name, RenameFlags::NOREPLACE)?)
}

/// Returns whether the error means that the file system does not support the operation.
fn is_lacking(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
        || Errno::from_io_error(error).is_some_and(|errno| LACKING.contains(&errno))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn fails(errno: Errno) -> impl FnOnce(&Path, &Path) -> io::Result<()> {
        move |_, _| Err(errno.into())
    }

    /// Creates a complete file in a new directory, and returns the directory, the file's path and its intended final
    /// name.
    fn complete() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (path, name) = (folder.path().join("shop.tar.unfinished"), folder.path().join("shop.tar"));
        fs::write(&path, "all of it").unwrap();
        (folder, path, name)
    }

    #[test]
    fn a_backup_has_its_name_also_where_files_cannot_be_linked() {
        for no_link in [Errno::PERM, Errno::ACCESS, Errno::OPNOTSUPP, Errno::NOSYS] {
            let (_folder, path, name) = complete();
            give_name(&path, &name, fails(no_link), rename_new).unwrap();
            assert_eq!(fs::read(&name).unwrap(), b"all of it", "{no_link}");
            let (_folder, path, name) = complete();
            give_name(&path, &name, fails(no_link), fails(Errno::INVAL)).unwrap();
            assert_eq!(fs::read(&name).unwrap(), b"all of it", "{no_link}, and no flags of a renaming");
        }
    }

    #[test]
    fn no_way_of_naming_a_backup_replaces_another_file() {
        let (_folder, path, name) = complete();
        fs::write(&name, "another").unwrap();
        let linked = give_name(&path, &name, link_new, rename_new);
        let renamed = give_name(&path, &name, fails(Errno::PERM), rename_new);
        let looked = give_name(&path, &name, fails(Errno::PERM), fails(Errno::INVAL));
        for refused in [linked, renamed, looked] {
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read(&name).unwrap(), b"another");
        let full = give_name(&path, &name, fails(Errno::NOSPC), |_, _| panic!("renamed after another fault"));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn what_a_killed_run_left_as_a_second_name_of_a_backup_is_not_written_over() {
        let (folder, path, name) = complete();
        link_new(&path, &name).unwrap();
        let moved = folder.path().join("moved.tar");
        fs::rename(&name, &moved).unwrap();
        let next = UnfinishedFile::create(&name).unwrap();
        fs::write(&next.path, "another").unwrap();
        next.keep().unwrap();
        assert_eq!((fs::read(moved).unwrap(), fs::read(name).unwrap()), (b"all of it".to_vec(), b"another".to_vec()));
    }

    #[test]
    fn a_backup_that_is_kept_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("shop.tar");
        UnfinishedFile::create(&name).unwrap().keep().unwrap();
        drop(UnfinishedFile::create(&folder.path().join("given-up.tar")).unwrap());
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["shop.tar"]);
    }
}
