//! The data directory: readable only by the server's user, and locked by one server at a time.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::StartError;

/// Name of the lock file in a running server's data directory.
pub(crate) const LOCK_FILE: &str = "lock";

/// Permissions of files in the data directory: accessible only to the server's user.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// Bit mask for the permission bits in a mode.
const PERMISSION_BITS: u32 = 0o777;

/// Creates the data directory, accessible only to the server's user: it contains personal data and hashes of
/// credentials. An existing directory keeps its permissions, but not those of its contents ([`close_to_others`]).
///
/// # Errors
///
/// Returns an error if the directory cannot be created, or a file is in its place.
fn make_data_folder(path: &Path) -> io::Result<()> {
    if path.is_file() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Returns the absolute path for messages, so that it does not depend on the working directory.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let absolute = path.canonicalize().or_else(|_| std::path::absolute(path));
    absolute.unwrap_or_else(|_| path.to_owned())
}

/// Locks the directory like [`lock`], but only if a server has locked it before; `None` otherwise.
pub(super) fn lock_again(data: &Path, listen: &str) -> Result<Option<File>, StartError> {
    if data.join(LOCK_FILE).exists() { lock(data, listen).map(Some) } else { Ok(None) }
}

/// Creates the directory if it does not exist, and locks it until the returned file is dropped.
pub(crate) fn lock(data: &Path, listen: &str) -> Result<File, StartError> {
    let unusable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotADirectory => StartError::NotAFolder { path: absolute(data) },
        _ => StartError::Data { path: absolute(data), source },
    };
    make_data_folder(data).map_err(unusable)?;
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
    let mut file = options.open(data.join(LOCK_FILE)).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            return Err(StartError::Held { path: absolute(data), holder: holder.trim().to_owned() });
        }
        Err(TryLockError::Error(source)) => return Err(unusable(source)),
    }
    file.set_len(0).map_err(unusable)?;
    file.rewind().map_err(unusable)?;
    writeln!(file, "process {}, {listen}", std::process::id()).map_err(unusable)?;
    Ok(file)
}

/// Removes other users' permissions from the directory's contents, for example after the contents were copied back from
/// a backup. New files never have such permissions, because of the process's umask. Subdirectories are not entered,
/// because a closed directory also protects its contents.
pub(super) fn close_to_others(data: &Path) -> io::Result<()> {
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        // Of a link itself, not of what it points to.
        let metadata = entry.metadata()?;
        let mode = if metadata.is_dir() {
            FOLDER_MODE
        } else if metadata.is_file() {
            FILE_MODE
        } else {
            continue;
        };
        if metadata.permissions().mode() & PERMISSION_BITS & !mode != 0 {
            fs::set_permissions(entry.path(), Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & PERMISSION_BITS
    }

    #[test]
    fn what_others_could_read_is_closed_and_the_folder_itself_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, inner) = (folder.path().join("printfloor.db"), folder.path().join("files"));
        fs::write(&file, "x").unwrap();
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(&inner, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o750)).unwrap();
        close_to_others(folder.path()).unwrap();
        assert_eq!((mode(&file), mode(&inner), mode(folder.path())), (0o600, 0o700, 0o750));
    }

    #[test]
    fn a_file_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data");
        fs::write(&file, "x").unwrap();
        let words = lock(&file, "").unwrap_err().to_string();
        assert!(words.ends_with("data is a file, not a directory"), "{words}");
    }
}
